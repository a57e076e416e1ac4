"""A file somebody else may have placed is read only when it is a regular one of a sane size; nothing is waited for."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from inspan.files import beneath, open_regular, read_capped, read_regular


def _refused(path: Path, limit: int = 100, **how: bool) -> OSError:
    with pytest.raises(OSError) as refused:
        read_regular(path, limit, **how)
    return refused.value


def test_a_regular_file_is_read_up_to_the_limit_and_not_over_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100)
    assert read_regular(file, 100) == b"x" * 100, "control: exactly the limit"
    assert _refused(file, 99).errno == errno.EFBIG
    file.write_bytes(b"")
    assert read_regular(file, 0) == b""
    large = b"ab" * (1 << 17)
    file.write_bytes(large)
    assert read_regular(file, len(large)) == large, "control: more than is read at once"


def test_a_link_is_followed_only_where_that_was_asked(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    link = tmp_path / "link"
    link.symlink_to("secret")
    refused = _refused(link)
    assert (refused.errno, refused.strerror) == (errno.ELOOP, "it is a symbolic link")
    assert read_regular(link, 100, follow=True) == b"secret", "control"
    link.unlink()
    link.symlink_to(link)
    assert _refused(link, follow=True).errno == errno.ELOOP


@pytest.mark.parametrize("follow", [False, True])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, follow: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    places = [tmp_path / "pipe", tmp_path / "directory", Path("/dev/zero")]
    for place in places:
        assert _refused(place, follow=follow).strerror == "it is not a regular file", place
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(tmp_path / "s"))
        assert _refused(tmp_path / "s", follow=follow).errno == errno.ENXIO


def test_a_refused_file_leaves_no_descriptor_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"x" * 10)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        _refused(tmp_path / "pipe")
        _refused(tmp_path / "large", 1)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_that_grows_after_it_was_opened_is_still_capped(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    with open_regular(file) as opened:
        file.write_bytes(b"x" * 1000)
        with pytest.raises(OSError, match="larger than 10 bytes"):
            read_capped(opened, 10)


def test_a_file_that_vanishes_after_it_was_opened_is_read_and_one_that_vanished_before_is_missing(
    tmp_path: Path,
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    with open_regular(file) as opened:
        file.unlink()
        assert read_capped(opened, 10) == b"x"
    with pytest.raises(FileNotFoundError):
        read_regular(file, 10)


def test_the_way_down_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "real" / "inner" / "file").write_text("inside")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "up").symlink_to("inner")
    with beneath(tmp_path, ["real", "inner"]) as at:
        assert read_regular("file", 10, at=at) == b"inside", "control"
    with beneath(os.fsencode(tmp_path), [b"real", b"inner"]) as at:
        assert read_regular(b"file", 10, at=at) == b"inside"
    for root, parts in ((tmp_path, ["link"]), (tmp_path, ["real", "up"]), (tmp_path / "link", [])):
        with pytest.raises(NotADirectoryError), beneath(root, parts):
            pass
    with pytest.raises(FileNotFoundError), beneath(tmp_path, ["real", "gone", "deeper"]):
        pass
