"""One case from its folder to its verdict, or to the reason why it cannot run here."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from cheats.cases import Placed
from cheats.driver import missing, show
from cheats.figures import Ran


def run_one(placed: Placed) -> Ran:
    """Run one case in a scratch directory; from a process's main thread, as the sandbox's launcher wants it."""
    norun = missing(placed.case.language, placed.case.check)
    if norun:
        return Ran(placed=placed, norun=norun)
    root = Path(tempfile.mkdtemp(prefix="cheats-"))
    root.chmod(0o755)
    try:
        return Ran(placed=placed, shown=show(placed, root))
    except pytest.skip.Exception as skipped:
        return Ran(placed=placed, norun=str(skipped).removeprefix("NORUN: "))
    finally:
        if (root / "links").exists():
            (root / "links").chmod(0o755)
        shutil.rmtree(root, ignore_errors=True)
