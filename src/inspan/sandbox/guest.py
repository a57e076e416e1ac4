"""Level ``gvisor``: a sandbox of level ``sandbox`` in which a guest kernel runs the program."""

from __future__ import annotations

import os
import select
import subprocess
import threading
import time
from typing import Any

import msgspec

from inspan.errors import SandboxError
from inspan.sandbox import namespaced, runsc
from inspan.sandbox.cgroups import Group
from inspan.sandbox.contract import Confinement, Proof
from inspan.sandbox.limits import ended

OWN_THREADS = 160
"""What ``runsc`` takes of a limit of processes for itself: its threads, and those of its helpers."""

BOOT_SECONDS = 30.0
"""The longest a guest may take to boot and to be looked at."""


class GuestDriver:
    """The strongest level: the host's kernel is not called by the job."""

    level = "gvisor"

    def probe(self, state_dir: str) -> Proof:
        """See ``Driver.probe``."""
        from inspan.sandbox.probe import probe_by_doing

        return probe_by_doing(self, state_dir)

    def start(self, confinement: Confinement, *, stdin: int, stdout: int, stderr: int) -> GuestTree:
        """See ``Driver.start``. What comes back is held inside a guest that has booted and was looked at.

        The platform is the first with which a guest really boots.
        """
        path = runsc.find()
        version, platforms = runsc.about(path)
        failed = SandboxError(f"{path} names no platform", where="runsc flags")
        for platform in platforms:
            try:
                tree = _start(_roomy(confinement), (stdin, stdout, stderr), path, platform)
            except SandboxError as error:
                failed = error
            else:
                tree.proof |= {"runsc": version, "platform": platform}
                return tree
        raise failed


def _roomy(confinement: Confinement) -> Confinement:
    """With room for the guest kernel's own threads below the limit of processes."""
    limits = confinement.limits
    if limits.processes is None:
        return confinement
    roomy = msgspec.structs.replace(limits, processes=limits.processes + OWN_THREADS)
    return msgspec.structs.replace(confinement, limits=roomy)


def _start(confinement: Confinement, streams: tuple[int, int, int], path: str, platform: str) -> GuestTree:
    report, theirs = os.pipe()
    word, ours = os.pipe()
    unclaimed = [report, ours]

    def make(process: subprocess.Popen[bytes], confined: Confinement, group: Group) -> GuestTree:
        unclaimed.clear()
        return GuestTree(process, confined, group, report, ours)

    try:
        for fd in (theirs, word):  # the leader opens them anew, by the job's identity
            os.fchown(fd, confinement.plan.uid, confinement.plan.gid)
        between = runsc.between(confinement, path, platform, theirs, word)
        return namespaced.begin(confinement, streams, make, between, (theirs, word))
    finally:
        for fd in (theirs, word, *unclaimed):
            os.close(fd)


class GuestTree(namespaced.NamespacedTree):
    """A tree whose program runs in a guest. What bubblewrap starts is the leader, see ``runsc.LEADER``."""

    below = runsc.ROOT

    def __init__(
        self, process: subprocess.Popen[bytes], confinement: Confinement, group: Group, report: int, word: int
    ) -> None:
        super().__init__(process, confinement, group)
        self._report, self._word = report, word
        self._said = b""
        self._reading = threading.Lock()
        self._open = True
        self._refused = False

    def joined(self, received: list[int]) -> None:
        """See ``NamespacedTree.joined``; what a program asks of files is bounded by the guest."""
        super().joined(received)
        self.held |= dict.fromkeys(self.held.keys() & {"file_size", "open_files"}, "guest kernel")

    def require_program(self) -> None:
        """Refuse a program that is not there, then boot the guest and look at it: both before the release."""
        super().require_program()
        super().release()
        self._listen(runsc.UP, time.monotonic() + BOOT_SECONDS)
        self.proof |= _seen(self._said.partition(runsc.UP)[0].decode(errors="replace"))

    def release(self) -> None:
        """See ``Confined.release``."""
        if self._open:
            self._open = False
            try:
                os.write(self._word, b"go\n")
            except BrokenPipeError:  # the guest is gone already: a limit, or a kill
                pass

    def on_main_end(self) -> None:
        """See ``NamespacedTree.on_main_end``: those who outlived the program are named by the guest's own table."""
        super().on_main_end()
        self._collect()
        self.orphans = () if self._killed else _left(self._said.partition(runsc.LEFT)[2])
        # A guest kernel that is refused a thread ends at once: there may have been no look between the two.
        self._refused = self._group.out_of_processes()

    def close(self) -> None:
        """See ``Confined.close``."""
        if not self._closed:
            super().close()
            os.close(self._report)
            os.close(self._word)

    def _finish(self) -> None:
        super()._finish()
        self._collect()
        if self.exceeded is None and self._refused:
            self.exceeded = "processes"
        self.executed = runsc.RAN in self._said

    def _listen(self, mark: bytes, until: float) -> None:
        """Read the report up to ``mark``.

        Raises:
            SandboxError: the leader ended, or was silent for too long.
        """
        poll = select.poll()
        poll.register(self._report, select.POLLIN)
        while mark not in self._said:
            self._collect()
            if mark in self._said:
                break
            over = self._init is None or ended(self._init, 0)
            if over or time.monotonic() > until:
                self._collect()
                raise _no_guest(self._said, over)
            poll.poll(20)

    def _collect(self) -> None:
        """What is there of the report; never waits."""
        with self._reading:
            self._said += namespaced.rest(self._report)


def _no_guest(said: bytes, over: bool) -> SandboxError:
    lines = said.decode(errors="replace").strip().splitlines()
    why = lines[-1] if lines else "it ended without a word" if over else f"nothing came in {BOOT_SECONDS:.0f} s"
    return SandboxError(f"the guest kernel did not start: {why}", where="runsc run")


def _seen(said: str) -> dict[str, Any]:
    """What a guest says of its kernel before any program runs in it, beside the host's.

    Returns:
        ``guest_kernel`` and ``host_kernel``; ``fails`` where a common program does not work in this guest.

    Raises:
        SandboxError: it is the host's kernel that answers.
    """
    version, *fails = said.splitlines() or [""]
    with open("/proc/version", encoding="utf-8") as reading:
        own = reading.read().strip()
    if not version.startswith("Linux version") or version == own:
        raise SandboxError(f"the kernel inside is not a guest: {version or 'it says nothing'}", where="/proc/version")
    found: dict[str, Any] = {"guest_kernel": version, "host_kernel": own}
    return found | ({"fails": fails} if fails else {})


def _left(listed: bytes) -> tuple[str, ...]:
    """Names of the processes in the guest's table, its first one left out. Columns: see ``runsc ps``."""
    rows = [line.split(None, 7) for line in listed.decode(errors="replace").splitlines()[1:]]
    return tuple(sorted({row[7].strip() for row in rows if len(row) == 8 and row[1] != "1"}))
