"""Starting one of our own stand-alone programs (launcher, keeper) with a control socket and a specification."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import Any, NamedTuple


class Spawned(NamedTuple):
    """A started program and our end of its control socket."""

    process: subprocess.Popen[bytes]
    control: socket.socket


def spawn(name: str, spec: dict[str, Any], streams: tuple[int, int, int], passed: tuple[int, ...] = ()) -> Spawned:
    """Run ``<name>.py`` of this directory with the interpreter in use, in its own session and an empty environment.

    The specification goes by a memory file, not by the command line, which every user of the machine can read.

    Args:
        streams: standard input, output and error.
        passed: further descriptors it inherits under the same numbers.
    """
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    spec_fd = os.memfd_create("specification", os.MFD_CLOEXEC)
    try:
        with open(os.dup(spec_fd), "w", encoding="utf-8") as out:
            json.dump(spec, out)
        os.lseek(spec_fd, 0, os.SEEK_SET)
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", path, str(theirs.fileno()), str(spec_fd)],
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            pass_fds=(theirs.fileno(), spec_fd, *passed),
            cwd="/",
            env={},
            start_new_session=True,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
        os.close(spec_fd)
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
