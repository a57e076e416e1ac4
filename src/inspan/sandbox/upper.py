"""An upper layer on a tmpfs: how full it is, and how it comes back to disk once everything inside is dead."""

from __future__ import annotations

import os
import shutil
import stat

from inspan.errors import WorkspaceError


def room_left(fd: int | None) -> str | None:
    """``workspace_bytes`` or ``workspace_files`` when the tmpfs behind ``fd`` is full, None otherwise."""
    if fd is None:
        return None
    found = os.fstatvfs(fd)
    if found.f_bavail == 0:
        return "workspace_bytes"
    return "workspace_files" if found.f_files and found.f_ffree == 0 else None


def copy_out(source: int, target: str) -> None:
    """Make the directory ``target`` equal to the layer behind the descriptor ``source``.

    Whiteouts, ``user.`` attributes (opaque directories), modes, times and owners are kept; links are never followed;
    what a layer cannot hold for the gate (sockets, pipes) is copied as what it is, so that the gate can refuse it.

    Raises:
        WorkspaceError: when the target's file system cannot hold the layer.
    """
    for name in os.listdir(target):
        path = f"{target}/{name}"
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    try:
        out = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            _copy_directory(source, out)
        finally:
            os.close(out)
    except OSError as error:
        raise WorkspaceError(
            f"the layer written by the job cannot be stored: {error}",
            where=target,
            do="keep the state directory (INSPAN_HOME) on an ordinary file system",
        ) from error


def _copy_directory(source: int, target: int) -> None:
    for name in os.listdir(source):
        found = os.lstat(name, dir_fd=source)
        mode = stat.S_IMODE(found.st_mode)
        if stat.S_ISLNK(found.st_mode):
            os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=target)
            _own(name, target, found)
        elif stat.S_ISDIR(found.st_mode):
            os.mkdir(name, 0o700, dir_fd=target)
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            old, new = os.open(name, flags, dir_fd=source), os.open(name, flags, dir_fd=target)
            try:
                _copy_directory(old, new)
                _attributes(old, new, found, mode)
            finally:
                os.close(old)
                os.close(new)
        elif stat.S_ISREG(found.st_mode):
            old = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=source)
            new = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=target)
            try:
                while block := os.read(old, 1 << 20):
                    os.write(new, block)
                _attributes(old, new, found, mode)
            finally:
                os.close(old)
                os.close(new)
        else:
            os.mknod(name, found.st_mode, found.st_rdev, dir_fd=target)
            _own(name, target, found)


def _own(name: str, target: int, found: os.stat_result) -> None:
    if os.geteuid() == 0:
        os.chown(name, found.st_uid, found.st_gid, dir_fd=target, follow_symlinks=False)


def _attributes(old: int, new: int, found: os.stat_result, mode: int) -> None:
    for key in os.listxattr(old):
        if key.startswith("user."):
            os.setxattr(new, key, os.getxattr(old, key))
    if os.geteuid() == 0:
        os.fchown(new, found.st_uid, found.st_gid)
    os.fchmod(new, mode)
    os.utime(new, ns=(found.st_atime_ns, found.st_mtime_ns))
