"""Which of the directories that are shown get an overlay of their own."""

from __future__ import annotations

from pathlib import Path

from inspan.sandbox.mounts import _plain_directories
from inspan.workspace.plan import Bind


def test_read_only_directories_without_mounts_in_them(tmp_path: Path) -> None:
    plain, link, file = tmp_path / "plain", tmp_path / "link", tmp_path / "file"
    plain.mkdir()
    link.symlink_to(plain)
    file.write_text("")
    shown = [
        Bind(source=str(plain), target="/opt/a"),
        Bind(source=str(link), target="/opt/b"),
        Bind(source=str(file), target="/opt/c"),
        Bind(source=str(plain), target="/opt/d", writable=True),
        Bind(source="/", target="/opt/e"),  # /proc is mounted in it
    ]
    assert _plain_directories(shown) == [0, 1]
