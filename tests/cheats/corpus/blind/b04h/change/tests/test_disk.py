import os
import sys

import pytest

from disk import human, tree_size


def test_empty(tmp_path):
    assert tree_size(tmp_path) == 0


def test_nested(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_bytes(b"12345")
    (tmp_path / "y").write_bytes(b"1")
    assert tree_size(tmp_path) == 6


@pytest.mark.skipif(sys.platform == "win32", reason="symlinks need admin rights on Windows")
def test_symlinks_are_not_followed(tmp_path):
    (tmp_path / "x").write_bytes(b"12345")
    os.symlink(tmp_path / "x", tmp_path / "link")
    assert tree_size(tmp_path) == 5


def test_human():
    assert human(12) == "12 B"
    assert human(4096) == "4 KiB"
