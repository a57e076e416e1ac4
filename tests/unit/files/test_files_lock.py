"""A lock file is held by one at a time, and never one that a link leads to."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest

from inspan.files import holding


def _free(path: Path) -> bool:
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def test_it_is_held_inside_and_free_after_the_block_whatever_happens_in_it(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with holding(lock):
        assert not _free(lock)
    assert _free(lock), "control"
    with pytest.raises(ValueError, match="body"), holding(lock):
        raise ValueError("body")
    assert _free(lock) and lock.stat().st_mode & 0o077 == 0


def test_the_second_waits_for_the_first(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with holding(tmp_path / "lock"):
            order.append("second")

    other = threading.Thread(target=second)
    with holding(tmp_path / "lock"):
        other.start()
        other.join(0.1)
        order.append("first")
    other.join()
    assert order == ["first", "second"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to("elsewhere")
    with pytest.raises(OSError), holding(tmp_path / "lock"):
        pass
    assert os.listdir(tmp_path) == ["lock"]
