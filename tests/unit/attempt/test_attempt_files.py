"""Files put below a HOME, and files an agent left there, both without trusting it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inspan.attempt.files import place, take

OWNER = (os.geteuid(), os.getegid())


def test_a_plain_small_file_is_taken(tmp_path: Path) -> None:
    place(str(tmp_path), ".inspan/report.json", b"{}", OWNER)
    assert take(str(tmp_path), ".inspan/report.json") == b"{}"
    assert take(str(tmp_path), ".inspan/report.json", limit=1) is None
    assert take(str(tmp_path), ".inspan/other.json") is None


def test_no_link_is_followed_on_the_way_to_a_file(tmp_path: Path) -> None:
    outside, home = tmp_path / "outside", tmp_path / "home"
    outside.mkdir()
    home.mkdir()
    (outside / "report.json").write_text("not yours")
    (home / "by-directory").symlink_to(outside)
    (home / "real").mkdir()
    (home / "real" / "report.json").symlink_to(outside / "report.json")
    os.link(outside / "report.json", home / "real" / "hard.json")
    os.mkfifo(home / "real" / "fifo")
    for path in ("by-directory/report.json", "real/report.json", "real/hard.json", "real/fifo", "real"):
        assert take(str(home), path) is None, path
    (home / "real" / "own.json").write_text("mine")
    assert take(str(home), "real/own.json") == b"mine"


def test_nothing_is_placed_through_a_link_that_set_up_left(tmp_path: Path) -> None:
    outside, home = tmp_path / "outside", tmp_path / "home"
    outside.mkdir()
    home.mkdir()
    (home / ".inspan").symlink_to(outside)
    with pytest.raises(OSError):
        place(str(home), ".inspan/files/settings.json", b"x", OWNER)
    assert os.listdir(outside) == []
    (home / "ok").mkdir()
    (home / "ok" / "file").symlink_to(outside / "target")
    place(str(home), "ok/file", b"x", OWNER)
    assert os.listdir(outside) == [] and (home / "ok" / "file").read_bytes() == b"x"
    with pytest.raises(ValueError):
        place(str(home), "../escape", b"x", OWNER)
