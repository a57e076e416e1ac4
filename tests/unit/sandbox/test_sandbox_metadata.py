"""Metadata changed for a job: which files, and every form of call on what a caller's memory says."""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path
from typing import Any

import pytest

from inspan.sandbox import metadata, shared_filter

ROOTS = ["/ws/job", "/home/agent"]


@pytest.mark.parametrize(
    ("real", "answer"),
    [
        ("/ws/job", True),
        ("/ws/job/a/b", True),
        ("/home/agent/x (deleted)", True),
        ("pipe:[123]", True),
        ("/memfd:m (deleted)", True),
        ("/ws/jobs", False),
        ("/ws/job2/a", False),
        ("/work", False),
        ("/", False),
        ("/etc/passwd", False),
    ],
)
def test_only_below_what_may_be_written(real: str, answer: bool) -> None:
    assert metadata.allowed(real, ROOTS) is answer


class Caller:
    """A call whose caller is this process, with a memory of its own making."""

    def __init__(self, memory: dict[int, bytes], *arguments: int) -> None:
        self._memory, self.arguments, self.pid = memory, (*arguments, *[0] * (6 - len(arguments))), os.getpid()

    def number(self, index: int) -> int:
        value = self.arguments[index] & 0xFFFFFFFF
        return value - (1 << 32) if value >> 31 else value

    def memory(self, address: int, length: int) -> bytes:
        return self._memory.get(address, b"")[:length]

    def descriptor(self, fd: int) -> int:
        return os.dup(fd)


PATH, TIMES = 4096, 8192
HERE = -100 & 0xFFFFFFFFFFFFFFFF


def change(name: str, path: bytes, *arguments: int, roots: list[str], times: bytes = b"") -> int:
    caller: Any = Caller({PATH: path + b"\0" + bytes(100), TIMES: times}, *arguments)
    return metadata.change(caller, metadata.FORMS[name], roots)


CALLS = {
    "chmod": (PATH, 0o640),
    "fchmodat": (HERE, PATH, 0o640),
    "fchmodat2": (HERE, PATH, 0o640, 0),
    "chown": (PATH, os.getuid(), os.getgid()),
    "lchown": (PATH, os.getuid(), os.getgid()),
    "fchownat": (HERE, PATH, os.getuid(), os.getgid(), 0),
    "utime": (PATH, TIMES),
    "utimes": (PATH, TIMES),
    "futimesat": (HERE, PATH, TIMES),
    "utimensat": (HERE, PATH, TIMES, 0),
}
STAMPS = {"utime": struct.pack("qq", 5, 77), "utimes": struct.pack("qqqq", 5, 0, 77, 0)}


@pytest.mark.parametrize("name", CALLS)
def test_every_form_changes_what_is_meant_and_nothing_elsewhere(name: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    mine, other = tmp_path / "in/mine", tmp_path / "other"
    for path in (mine, other):
        path.touch(mode=0o600)
        os.utime(path, (1, 1))
    (tmp_path / "in/way").symlink_to(other)
    times = STAMPS.get(name, struct.pack("qqqq", 5, 0, 77, 0))
    roots = [str(tmp_path / "in")]
    given = {"roots": roots, "times": times}
    assert change(name, os.fsencode(mine), *CALLS[name], **given) == 0
    changed = mine.stat()
    if "chm" in name:
        assert changed.st_mode & 0o777 == 0o640
    elif "time" in name:
        assert changed.st_mtime == 77
    for path in (other, tmp_path / "in/../other", *([tmp_path / "in/way"] if name != "lchown" else [])):
        assert change(name, os.fsencode(path), *CALLS[name], **given) == errno.EPERM, path
    assert (other.stat().st_mode & 0o777, other.stat().st_mtime) == (0o600, 1)
    with pytest.raises(OSError) as caught:
        change(name, b"", *CALLS[name], **given)
    assert caught.value.errno == errno.ENOENT


def test_a_descriptor_is_judged_like_a_path(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for place, answer in (("in/a", 0), ("b", errno.EPERM)):
        with open(tmp_path / place, "w") as file:
            assert change("fchmod", b"", file.fileno(), 0o604, roots=[str(tmp_path / "in")]) == answer
            given = {"roots": [str(tmp_path / "in")], "times": struct.pack("qqqq", 5, 0, 77, 0)}
            assert change("utimensat", b"", file.fileno(), 0, TIMES, 0, **given) == answer
            assert (os.fstat(file.fileno()).st_mode & 0o777 == 0o604) is (answer == 0)


def test_what_is_watched_is_what_is_answered() -> None:
    for machine in ("x86_64", "aarch64"):
        watched = shared_filter.watched(machine)
        answered = metadata.answers(watched, [])
        assert {*answered} == {*watched.values()} - {watched["connect"]}
