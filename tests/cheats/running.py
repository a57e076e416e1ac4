"""One case from its folder to its verdict, or to the reason why it cannot run here."""

from __future__ import annotations

import shutil
import tempfile
import traceback
from pathlib import Path

import pytest

from cheats.cases import Placed
from cheats.driver import Shown, missing, show
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
    except (
        Exception
    ) as error:  # one case that cannot even be shown must not end the others; it is never taken for a verdict
        fell = "".join(traceback.format_exception_only(error)).strip()
        return Ran(
            placed=placed, shown=Shown(name=placed.name, verdict="hold", faults=(f"could not be shown: {fell}",))
        )
    finally:
        if (root / "links").exists():
            (root / "links").chmod(0o755)
        shutil.rmtree(root, ignore_errors=True)
