"""The caller's umask is the caller's: what the sandbox's identity passes must let it pass all the same."""

from __future__ import annotations

import os
from pathlib import Path

from inspan.workspace.layout import made


def test_a_passable_directory_is_passable_under_any_umask(tmp_path: Path) -> None:
    earlier = os.umask(0o077)
    try:
        made(tmp_path / "closed/open", 0o755)
        made(tmp_path / "private")
    finally:
        os.umask(earlier)
    modes = {name: (tmp_path / name).stat().st_mode & 0o777 for name in ("closed", "closed/open", "private")}
    assert modes == {"closed": 0o700, "closed/open": 0o755, "private": 0o700}
