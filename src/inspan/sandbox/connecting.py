"""Answers ``connect`` for the processes of a tree that shares the host's network. Standard library only.

Landlock knows ports and not addresses, so that a port granted for the gateway would lead to any machine of the world
that listens on it. Here every ``connect`` stops in the kernel until this watcher has answered it. The address is copied
once, judged, and connected to by the watcher itself on the caller's own socket: what the caller writes into its memory
afterwards is never looked at. Without a watcher ``connect`` fails.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
from collections.abc import Collection

_RECEIVE, _ANSWER, _VALID = 0xC0502100, 0xC0182101, 0x40082102
_NOTE = struct.Struct("QIIiIQ6Q")
_REPLY = struct.Struct("QqiI")
_LONGEST = 128  # struct sockaddr_storage
_PIDFD_GETFD = 438  # the same on every architecture
_LOOPBACK = socket.inet_aton("127.0.0.1")
_MAPPED = b"\0" * 10 + b"\xff\xff"

_libc = ctypes.CDLL(None, use_errno=True)


def judge(address: bytes, ports: Collection[int]) -> int:
    """0 when a ``struct sockaddr`` names one of ``ports`` on the IPv4 loopback, else the error to answer with."""
    if len(address) < 2:
        return errno.EINVAL
    (family,) = struct.unpack_from("H", address)
    if family == socket.AF_INET and len(address) >= 8:
        port, host = struct.unpack_from("!H4s", address, 2)
    elif family == socket.AF_INET6 and len(address) >= 24:
        port, whole = struct.unpack_from("!H4x16s", address, 2)
        host = whole[12:] if whole[:12] == _MAPPED else whole
    else:
        return errno.EAFNOSUPPORT
    if host == _LOOPBACK and port in ports:
        return 0
    near = host[:1] == b"\x7f" if len(host) == 4 else host == b"\0" * 15 + b"\1"
    return errno.ECONNREFUSED if near else errno.ENETUNREACH


def watch(notify: int, ports: Collection[int]) -> None:
    """Answer until no process of the tree is left. For a thread of its own."""
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
        number, pid, _, _, _, _, fd, address, length, *_ = _NOTE.unpack(note)
        try:
            failure = _connect(notify, number, pid, fd, address, length & 0xFFFFFFFF, ports)
        except OSError as error:
            failure = error.errno or errno.EACCES
        try:
            fcntl.ioctl(notify, _ANSWER, _REPLY.pack(number, 0, -failure, 0))
        except OSError:
            continue


def _connect(notify: int, number: int, pid: int, fd: int, address: int, length: int, ports: Collection[int]) -> int:
    if not 2 <= length <= _LONGEST:
        return errno.EINVAL
    memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Only now is it certain that the number still means the caller.
        fcntl.ioctl(notify, _VALID, struct.pack("Q", number))
        copied = os.pread(memory, length, address)
    finally:
        os.close(memory)
    failure = judge(copied, ports)
    if failure:
        return failure
    process = os.pidfd_open(_leader(pid))
    try:
        fcntl.ioctl(notify, _VALID, struct.pack("Q", number))
        held = _libc.syscall(_PIDFD_GETFD, process, ctypes.c_int(fd & 0xFFFFFFFF), 0)
        if held < 0:
            return ctypes.get_errno()
    finally:
        os.close(process)
    try:
        return 0 if _libc.connect(held, copied, len(copied)) == 0 else ctypes.get_errno()
    finally:
        os.close(held)


def _leader(pid: int) -> int:
    """The process a thread belongs to: descriptors are taken from processes."""
    with open(f"/proc/{pid}/status") as reading:
        return next(int(line.split()[1]) for line in reading if line.startswith("Tgid:"))
