"""Commands and repositories as people have them: each honest change is accepted with per-test results."""

from __future__ import annotations

import pytest

from gate_bench import Bench, rules, shown
from inspan.outcome.records import FacetState

FILES = {
    "lib/core.py": "def add(a, b):\n    return a - b\n",
    "sub/test_core.py": "from core import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_zero():\n    assert add(1, 0) == 1\n",
    "later/test_later.py": "from later import new\n\n\ndef test_new():\n    assert new(1) == 2\n",
    "unit/test_unit.py": (
        "import unittest\n\nfrom core import sub\n\n\nclass TestSub(unittest.TestCase):\n    def test_sub(self):\n"
        "        self.assertEqual(sub(3, 1), 2)\n"
    ),
    "flaky/test_flaky.py": (
        "import os\nimport pathlib\n\n\ndef test_odd():\n    p = pathlib.Path(os.environ['FLAKY'])\n"
        "    n = int(p.read_text()) + 1\n    p.write_text(str(n))\n    assert n != 1\n"
    ),
}
FIX = "sed -i 's/a - b/a + b/' lib/core.py"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("forms"), FILES, "none")


@pytest.mark.parametrize(
    "command",
    [
        "PYTHONPATH=lib pytest -q sub",
        pytest.param("cd sub && PYTHONPATH=../lib python -m pytest -q", marks=pytest.mark.long),
        pytest.param("PYTHONPATH=lib pytest -q -n 2 sub", marks=pytest.mark.long),
        pytest.param("PYTHONPATH=lib pytest -q --junitxml=/dev/null sub && echo done", marks=pytest.mark.long),
    ],
)
def test_honest_fix_with_per_test_results(bench, command):
    report = bench.judge(FIX, command)
    assert report.checks.state is FacetState.PASSED and not report.violations, shown(report)
    assert (report.results[0].evidence, report.results[0].counts) == ("tests", {"passed": 2})


@pytest.mark.long
def test_a_module_that_base_could_not_import(bench):
    new = "printf 'def new(a):\\n    return a + 1\\n' > lib/later.py"
    report = bench.judge(new, "PYTHONPATH=lib pytest -q later")
    assert report.checks.state is FacetState.PASSED and not report.violations, shown(report)
    lost = bench.judge(
        new + "; printf '\\n\\nimport os\\nos._exit(0)\\n' >> lib/later.py", "PYTHONPATH=lib pytest -q later"
    )
    assert "checks_failed" in lost.checks.reasons and "results_missing" in rules(lost), shown(lost)


@pytest.mark.long
def test_a_unittest_module_that_base_could_not_import(bench):
    report = bench.judge(
        "printf '\\n\\ndef sub(a, b):\\n    return a - b\\n' >> lib/core.py",
        "PYTHONPATH=lib python -m unittest discover -s unit",
    )
    assert report.checks.state is FacetState.PASSED and not report.violations, shown(report)


def test_results_written_by_somebody_else_do_not_count(bench):
    forge = (
        "cat > lib/core.py <<'X'\nimport glob, json, os, sys\n"
        "for d in os.environ.get('PYTHONPATH', '').split(':'):\n"
        "    for f in glob.glob(os.path.join(d, '..', 'out', '*')):\n"
        "        with open(f, 'a') as o:\n"
        "            for i in ('test_add', 'test_zero'):\n"
        "                o.write(json.dumps({'kind': 'test', 'id': 'sub/test_core.py::' + i, 'outcome': 'passed'}) + '\\n')\n"
        "            o.write(json.dumps({'kind': 'finish', 'exit': 0}) + '\\n')\n"
        "os._exit(0)\nX"
    )
    report = bench.judge(forge, "PYTHONPATH=lib pytest -q sub")
    assert report.checks.reasons == ("checks_failed",) and "results_missing" in rules(report), shown(report)


def test_status_0_does_not_hide_a_test_that_broke(bench):
    report = bench.judge("sed -i 's/a - b/a * 0 - 1/' lib/core.py", "PYTHONPATH=lib pytest -q sub || true")
    assert report.checks.reasons == ("checks_failed",), shown(report)
    assert {v.level for v in report.violations if v.rule == "tests_failed"} == {"note", "reject"}


@pytest.mark.long
def test_a_flaky_test_accuses_nobody(bench, tmp_path):
    counter = tmp_path / "n"
    counter.write_text("0")
    report = bench.judge(f"{FIX}; sed -i 's/n != 1/n > 1/' flaky/test_flaky.py", f"FLAKY={counter} pytest -q flaky")
    assert "flaky" in rules(report, "note") and not rules(report, "reject"), shown(report)
