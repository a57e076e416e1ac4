"""What each level of confinement promises: one row a level, weakest first. Everything else asks this table.

A promise is what the rest of Inspan may build on. How a level keeps it is its driver's business (``inspan.sandbox``);
that it does is shown by the conformance suite and by the proof of every start.
"""

from __future__ import annotations

from typing import Final

import msgspec

from inspan.errors import UnknownName


class Promises(msgspec.Struct, frozen=True, kw_only=True):
    """One level.

    Attributes:
        boundary: what stands between the job and the host, for people.
        own_network: a network of its own: the gateway's listener is made inside at a fixed port, nobody else reaches
            it, and it needs no token. Without it the listener is the runner's, behind a token.
        only_gateway: nothing but the gateway (and granted egress) can be reached.
        own_processes: a pid namespace: other processes are not seen, and nothing outlives its first process.
        own_mounts: a file system view of its own: overlays can be stacked, the workspace stands at the checkout's path,
            HOME at ``/home/agent``, and a bind at any target. Without it everything is used where it lies on the host.
        hides_host: a file of the host that was not granted cannot be read.
        own_identity: a caller who is root gives root up for the sandbox's user.
        own_kernel: system calls of the job are answered by a kernel of its own and do not reach the host's. The
            host's process table then shows that kernel and not the job's processes.
        read_only: a read-only job is kept from writing.
        keeps_checkout: the user's checkout cannot be changed in any way, its metadata included; else it is compared.
        limits: how limits hold, for people.
        proof: what a start shows before the program runs, for people; empty where nothing is shown.
    """

    boundary: str
    own_network: bool
    only_gateway: bool
    own_processes: bool
    own_mounts: bool
    hides_host: bool
    own_identity: bool
    own_kernel: bool
    read_only: bool
    keeps_checkout: bool
    limits: str
    proof: str

    @property
    def confined(self) -> bool:
        """Whether the level is a boundary at all; one that is not is never chosen without somebody's own word."""
        return self.hides_host


PROMISES: Final[dict[str, Promises]] = {
    "none": Promises(
        boundary="none",
        own_network=False,
        only_gateway=False,
        own_processes=False,
        own_mounts=False,
        hides_host=False,
        own_identity=False,
        own_kernel=False,
        read_only=False,
        keeps_checkout=False,
        limits="control group where one can be made, else a watch; resource limits for files",
        proof="",
    ),
    "landlock": Promises(
        boundary="Landlock for files and TCP, a watched connect, a system call filter; the host's processes and IPC",
        own_network=False,
        only_gateway=True,
        own_processes=False,
        own_mounts=False,
        hides_host=True,
        own_identity=True,
        own_kernel=False,
        read_only=True,
        keeps_checkout=False,
        limits="control group where one can be made, else a watch; resource limits for files",
        proof="version of Landlock, what was refused when tried, uid, capabilities, new privileges, mode of the system "
        "call filter",
    ),
    "sandbox": Promises(
        boundary="namespaces, no capabilities, a system call filter",
        own_network=True,
        only_gateway=True,
        own_processes=True,
        own_mounts=True,
        hides_host=True,
        own_identity=True,
        own_kernel=False,
        read_only=True,
        keeps_checkout=True,
        limits="control group where one can be made, else resource limits and a watch",
        proof="namespace inodes inside and outside, uid, capabilities, new privileges, mode of the system call filter",
    ),
    "gvisor": Promises(
        boundary="a guest kernel (gVisor) that answers the job's system calls, itself inside all of level sandbox",
        own_network=True,
        only_gateway=True,
        own_processes=True,
        own_mounts=True,
        hides_host=True,
        own_identity=True,
        own_kernel=True,
        read_only=True,
        keeps_checkout=True,
        limits="as at sandbox, around guest and job together; the guest holds the size and number of open files",
        proof="as at sandbox, then what the guest says of its kernel beside the host's, platform and version of runsc",
    ),
}
"""Every level this release has, weakest first."""

DEFAULT: Final = "sandbox"
"""What ``auto`` asks for."""


def promises(level: str) -> Promises:
    """What ``level`` promises.

    Raises:
        UnknownName: for a level this release does not have.
    """
    found = PROMISES.get(level)
    if found is None:
        raise UnknownName(
            f"no sandbox level {level!r}", where="the levels of this release", do=f"one of: {', '.join(PROMISES)}"
        )
    return found
