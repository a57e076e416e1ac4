"""Level ``landlock``: what a host without user namespaces leaves us. The host's file system, network and process table,
and of them only what was granted: files by Landlock, one address by a watched ``connect``, system calls by two filters.

There are no mounts: everything is used where it lies on the host, so the workspace is a clone, HOME is where the plan
has it, and temporary files are below it. What a plain user's identity can do without any of these is listed in
``docs/security.md``.
"""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
import tempfile
from collections.abc import Iterator
from typing import Any

from inspan.errors import HarnessError, SandboxError
from inspan.sandbox import enabling, landlock, proof, seccomp, shared_filter, spawning
from inspan.sandbox.contract import Confinement, Proof
from inspan.sandbox.environment import proxy_variables
from inspan.sandbox.toolchains import below
from inspan.sandbox.tools import SYSTEM
from inspan.sandbox.unconfined import KeptTree, launch, specification

SECONDS = 60.0
"""The longest the confined process may take to be made."""

TMP = ".tmp"
"""Where temporary files go, below HOME: the host's /tmp is everybody's."""

_READ = (
    *SYSTEM,
    *(
        f"/etc/{name}"
        for name in (
            "ssl", "pki", "ca-certificates", "ca-certificates.conf", "crypto-policies", "alternatives", "ld.so.cache",
            "ld.so.conf", "ld.so.conf.d", "localtime", "timezone", "mime.types", "protocols", "services", "fonts",
            "passwd", "group", "hosts", "host.conf", "gai.conf", "nsswitch.conf",
        )
    ),
    *glob.glob("/etc/python3*"),  # where a distribution's Python has its sitecustomize
    "/proc",
)  # fmt: skip
_WRITE = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

_DEFAULTS = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "USER": "agent",
    "LOGNAME": "agent",
    "GIT_CONFIG_NOSYSTEM": "1",  # git stops at a file of settings that is there and closed
}
_CANARY_PLACES = ("/tmp", "/var/tmp", "/dev/shm")


class LandlockDriver:
    """See the module."""

    level = "landlock"

    def probe(self, state_dir: str) -> Proof:
        """See ``Driver.probe``."""
        from inspan.sandbox.probe import probe_by_doing

        return probe_by_doing(self, state_dir)

    def start(self, confinement: Confinement, *, stdin: int, stdout: int, stderr: int) -> KeptTree:
        """See ``Driver.start``. What comes back is held by a process that has given up everything already."""
        plan = confinement.plan
        if plan.kind != "clone":
            raise SandboxError("level landlock cannot stack layers; it needs a clone", where="the mount plan")
        version = landlock.interface()
        if version < landlock.LEAST:
            what, do = enabling.for_landlock(version)
            raise SandboxError(what, where="landlock_create_ruleset", do=do)
        tmp = os.path.join(plan.home, TMP)
        spec = specification(confinement, _DEFAULTS | {"TMPDIR": tmp})
        read, write = _grants(confinement)
        filters = {"filter": seccomp.program().hex(), "shared_filter": shared_filter.program().hex()}
        spec["confine"] = {
            "uid": plan.uid,
            "gid": plan.gid,
            "directories": [tmp],
            "read": read,
            "write": write,
            "roots": [os.path.realpath(path) for path in write if path not in _WRITE],
            "calls": shared_filter.watched(),
        } | filters
        with _canaries((*read, *write)) as (path, port):
            spec["confine"] |= {"canary": path, "canary_port": port, "ports": list(confinement.reachable)}
            return _started(confinement, spec, (stdin, stdout, stderr))


def _started(confinement: Confinement, spec: dict[str, Any], streams: tuple[int, int, int]) -> KeptTree:
    listener = spawning.host_listener() if confinement.ports else None
    if listener is not None:
        spec["confine"]["ports"].append(listener.getsockname()[1])
    door = spawning.host_listener() if confinement.egress else None
    token = secrets.token_urlsafe(24)  # of the proxy: others on this machine can connect to it as well
    if door is not None:
        port = door.getsockname()[1]
        spec["confine"]["ports"].append(port)
        spec["env"] |= proxy_variables(port, token)
    try:
        tree = launch(confinement, spec, streams, listener)
    except BaseException:
        for made in (listener, door):
            if made is not None:
                made.close()
        raise
    if door is not None:
        tree.egress_listener, tree.egress_token = door, token
    try:
        found = tree.hold(SECONDS)
        if "error" in found:
            raise SandboxError(
                f"the confinement cannot be made: {found['error']}",
                where=confinement.plan.directory,
                do=enabling.for_confining(found["error"]),
            )
        if program := found.pop("program"):
            raise HarnessError(
                f"the program cannot be executed at level landlock: {program}",
                where=f"uid {confinement.plan.uid}",
                do="install it where every user may read it, like /usr or /opt",
                reason="spawn_failed",
            )
        tree.proof = found | _seen(found.pop("pid"), confinement)
    except BaseException:
        tree.close()
        raise
    return tree


def _grants(confinement: Confinement) -> tuple[list[str], list[str]]:
    """Paths that may be read, and those that may be written as well."""
    plan = confinement.plan
    read, write = list(_READ), [*_WRITE, plan.home]
    (read if plan.read_only else write).append(plan.directory)
    for bind in (*confinement.tools, *plan.binds):
        if not os.path.exists(bind.source):
            if not bind.optional:
                raise SandboxError(f"{bind.source} is to be reached and does not exist", reason="environment_lost")
            continue
        if os.path.realpath(bind.target) != os.path.realpath(bind.source):
            raise SandboxError(
                f"level landlock cannot show {bind.source} at {bind.target}",
                do="use --sandbox sandbox, or its own path",
            )
        (write if bind.writable else read).append(bind.source)
    return read, write


@contextlib.contextmanager
def _canaries(granted: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """A file and a listener that anybody may use, and the confined process must not be able to."""
    real = [os.path.realpath(path) for path in granted]
    place = next((p for p in _CANARY_PLACES if os.path.isdir(p) and not below(os.path.realpath(p), *real)), None)
    if place is None:
        raise SandboxError(
            "no place is left to show that files are held", where=", ".join(_CANARY_PLACES), do="grant less"
        )
    with tempfile.NamedTemporaryFile(prefix="inspan-canary-", dir=place) as file, spawning.host_listener() as listener:
        os.fchmod(file.fileno(), 0o666)
        yield file.name, listener.getsockname()[1]


def _seen(pid: int, confinement: Confinement) -> dict[str, Any]:
    """Identity, privileges and filter of the held process, from outside.

    Raises:
        SandboxError: something of it is not as it must be.
    """
    found = proof.identity(pid)
    wanted = {"uid": confinement.plan.uid, "CapEff": 0, "CapPrm": 0, "NoNewPrivs": 1, "Seccomp": proof.FILTERED}
    wrong = [f"{name} is {found[name]}" for name, value in wanted.items() if found[name] != value]
    if wrong:
        raise SandboxError(f"the confinement does not hold: {'; '.join(wrong)}")
    return found
