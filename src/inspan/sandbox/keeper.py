"""Holds the tree of level ``none`` together. Run as a file by ``python -I -S``; standard library and ``census`` only.

There is no pid namespace at this level, so a small process of ours is the subreaper: whatever the program daemonises
falls back to it, never past it, and is found by parentage. It ends everything when the program ends, when it is told
to, and when its own parent is gone (the control socket closes).

Arguments: numbers of a control socket and of a file holding the specification (JSON). Conversation: ``g`` lets the
program run, ``t`` sends it SIGTERM, ``k`` ends the tree; back come ``{"error": ...}`` when the program could not be
executed, and ``{"exit": status, "orphans": [names]}`` once nothing is left.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from types import ModuleType
from typing import Any

PR_SET_CHILD_SUBREAPER = 36
TICK_MS = 50
PATIENCE = 10.0


def sibling(name: str) -> ModuleType:
    """A module of this directory, without the directory on the import path."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py")
    found = importlib.util.spec_from_file_location(name, path)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module


census = sibling("census")


def default_signals() -> None:
    """What Python and our caller ignore or block would be ignored or blocked by the program for ever."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def spawn(spec: dict[str, Any]) -> int:
    """Fork and execute the program in its own session; OSError when it cannot be executed."""
    error_r, error_w = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            default_signals()
            for name, value in spec["rlimits"].items():
                which = getattr(resource, f"RLIMIT_{name}")
                hard = resource.getrlimit(which)[1]
                bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.setrlimit(which, (bounded, bounded))
            os.umask(0o022)
            os.chdir(spec["cwd"])
            os.execvpe(spec["argv"][0], spec["argv"], spec["env"])  # noqa: S606
        except OSError as error:
            os.write(error_w, f"{error.errno or 0} {error}".encode())
        finally:
            os._exit(127)
    os.close(error_w)
    with open(error_r, "rb") as reading:
        trouble = reading.read().decode()
    if trouble:
        os.waitpid(child, 0)
        code, _, text = trouble.partition(" ")
        raise OSError(int(code), text)
    return child


class Keeper:
    """The loop: wait for the program, an order, or the end of the parent."""

    def __init__(self, control: socket.socket, child: int) -> None:
        self.control, self.child = control, child
        self.status: int | None = None

    def run(self) -> dict[str, Any]:
        """Until the program has ended or is to end; then everything is ended."""
        poll = select.poll()
        poll.register(self.control, select.POLLIN | select.POLLHUP)
        poll.register(os.pidfd_open(self.child), select.POLLIN)
        ordered = False
        while self.status is None and not ordered:
            ready = dict(poll.poll(TICK_MS))
            self.reap()
            if self.control.fileno() in ready:
                order = self.control.recv(1)
                if order == b"t" and self.status is None:
                    os.kill(self.child, signal.SIGTERM)
                ordered = order in (b"", b"k")
        left = [process for process in census.descendants(os.getpid()) if process.pid != self.child]
        self.end()
        # Who was ended together with the program by an order did not outlive it.
        return {"exit": self.status, "orphans": [] if ordered else list(census.names(left))}

    def reap(self) -> None:
        """Collect everything that is dead; remember the program's status."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.child:
                self.status = os.waitstatus_to_exitcode(status)

    def end(self) -> None:
        """SIGKILL everything below until nothing is; stopped first, so that what forks cannot outrun us.

        What another user owns or the kernel holds cannot be ended; the caller finds it in its own census.
        """
        poll = select.poll()
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            self.reap()
            below = census.descendants(os.getpid())
            if not below:
                return
            census.kill(below)
            poll.poll(2)


def main(control_fd: int, spec_fd: int) -> None:
    """Hold, run, end."""
    control = socket.socket(fileno=control_fd)
    control.set_inheritable(False)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with open(spec_fd, "rb") as reading:
        spec = json.load(reading)
    if control.recv(1) != b"g":
        os._exit(0)
    try:
        child = spawn(spec)
    except OSError as error:
        control.send(json.dumps({"error": str(error)}).encode())
        os._exit(127)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    result = json.dumps(Keeper(control, child).run()).encode()
    try:
        control.send(result[:60000])
    except OSError:
        pass
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
