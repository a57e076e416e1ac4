"""Files appear whole or not at all, private, and leave nothing beside them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from inspan import files
from inspan.files import write_once, write_whole


def test_of_many_writers_one_wins_and_its_file_is_whole(tmp_path: Path) -> None:
    path, results = tmp_path / "record.json", []
    writers = [
        threading.Thread(target=lambda i=i: results.append((i, write_once(path, bytes([65 + i]) * 100_000))))
        for i in range(8)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    winners = [i for i, won in results if won]
    assert len(winners) == 1
    assert path.read_bytes() == bytes([65 + winners[0]]) * 100_000
    assert os.listdir(tmp_path) == ["record.json"], "no temporary file is left"


def test_the_last_of_many_is_there_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "file"
    mask = os.umask(0)
    try:
        for text in (b"one", b"two"):
            write_whole(path, text)
            assert path.read_bytes() == text
        write_once(tmp_path / "other", b"")
    finally:
        os.umask(mask)
    assert {p.name: p.stat().st_mode & 0o777 for p in tmp_path.iterdir()} == {"file": 0o600, "other": 0o600}


def test_a_link_in_the_place_is_replaced_and_never_written_through(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("kept")
    (tmp_path / "link").symlink_to("target")
    assert not write_once(tmp_path / "link", b"new")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "target").read_text() == "kept" and not (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("step", ["fsync", "replace", "link"])
def test_a_failure_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    write_whole(path, b"before")
    monkeypatch.setattr(files.os, step, full)
    write = write_once if step == "link" else write_whole
    with pytest.raises(OSError, match="No space left"):
        write(path, b"after")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["file"] and path.read_bytes() == b"before"
    write_whole(path, b"after")
    assert path.read_bytes() == b"after", "control"


def test_a_directory_in_the_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    with pytest.raises(OSError):
        write_whole(tmp_path / "place", b"x")
    assert not write_once(tmp_path / "place", b"x")
    assert os.listdir(tmp_path) == ["place"]
