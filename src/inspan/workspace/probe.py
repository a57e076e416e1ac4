"""Whether an overlay's writable layer can live in the state directory: shown by doing it in a throw-away child.

Run as a program (``python probe.py DIR UID GID``) it makes one overlay in private namespaces below DIR, writes, deletes
and replaces through it, and ends with status 0 only if all of that worked. It uses the standard library alone.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspan.spec.paths import State

_NEWNS, _NEWUSER = 0x20000, 0x10000000
_REC_PRIVATE = 0x4000 | 0x40000
_NOSUID_NODEV = 2 | 4
_PR_SET_DUMPABLE = 4


def overlay_possible(state: State) -> bool:
    """Whether overlay workspaces work with this state directory, this kernel and this user; shown, and remembered."""
    from inspan.workspace.shown import remembered

    return remembered(state.root, "overlay", lambda: _possible(os.fspath(state.root), os.geteuid()))


@cache
def _possible(root: str, uid: int) -> bool:
    from inspan.workspace.layout import made
    from inspan.workspace.remove import remove_tree

    home = made(Path(root))
    inner = 61001 if uid == 0 else uid
    scratch = Path(tempfile.mkdtemp(prefix=".probe-", dir=home))
    try:
        for name in ("lower", "upper", "work", "m"):
            (scratch / name).mkdir()
        (scratch / "lower/d").mkdir()
        (scratch / "lower/d/f").write_text("below")
        if uid == 0:
            for path in (scratch, *scratch.rglob("*")):
                os.chown(path, inner, inner)
        done = subprocess.run(
            [
                sys.executable,
                "-I",
                "-S",
                __file__,
                os.fspath(scratch),
                str(inner),
                str(inner if uid == 0 else os.getegid()),
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
        return done.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
    finally:
        remove_tree(scratch)


def _check(status: int, what: str) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def enter_overlay(directory: str, uid: int, gid: int, lowers: str = "lower") -> None:
    """Become ``uid`` in private namespaces with the overlay of ``directory`` mounted on its ``m``.

    Only for a process that is about to end; its working directory is ``directory`` afterwards. Paths are relative, so
    that parents only root may enter do not matter.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    os.chdir(directory)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        _check(libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl")
    _check(libc.unshare(_NEWUSER | _NEWNS), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "wb") as file:  # no codec: the interpreter's own files may be out of reach now
            file.write(text.encode())
    _check(libc.mount(b"none", b"/", None, ctypes.c_ulong(_REC_PRIVATE), None), "private mounts")
    options = f"lowerdir={lowers},upperdir=upper,workdir=work,userxattr".encode()
    _check(libc.mount(b"overlay", b"m", b"overlay", ctypes.c_ulong(_NOSUID_NODEV), options), "overlay")


def _prove(directory: str, uid: int, gid: int) -> None:
    enter_overlay(directory, uid, gid)
    Path("m/d/new").write_bytes(b"x")
    Path("m/d/f").unlink()
    Path("m/d/new").unlink()
    Path("m/d").rmdir()
    Path("m/d").mkdir()
    if os.listdir("m/d") or Path("m/d/f").exists():
        raise OSError("a deleted directory came back")
    if not Path("upper/d").is_dir() or os.getxattr("upper/d", "user.overlay.opaque") != b"y":
        raise OSError("a replaced directory is not marked")


if __name__ == "__main__":
    _prove(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
