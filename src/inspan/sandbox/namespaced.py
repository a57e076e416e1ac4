"""Level ``sandbox``: namespaces, overlay and listeners made by the launcher, then bubblewrap, then seccomp."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from typing import Any, TypeVar

from inspan.errors import HarnessError, SandboxError
from inspan.sandbox import census, cgroups, launching, proof, spawning
from inspan.sandbox.cgroups import Group
from inspan.sandbox.contract import Confinement, Proof
from inspan.sandbox.limits import Watch, ended, mechanisms, written_places

Tree = TypeVar("Tree", bound="NamespacedTree")


class SandboxDriver:
    """The default level on Linux."""

    level = "sandbox"

    def probe(self, state_dir: str) -> Proof:
        """See ``Driver.probe``."""
        from inspan.sandbox.probe import probe_by_doing

        return probe_by_doing(self, state_dir)

    def start(self, confinement: Confinement, *, stdin: int, stdout: int, stderr: int) -> NamespacedTree:
        """See ``Driver.start``. What comes back is held inside its finished sandbox, with every capability dropped."""
        return begin(confinement, (stdin, stdout, stderr), NamespacedTree)


def begin(
    confinement: Confinement,
    streams: tuple[int, int, int],
    make: Callable[[subprocess.Popen[bytes], Confinement, Group], Tree],
    between: launching.Between | None = None,
    passed: tuple[int, ...] = (),
) -> Tree:
    """Start a tree in namespaces of its own, held.

    Args:
        streams: standard input, output and error.
        make: makes the tree of the launcher's process.
        between: see ``launching.Between``.
        passed: further descriptors what bubblewrap starts gets, under the same numbers.

    Raises:
        As ``Driver.start``.
    """
    json_r, json_w = os.pipe()
    block_r, block_w = os.pipe()
    guard_r, guard_w = os.pipe()
    theirs = (json_w, block_r, block_w, guard_r)
    try:
        spec = launching.specification(confinement, *theirs, between)
        tree = _launch(confinement, spec, streams, (*theirs, *passed), make)
    except BaseException:
        for fd in (json_r, block_w, guard_w):
            os.close(fd)
        raise
    finally:
        for fd in (json_w, block_r, guard_r):
            os.close(fd)
    try:
        tree.enter(json_r, block_w, guard_w)
        tree.require_program()
    except BaseException:
        tree.close()
        raise
    return tree


class NamespacedTree:
    """A tree in its own pid namespace. See ``Confined``; further:

    Attributes:
        exceeded: the limit that ended the tree, None while none did.
        orphans: command names of processes that had outlived the program and were ended with the tree.
        executed: whether the program was executed at all; None while unknown.
        proof: what was seen of the tree from outside while it was held (``proof.Seen`` as a dictionary).
    """

    below = ""
    """Where the program's file system begins in the one bubblewrap made."""

    def __init__(self, process: subprocess.Popen[bytes], confinement: Confinement, group: Group) -> None:
        self.pid = process.pid
        self.listeners: list[socket.socket] = []
        self.egress_listener: socket.socket | None = None
        self.egress_token: str | None = None
        self.base_url = ""
        self.held: dict[str, str] = {}
        self.exceeded: str | None = None
        self.orphans: tuple[str, ...] = ()
        self.executed: bool | None = None
        self.proof: dict[str, Any] = {}
        self._process, self._confinement, self._group = process, confinement, group
        self._outer = os.pidfd_open(process.pid)
        self._init: int | None = None
        self._init_pid = 0
        self._block: int | None = None
        self._guard: int | None = None
        self._json: int | None = None
        self._watch: Watch | None = None
        self._main: int | None = None
        self._done = self._closed = self._killed = False

    def enter(self, json_fd: int, block_fd: int, guard_fd: int) -> None:
        """Wait until bwrap has built the sandbox and holds; look at it from outside."""
        self._json, self._block, self._guard = json_fd, block_fd, guard_fd
        until = time.monotonic() + launching.SECONDS
        first = b""
        while not first.endswith(b"\n"):  # bubblewrap writes the document in pieces
            block = os.read(json_fd, 1) if ended(json_fd, max(0.0, until - time.monotonic())) else b""
            if not block:
                raise SandboxError("bubblewrap did not start", where="its message is on the job's standard error")
            first += block
        self._init_pid = int(json.loads(first)["child-pid"])
        self._init = os.pidfd_open(self._init_pid)
        while (seen := proof.seen(self._init_pid)) is None or seen["CapEff"] != "0" * 16:
            # All mounts are made with capabilities; the moment they are gone is the moment the sandbox is complete.
            if ended(self._init, 0.001) or time.monotonic() > until:
                self.kill()
                self._process.wait()
                raise SandboxError(
                    "bubblewrap could not build the sandbox", where="its message is on the job's standard error"
                )
        self.proof = seen
        proof.require(seen, self._confinement)
        # A stopped monitor cannot exit with the program, so that there is time for a census of what the program leaves
        # behind; the namespace's init runs on, and the kernel's parent-death signal reaches a stopped process too.
        signal.pidfd_send_signal(self._outer, signal.SIGSTOP)
        self._watch = Watch(self, self._confinement.limits, self._group, written_places(self._confinement.plan))

    def joined(self, received: list[int]) -> None:
        """Take over what the launcher made, and put it into its control groups while it waits."""
        made = [socket.socket(fileno=fd) for fd in received]
        self.egress_listener = made.pop() if self._confinement.egress else None  # the launcher makes it last
        self.listeners = made
        self.base_url = spawning.address(self.listeners)
        self._group.join(self.pid)
        self.held = mechanisms(self._confinement.limits, self._group.held, processes="rlimit")

    def require_program(self) -> None:
        """Refuse a program that is not there inside."""
        confinement = self._confinement
        name, path = confinement.argv[0], launching.environment(confinement)["PATH"]
        cwd = launching.working_directory(confinement)
        if not proof.executable_inside(self._init_pid, name, path, cwd, self.below):
            raise HarnessError(
                f"{name} cannot be executed inside the sandbox",
                where=f"PATH inside: {path}",
                do="name a program that the tools table shows inside",
                reason="spawn_failed",
            )

    def release(self) -> None:
        """See ``Confined.release``."""
        if self._block is not None and self._watch is not None:
            self._watch.start()
            os.write(self._block, b"g")
            os.close(self._block)
            self._block = None
            self._require_filter()

    def _require_filter(self) -> None:
        """See the system call filter in force: bubblewrap installs it last, between the release and the program."""
        assert self._init is not None
        until = time.monotonic() + launching.SECONDS
        while True:
            over = ended(self._init, 0) or time.monotonic() > until
            program = self._program()
            executed = program is not None and proof.other_program(program, self._init_pid)
            seen = None if program is None else self._note(program)
            # A program that vanished between two looks left nothing to see: its init is under the same filter, and
            # stays to be looked at as long as the stopped monitor does not reap it.
            if seen is None:
                self._note(self._init_pid)
            if self.proof.get("Seccomp") == proof.FILTERED:
                return
            if self._killed:  # by the watch, for a limit: an end of its own, and nothing was proved
                self.proof.clear()
                return
            if over or (executed and seen is not None):
                self.kill()
                raise SandboxError("no system call filter is in force for the program; it was ended")
            ended(self._init, 0.001)

    def _note(self, pid: int) -> int | None:
        """The mode of a process of the tree, kept with the evidence; None when it is gone."""
        mode = proof.seccomp_mode(pid)
        if mode is not None and self.proof.get("Seccomp") != proof.FILTERED:
            self.proof["Seccomp"] = mode
        return mode

    def _program(self) -> int | None:
        """The program's number outside; None before it is forked and after it is gone."""
        numbers = census.children(self._init_pid)
        if numbers is None:
            numbers = [process.pid for process in self.members() if not process.zombie]
        return next((pid for pid in numbers if proof.number_inside(pid) == 2), None)

    def kill(self) -> None:
        """See ``Confined.kill``."""
        self._killed = True
        self._group.kill()
        for fd in (self._init, self._outer):
            if fd is not None:
                _signal(fd, signal.SIGKILL)

    def interrupt(self) -> None:
        """See ``Confined.interrupt``."""
        for process in self.members():
            if proof.number_inside(process.pid) == 2:
                try:
                    os.kill(process.pid, signal.SIGTERM)
                except ProcessLookupError:
                    pass

    def wait(self, timeout: float | None = None) -> int | None:
        """See ``Confined.wait``."""
        until = None if timeout is None else time.monotonic() + timeout
        for fd in (self._outer, self._init):
            left = None if until is None else max(0.0, until - time.monotonic())
            if not self._done and fd is not None and not ended(fd, left):
                return None
        if not self._done:
            self._finish()
        return self._process.returncode

    def survivors(self) -> list[int]:
        """See ``Confined.survivors``. The kernel ends a pid namespace with its init, so that this stays empty."""
        return [process.pid for process in self.members() if not process.zombie]

    def close(self) -> None:
        """See ``Confined.close``."""
        if self._closed:
            return
        self.kill()
        self.wait()
        self._closed = True
        for listener in (*self.listeners, self.egress_listener):
            if listener is not None:
                listener.close()
        for fd in (self._block, self._json, self._init, self._main, self._outer):
            if fd is not None:
                os.close(fd)
        self._block = self._json = None

    # What the watch asks.

    def members(self) -> list[census.Process]:
        """The namespace's init and everything below it."""
        table = census.processes()
        own = [table[self._init_pid]] if self._init_pid in table and not self._done else []
        return own + (census.descendants(self._init_pid, table) if own else [])

    def main_ended(self, seconds: float) -> bool:
        """Whether the program (number 2 in its namespace) has ended; the init itself may be gone as well."""
        if self._init is None or ended(self._init, 0):
            return True
        if self._main is None:
            program = self._program()
            if program is None:
                # One look answers both: forked meanwhile, it must not be taken for somebody that a program left behind.
                others = [process.pid for process in self.members() if process.pid != self._init_pid]
                program = next((pid for pid in others if proof.number_inside(pid) == 2), None)
                if program is None:  # not yet forked by the init, or already gone and leaving others behind
                    return bool(others) or ended(self._init, min(seconds, 0.002))
            self._main = _pidfd(program)
            self._dismiss_guard()
        return self._main is None or ended(self._main, seconds)

    def _dismiss_guard(self) -> None:
        """The program runs, and its init dies with us: the guardian of the held tree may go."""
        guard, self._guard = self._guard, None
        if guard is not None:
            try:
                os.write(guard, b"r")
            except BrokenPipeError:
                pass
            os.close(guard)

    def on_main_end(self) -> None:
        """Note who outlived the program, then let the monitor go on, which ends them."""
        if not self._killed:
            left = [process for process in self.members() if proof.number_inside(process.pid) not in (1, 2)]
            self.orphans = census.names(left)
        self._note(self._init_pid)  # the monitor takes the init's last state with it
        _signal(self._outer, signal.SIGCONT)

    def _finish(self) -> None:
        self._process.wait()
        self._reap_init()
        self._done = True
        if self._watch is not None:
            self._watch.finish()
            self.exceeded = self._watch.exceeded
        if self._json is not None:
            self.executed = b"exit-code" in rest(self._json)
        self._dismiss_guard()
        self._group.remove()

    def _reap_init(self) -> None:
        """Where we are a subreaper the namespace's init became our child when its monitor died."""
        if self._init is not None:
            try:
                os.waitid(os.P_PIDFD, self._init, os.WEXITED | os.WNOHANG)
            except ChildProcessError:
                pass


def _launch(
    confinement: Confinement,
    spec: dict[str, Any],
    streams: tuple[int, int, int],
    passed: tuple[int, ...],
    make: Callable[[subprocess.Popen[bytes], Confinement, Group], Tree],
) -> Tree:
    group = cgroups.group(confinement.limits)
    try:
        process, control = spawning.spawn("launcher", spec, streams, passed)
    except BaseException:
        group.remove()
        raise
    tree = make(process, confinement, group)
    try:
        tree.joined(launching.receive(control))
        launching.go(control)
    except BaseException:
        tree.close()
        raise
    finally:
        control.close()
    return tree


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def _signal(pidfd: int, number: int) -> None:
    try:
        signal.pidfd_send_signal(pidfd, number)
    except (ProcessLookupError, OSError):
        pass


def rest(fd: int) -> bytes:
    """What can be read of a pipe without waiting."""
    found = b""
    os.set_blocking(fd, False)
    while True:
        try:
            block = os.read(fd, 4096)
        except BlockingIOError:
            return found
        if not block:
            return found
        found += block
