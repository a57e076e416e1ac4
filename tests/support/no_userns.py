"""Run a program where no user namespace can be made: ``python no_userns.py PROGRAM ARGUMENT...``.

In a user namespace of its own, whose limit of further ones is nought. Root stays root in it, and the sandbox's identity is
there to be taken. Exit status 75 where that cannot be had.
"""

from __future__ import annotations

import ctypes
import os
import sys

NEWUSER = 0x10000000
SANDBOX_UID = 61001


def main(argv: list[str]) -> None:
    uid, gid = os.geteuid(), os.getegid()
    ready_r, ready_w = os.pipe()
    mapped_r, mapped_w = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(mapped_w)
        failed = ctypes.CDLL(None).unshare(NEWUSER)
        os.write(ready_w, b"n" if failed else b"y")
        os.read(mapped_r, 1)
        try:
            with open("/proc/sys/user/max_user_namespaces", "w") as out:
                out.write("0")
        except OSError:
            os._exit(75)
        os.execvp(argv[0], argv)
    if os.read(ready_r, 1) == b"y":
        lines = (f"{uid} {uid} 1", f"{gid} {gid} 1")
        if uid == 0:
            lines = tuple(f"{line}\n{SANDBOX_UID} {SANDBOX_UID} 1" for line in lines)
        else:
            with open(f"/proc/{child}/setgroups", "w") as out:
                out.write("deny")
        for name, line in zip(("uid_map", "gid_map"), lines, strict=True):
            with open(f"/proc/{child}/{name}", "w") as out:
                out.write(line + "\n")
    os.close(mapped_w)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255)


if __name__ == "__main__":
    main(sys.argv[1:])
