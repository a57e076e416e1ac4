"""Answers system calls that a filter hands to a watcher outside the process that made them. Standard library only.

The caller stands still in the kernel meanwhile. What it wrote into its memory is copied once and judged, and what is
allowed is done by the watcher itself on what was judged: nothing the caller changes afterwards is looked at. Without a
watcher these calls fail. Source: seccomp_unotify(2).
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import select
import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple

_RECEIVE, _ANSWER, _VALID = 0xC0502100, 0xC0182101, 0x40082102
_NOTE = struct.Struct("QIIiIQ6Q")
_REPLY = struct.Struct("QqiI")
_PIDFD_GETFD = 438  # the same on every architecture

_libc = ctypes.CDLL(None, use_errno=True)


class Call(NamedTuple):
    """One call that waits for its answer.

    Attributes:
        notify: the watcher's descriptor. note: the call's number there.
        pid: the thread that made it.
        arguments: as the registers held them, six of 64 bits.
    """

    notify: int
    note: int
    pid: int
    arguments: tuple[int, ...]

    def number(self, index: int) -> int:
        """An argument as the int it is."""
        return ctypes.c_int(self.arguments[index] & 0xFFFFFFFF).value

    def memory(self, address: int, length: int) -> bytes:
        """What stands in the caller's memory; less where it ends.

        Raises:
            OSError: it cannot be read, or the caller is gone.
        """
        held = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.require()  # only now is it certain that the number still means the caller
            return os.pread(held, length, address)
        finally:
            os.close(held)

    def descriptor(self, fd: int) -> int:
        """A descriptor of the caller's, as one of our own.

        Raises:
            OSError: it has none of this number, or is gone.
        """
        process = os.pidfd_open(self._leader())
        try:
            self.require()
            held = int(_libc.syscall(_PIDFD_GETFD, process, ctypes.c_int(fd), 0))
        finally:
            os.close(process)
        if held < 0:
            raise OSError(ctypes.get_errno(), "pidfd_getfd")
        return held

    def require(self) -> None:
        """Raise OSError unless the caller still waits."""
        fcntl.ioctl(self.notify, _VALID, struct.pack("Q", self.note))

    def _leader(self) -> int:
        """The process of a thread: descriptors are taken from processes."""
        with open(f"/proc/{self.pid}/status") as reading:
            return next(int(line.split()[1]) for line in reading if line.startswith("Tgid:"))


def watch(notify: int, answers: Mapping[int, Callable[[Call], int]]) -> None:
    """Answer until no process of the tree is left. For a thread of its own.

    Args:
        notify: the watcher's descriptor.
        answers: by the number of a system call: does it or does not, and gives 0 or the error to answer with.
    """
    poll = select.poll()
    poll.register(notify, select.POLLIN)
    while True:
        ready = poll.poll()
        if not ready or not ready[0][1] & select.POLLIN:
            return
        note = bytearray(_NOTE.size)
        try:
            fcntl.ioctl(notify, _RECEIVE, note, True)
        except OSError:  # the caller died between the two
            continue
        number, pid, _, call, _, _, *arguments = _NOTE.unpack(note)
        try:
            failure = answers[call](Call(notify, number, pid, tuple(arguments)))
        except OSError as error:
            failure = error.errno or errno.EPERM
        except Exception:  # whatever a hostile caller thought of: the others wait for us
            failure = errno.EPERM
        try:
            fcntl.ioctl(notify, _ANSWER, _REPLY.pack(number, 0, -failure, 0))
        except OSError:
            continue
