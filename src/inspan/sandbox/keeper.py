"""Holds a tree without a pid namespace together. Run as a file by ``python -I -S``; standard library and siblings only.

A small process of ours is the subreaper: whatever the program daemonises falls back to it, never past it, and is found
by parentage. It ends everything when the program ends, when it is told to, and when its own parent is gone (the control
socket closes).

Argument: the number of a control socket. Conversation: the specification comes (see ``launcher.received``); ``h`` makes
the process that will become the program, confined, and answers with what was found in it or ``{"error": ...}``; ``g``
lets the program run, ``t`` sends it SIGTERM, ``k`` ends the tree; back come ``{"error": ...}`` when the program could
not be executed, and ``{"exit": status, "orphans": [names]}`` once nothing is left.
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
import threading
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

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


class Held(NamedTuple):
    """A process that waits to become the program.

    Attributes:
        child: its number.
        found: what was found in it, ``{"error": ...}`` when it could not be made.
        go: one byte written here lets it go on; when this closes it ends.
        trouble: what it says when the program cannot be executed.
    """

    child: int
    found: dict[str, Any]
    go: int
    trouble: int

    def release(self) -> str:
        """Let the program be executed; what kept it from that, empty when nothing did."""
        os.write(self.go, b"g")
        os.close(self.go)
        with open(self.trouble, "rb") as reading:
            return reading.read().decode(errors="replace")

    def drop(self) -> None:
        """End it."""
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)


def hold(spec: dict[str, Any], prepare: Callable[[], dict[str, Any]], watch: Callable[[], None]) -> Held:
    """Fork the process that will become the program, in its own session.

    Args:
        prepare: runs in it; what it returns is found in ``Held.found``.
        watch: runs here once it exists.
    """
    report_r, report_w = os.pipe()
    go_r, go_w = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go_w)
        _become_program(spec, prepare, report_w, go_r)
    os.close(report_w)
    os.close(go_r)
    watch()
    line = b""
    while not line.endswith(b"\n") and (block := os.read(report_r, 1)):
        line += block
    return Held(child, json.loads(line or b'{"error": "it ended before it could be confined"}'), go_w, report_r)


def _become_program(spec: dict[str, Any], prepare: Callable[[], dict[str, Any]], report: int, go: int) -> None:
    try:
        os.setsid()
        default_signals()
        for name, value in spec["rlimits"].items():
            which = getattr(resource, f"RLIMIT_{name}")
            hard = resource.getrlimit(which)[1]
            bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(which, (bounded, bounded))
        os.umask(0o022)
        os.write(report, json.dumps(prepare()).encode() + b"\n")
        if os.read(go, 1) == b"g":
            os.chdir(spec["cwd"])
            os.execvpe(spec["argv"][0], spec["argv"], spec["env"])  # noqa: S606
    except OSError as error:
        os.write(report, str(error).encode())
    finally:
        os._exit(127)


def confined(spec: dict[str, Any]) -> Held:
    """Take the job's identity, and hold a process under the rules of ``spec["confine"]``; see ``confining``."""
    confine = spec["confine"]
    # All of them now: the job's identity may have no way to the standard library.
    landlock, confining, watching = sibling("landlock"), sibling("confining"), sibling("watching")
    connecting, metadata = sibling("connecting"), sibling("metadata")
    version = landlock.interface()
    rules = landlock.ruleset(confine["read"], confine["write"], version)
    ours, theirs = socket.socketpair()
    confining.become(confine["uid"], confine["gid"])

    def prepare() -> dict[str, Any]:
        try:
            os.chdir(spec["cwd"])
            for directory in confine["directories"]:
                os.makedirs(directory, mode=0o700, exist_ok=True)
            confining.hand_over(theirs, confining.restrict(confine, rules, landlock))
            found: dict[str, Any] = confining.tried(confine, version, landlock.SCOPED)
            found["program"] = confining.closed(spec["program"])
        except OSError as error:
            return {"error": str(error)}
        finally:
            theirs.close()  # also without a watcher: who waits for it waits no longer
        return found

    def watch() -> None:
        theirs.close()
        notify = confining.take_over(ours)
        ours.close()
        if notify is not None:
            answers = metadata.answers(confine["calls"], confine["roots"])
            answers[confine["calls"]["connect"]] = lambda call: connecting.connect(call, confine["ports"])
            threading.Thread(target=watching.watch, args=(notify, answers), daemon=True).start()

    held = hold(spec, prepare, watch)
    os.close(rules)
    return held


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


def main(control_fd: int) -> None:
    """Hold, run, end."""
    control, spec = sibling("launcher").received(socket.socket(fileno=control_fd))
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    order = control.recv(1)
    held = None
    if order == b"h":
        try:
            held = confined(spec)
        except OSError as error:
            control.send(json.dumps({"error": str(error)}).encode())
            os._exit(127)
        control.send(json.dumps(held.found | {"pid": held.child}).encode())
        order = control.recv(1)
    if order != b"g":
        if held is not None:
            held.drop()
        os._exit(0)
    held = held or hold(spec, dict, lambda: None)
    trouble = held.release()
    if trouble:
        os.waitpid(held.child, 0)
        control.send(json.dumps({"error": trouble}).encode())
        os._exit(127)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    result = json.dumps(Keeper(control, held.child).run()).encode()
    try:
        control.send(result[:60000])
    except OSError:
        pass
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
