"""Run a program as a plain container would: a system call filter refuses every new namespace and every mount.

``python cage.py [--landlock] PROGRAM ARGUMENT...``; exit status 75 when no filter can be had here. The filter is what
containers' default profiles come to for a process without privileges: "not permitted", and "no such call" for
``clone3``, whose flags a filter cannot see. With ``--landlock`` Landlock is let through, as newer profiles do.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, NOT_PERMITTED, NO_SUCH_CALL = 0x7FFF0000, 0x00050001, 0x00050026
NAMESPACES = 0x7E020080  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME
CLONE3 = 435
LANDLOCK = 444  # landlock_create_ruleset
MOUNTING = (428, 429, 430, 431, 432, 433, 442)  # open_tree ... mount_setattr: one number everywhere
CALLS = {  # clone; then unshare, setns, mount, umount2, pivot_root
    "x86_64": (56, (272, 308, 165, 166, 155)),
    "aarch64": (220, (97, 268, 40, 39, 41)),
}


def rule(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def program(clone: int, refused: tuple[int, ...]) -> bytes:
    rules = [rule(LOAD, 0)]
    for number in (*refused, *MOUNTING):
        rules += [rule(EQUAL, number, 0, 1), rule(RETURN, NOT_PERMITTED)]
    rules += [rule(EQUAL, CLONE3, 0, 1), rule(RETURN, NO_SUCH_CALL)]
    rules += [rule(EQUAL, clone, 0, 3), rule(LOAD, 16), rule(ANY_BIT, NAMESPACES, 0, 1), rule(RETURN, NOT_PERMITTED)]
    return b"".join([*rules, rule(RETURN, ALLOW)])


def main(argv: list[str]) -> None:
    known = CALLS.get(platform.machine())
    if known is None:
        sys.exit(75)
    clone, refused = known
    if argv[0] == "--landlock":
        argv = argv[1:]
    else:
        refused = (*refused, LANDLOCK)
    code = program(clone, refused)
    held = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(held))
    libc = ctypes.CDLL(None)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.c_char_p(header), 0, 0):
        sys.exit(75)
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    main(sys.argv[1:])
