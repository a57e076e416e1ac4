"""Starting one of our own stand-alone programs (launcher, keeper) with a control socket and a specification.

Most of a start is an interpreter that loads. One that waits for its specification can be started ahead; it holds
nothing and ends with its caller.
"""

from __future__ import annotations

import array
import json
import os
import socket
import subprocess
import sys
import threading
from typing import Any, NamedTuple


class Spawned(NamedTuple):
    """A started program and our end of its control socket."""

    process: subprocess.Popen[bytes]
    control: socket.socket


class _Waiting(threading.local):
    """Programs that wait, by name. Per thread: the parent-death signal of a tree follows the thread that started it."""

    def __init__(self) -> None:
        self.by_name: dict[str, Spawned] = {}


_waiting = _Waiting()


def ahead(name: str) -> None:
    """Have one program of that name waiting for this thread's next ``spawn`` of it. Best effort."""
    if name not in _waiting.by_name:
        try:
            _waiting.by_name[name] = _start(name)
        except OSError:
            return


def dismiss() -> None:
    """End what waits for this thread. Idempotent."""
    while _waiting.by_name:
        _, unused = _waiting.by_name.popitem()
        unused.control.close()
        unused.process.wait()


def spawn(name: str, spec: dict[str, Any], streams: tuple[int, int, int], passed: tuple[int, ...] = ()) -> Spawned:
    """Run ``<name>.py`` of this directory with the interpreter in use, in its own session and an empty environment.

    The specification goes by a memory file, not by the command line, which every user of the machine can read.

    Args:
        streams: standard input, output and error.
        passed: further descriptors it gets under the same numbers.
    """
    started = _taken(name) or _start(name)
    spec_fd = os.memfd_create("specification", os.MFD_CLOEXEC)
    try:
        with open(os.dup(spec_fd), "w", encoding="utf-8") as out:
            json.dump(spec, out)
        os.lseek(spec_fd, 0, os.SEEK_SET)
        given = array.array("i", [spec_fd, *streams, *passed])
        numbers = json.dumps([0, 1, 2, *passed]).encode()
        started.control.sendmsg([numbers], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, given)])
    except BaseException:
        started.control.close()
        started.process.kill()
        started.process.wait()
        raise
    finally:
        os.close(spec_fd)
    return started


def _taken(name: str) -> Spawned | None:
    """The one that waits, unless it has died meanwhile."""
    found = _waiting.by_name.pop(name, None)
    if found is not None and found.process.poll() is not None:
        found.control.close()
        return None
    return found


def _start(name: str) -> Spawned:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", path, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            cwd="/",
            env={},
            start_new_session=True,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return Spawned(process, ours)


def host_listener() -> socket.socket:
    """A listener on the host's loopback, where there is no network namespace; needs a token in front of it."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return listener


def address(listeners: list[socket.socket]) -> str:
    """``http://127.0.0.1:PORT`` of the first listener, empty without one."""
    return f"http://127.0.0.1:{listeners[0].getsockname()[1]}" if listeners else ""
