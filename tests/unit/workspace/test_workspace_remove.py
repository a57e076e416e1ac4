"""Removing what somebody else wrote."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspan.workspace.remove import remove_tree


def test_depth_beyond_any_path_length(tmp_path: Path) -> None:
    top = tmp_path / "t"
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("directory-name", dir_fd=here)
        inner = os.open("directory-name", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    remove_tree(top)
    assert not top.exists()


def test_links_are_removed_and_never_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "f").write_text("x")
    (tmp_path / "t/d").mkdir(parents=True)
    (tmp_path / "t/link").symlink_to(kept)
    (tmp_path / "t/d/link").symlink_to(kept / "f")
    os.mkfifo(tmp_path / "t/fifo")
    remove_tree(tmp_path / "t")
    assert not (tmp_path / "t").exists() and (kept / "f").read_text() == "x"
    (tmp_path / "top").symlink_to(kept)
    remove_tree(tmp_path / "top")
    assert (kept / "f").exists() and not (tmp_path / "top").is_symlink()


def test_nothing_to_remove(tmp_path: Path) -> None:
    remove_tree(tmp_path / "absent")
    assert list(tmp_path.iterdir()) == []


def test_closed_directories_of_an_unprivileged_user(tmp_path: Path) -> None:
    """Run as another user where we are root: root may enter everything anyway."""
    script = f"""
import os, sys
sys.path[:] = {sys.path!r}
from pathlib import Path
from inspan.workspace.remove import remove_tree
if os.geteuid() == 0:
    os.chown({str(tmp_path)!r}, 12345, 12345); os.chmod({str(tmp_path)!r}, 0o755)
    os.chdir({str(tmp_path)!r}); os.setgid(12345); os.setuid(12345)
os.makedirs("t/a/b/c"); open("t/a/b/f", "w").close()
os.chmod("t/a/b/c", 0); os.chmod("t/a/b", 0o100); os.chmod("t/a", 0)
remove_tree(Path("t"))
print(os.path.exists("t"))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "False", done.stderr


@pytest.mark.parametrize("name", ["a", ".inspan-removing-1"])
def test_names_that_look_like_ours(tmp_path: Path, name: str) -> None:
    (tmp_path / "t" / name / name / name).mkdir(parents=True)
    (tmp_path / "t" / name / name / "f").write_text("x")
    remove_tree(tmp_path / "t")
    assert not (tmp_path / "t").exists()
