"""The public Python interface as a type checker sees it, from outside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

GOOD = """
from typing import assert_type

import inspan
from inspan.outcome.reasons import Verdict
from inspan.outcome.records import Change

run = inspan.run(inspan.Job(prompt="x", checks=(inspan.Check(name="unit", command="pytest -q"),)))
assert_type(run, inspan.Run)
assert_type(run.job, str)
for event in run:
    assert_type(event.kind, str)
outcome = run.outcome(timeout=1.0)
assert_type(outcome, inspan.Outcome)
assert_type(outcome.verdict, Verdict)
assert_type(outcome.change, Change | None)
assert_type(outcome.usage.input, int | None)
"""
BAD = {
    "a misspelt field": 'import inspan\ninspan.Job(promt="x")\n',
    "no prompt": "import inspan\ninspan.Job()\n",
    "an outcome read without a look": "import inspan\ndef f(o: inspan.Outcome) -> str:\n    return o.change.base\n",
    "an outcome written to": 'import inspan\ndef f(o: inspan.Outcome) -> None:\n    o.reason = "verified"\n',
}


def check(code: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    (tmp_path / "user.py").write_text(code)
    argv = [sys.executable, "-m", "mypy", "--strict", "--config-file", "/dev/null", str(tmp_path / "user.py")]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [*argv, "--cache-dir", str(root / ".mypy_cache")], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_what_a_user_writes_is_typed(tmp_path: Path) -> None:
    done = check(GOOD, tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", BAD)
def test_control_a_mistake_is_seen(name: str, tmp_path: Path) -> None:
    assert check(BAD[name], tmp_path).returncode == 1
