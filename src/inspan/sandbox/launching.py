"""The caller's side of the launcher: its specification, and the conversation until it has become bubblewrap."""

from __future__ import annotations

import array
import json
import os
import socket
from typing import Any, NamedTuple

from inspan.errors import SandboxError
from inspan.sandbox import bubblewrap, seccomp
from inspan.sandbox.contract import EGRESS_PORT, GATEWAY_PORT, Confinement
from inspan.sandbox.environment import proxy_variables
from inspan.sandbox.mounts import HOME_INSIDE, Staging, staging

SECONDS = 60.0
"""The longest a step of a start may take."""

DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
_SLACK = 16
"""Processes above the limit that the resource limit lets through: the launcher's own, and room for the watch."""
_SLACK_APART = 1024
"""The same where a refused fork would be the end before anybody has looked."""


def environment(confinement: Confinement) -> dict[str, str]:
    """The environment inside: the caller's, defaults only where it has none, and the way to granted destinations."""
    defaults = {"PATH": DEFAULT_PATH, "TMPDIR": "/tmp", "HOME": HOME_INSIDE, "USER": "agent", "LOGNAME": "agent"}
    return defaults | confinement.env | (proxy_variables(EGRESS_PORT) if confinement.egress else {})


def working_directory(confinement: Confinement) -> str:
    """Where the program starts, inside."""
    return confinement.cwd_inside or confinement.plan.root_inside


class Between(NamedTuple):
    """What bubblewrap starts where that is not the job's program itself.

    Attributes:
        argv: the command.
        root: where the program's file system is put together.
        uid: what the program's identity is called inside.
        holds: further sources, see ``mounts.Staging.hold``.
        files: further files on the stage.
        shown: names of directories on the stage and where bubblewrap shows them, outside of ``root``.
        arguments: further bubblewrap arguments.
    """

    argv: list[str]
    root: str
    uid: int
    holds: list[tuple[str, str, bool]]
    files: dict[str, str]
    shown: dict[str, str]
    arguments: list[str]


def specification(
    confinement: Confinement,
    json_fd: int,
    block_fd: int,
    release_fd: int,
    guard_fd: int,
    between: Between | None = None,
) -> dict[str, Any]:
    """What the launcher is to do. Descriptors: see ``bubblewrap.namespace_arguments`` and ``launcher.guard``.

    Raises:
        SandboxError: no bubblewrap, an architecture without a filter, or a plan that cannot be mounted.
    """
    program = bubblewrap.find()
    stage = _stage_directory()
    if between is None:
        laid = staging(confinement, stage)
        closing = bubblewrap.closing_arguments(working_directory(confinement), environment(confinement))
    else:
        laid = _behind(between, staging(confinement, stage, between.root, between.uid), stage)
        closing = bubblewrap.closing_arguments("/", {"PATH": DEFAULT_PATH})
    plan = confinement.plan
    return {
        "parent": os.getpid(),
        "uid": plan.uid,
        "gid": plan.gid,
        "drop": os.geteuid() == 0,
        "stage": stage,
        "guard": guard_fd,
        "hold": [*laid.hold, *((source, name, False) for source, name in program.holds)],
        "directories": laid.directories,
        "files": laid.files,
        "overlays": laid.overlays,
        "ports": [GATEWAY_PORT] * bool(confinement.ports) + [EGRESS_PORT] * bool(confinement.egress),
        "rlimits": _resource_limits(confinement, apart=between is not None),
        "program": program.program,
        "arguments": bubblewrap.joined(
            bubblewrap.namespace_arguments(json_fd, block_fd, release_fd), laid.arguments, closing
        ),
        "seccomp": seccomp.program().hex(),
        "argv": list(confinement.argv) if between is None else between.argv,
    }


def _behind(between: Between, laid: Staging, stage: str) -> Staging:
    """The mounts of a program that is not bubblewrap's own, and of what stands between the two."""
    shown = [part for name, target in between.shown.items() for part in ("--ro-bind", f"{stage}/{name}", target)]
    return laid._replace(
        hold=[*laid.hold, *between.holds],
        files=laid.files | between.files,
        arguments=[*laid.arguments, *bubblewrap.system_arguments(), *shown, *between.arguments],
    )


def _stage_directory() -> str:
    """A directory every host has, for the private tmpfs; its name shows in the layer paths of /proc/mounts inside."""
    return next(path for path in ("/mnt", "/srv", "/tmp") if os.path.isdir(path) and not os.path.islink(path))


def _resource_limits(confinement: Confinement, *, apart: bool) -> dict[str, int]:
    """``apart``: what stands between holds more and larger files than its program, and dies of a refused fork."""
    limits = confinement.limits
    # A little above the limit itself: the kernel refuses forks without a word, so that who counts must see it first.
    processes = None if limits.processes is None else limits.processes + (_SLACK_APART if apart else _SLACK)
    wanted = {"CORE": 0, "NPROC": processes}
    if not apart:
        wanted |= {"FSIZE": limits.file_size, "NOFILE": limits.open_files}
    return {name: value for name, value in wanted.items() if value is not None}


def receive(control: socket.socket) -> list[int]:
    """Wait for ``ok``; the descriptors that came with it.

    Raises:
        SandboxError: the launcher could not build the sandbox; says which step failed.
    """
    control.settimeout(SECONDS)
    message, ancillary, _, _ = control.recvmsg(8192, socket.CMSG_SPACE(4 * 8))
    fds = array.array("i")
    for _level, _kind, data in ancillary:
        fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    if message != b"ok":
        raise _trouble(message)
    return list(fds)


def go(control: socket.socket) -> None:
    """Let the launcher become bubblewrap; SandboxError when it could not."""
    control.send(b"g")
    message = control.recv(8192)
    if message:
        raise _trouble(message)


_DO = {
    "namespaces": "allow unprivileged user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0)",
    "stage": "make the path readable for the sandbox's user, or leave it out of the tools",
    "workspace": "keep the state directory (INSPAN_HOME) on a file system that can hold an overlay's upper layer",
}


def _trouble(message: bytes) -> SandboxError:
    if not message.startswith(b"no"):
        return SandboxError("the launcher ended before the sandbox was built", where="its standard error")
    found = json.loads(message[2:])
    return SandboxError(
        f"the sandbox cannot be built: {found['error']}", where=f"step {found['step']}", do=_DO.get(found["step"])
    )
