"""``connect`` for a tree that shares the host's network: to one address, its ports given. Standard library only.

Landlock knows ports and not addresses, so that a port granted for the gateway would lead to any machine of the world
that listens on it. So the address is judged outside, and connected to on the caller's own socket; see ``watching``.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
from collections.abc import Collection
from typing import Any

_LONGEST = 128  # struct sockaddr_storage
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


def connect(call: Any, ports: Collection[int]) -> int:
    """Do it where it is allowed; 0 or an error number.

    Args:
        call: a ``watching.Call`` of ``connect(fd, address, length)``.
    """
    length = call.number(2)
    if not 2 <= length <= _LONGEST:
        return errno.EINVAL
    copied = call.memory(call.arguments[1], length)
    failure = judge(copied, ports)
    if failure:
        return failure
    held = call.descriptor(call.number(0))
    try:
        return 0 if _libc.connect(held, copied, len(copied)) == 0 else ctypes.get_errno()
    finally:
        os.close(held)
