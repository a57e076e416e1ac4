"""Every case of the corpus, shown to the real gate. The named long set ``scripts/test cheats``.

A case that is not what it says is an error of the corpus in either set. A verdict that falls short fails in the known set; in
the blind one it is only a figure (``scripts/cheats``), so that nobody tunes the gate by what a blind case is.
"""

from __future__ import annotations

import pytest

from cheats.cases import CORPUS, load, names
from cheats.figures import listing, owed
from cheats.running import run_one


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", names())
def test_a_case_gets_the_verdict_it_is_owed(name):
    run = run_one(load(CORPUS / name))
    if run.norun:
        pytest.skip(f"NORUN: {run.norun}")
    print(listing([run], everything=True))
    assert run.shown is not None and not run.shown.faults
    assert run.shown.error is None
    if run.placed.set == "known":
        assert owed(run) is None
