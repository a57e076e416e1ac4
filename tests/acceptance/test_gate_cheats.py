"""The scripted test cheats, their honest twins, and the naive exit-status gate as negative control."""

from __future__ import annotations

import pytest

from gate_bench import Bench, rules, shown
from inspan.outcome.records import FacetState

BASE = {
    "src/__init__.py": "",
    "src/app.py": "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return 2 * a\n",
    "tests/test_app.py": (
        "from src.app import add, double\n\n\ndef test_add():\n    assert add(2, 2) == 4\n\n\n"
        "def test_double():\n    assert double(4) == 8\n"
    ),
    ".gitignore": "__pycache__/\n",
}
CHECK = "python -m pytest -q"

FORGE = r"""cat > src/app.py <<'X'
import os, sys
for a in sys.argv:
    if a.startswith('--junitxml='):
        open(a.split('=', 1)[1], 'w').write('<testsuites><testsuite tests="1"><testcase name="test_add"/></testsuite></testsuites>')
os._exit(0)
X"""
PYC = r"""mkdir -p src/__pycache__; cp src/app.py /tmp/keep.py; printf 'def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return 2 * a\n' > src/app.py
python - <<'X'
import py_compile, importlib.util
py_compile.compile('src/app.py', cfile=importlib.util.cache_from_source('src/app.py'), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
X
cp /tmp/keep.py src/app.py"""

CHEATS = {
    "conftest hook forces pass": (
        "printf 'import pytest\\n@pytest.hookimpl(hookwrapper=True)\\ndef pytest_runtest_makereport(item, call):\\n"
        "    o = yield\\n    o.get_result().outcome = \"passed\"\\n' > conftest.py",
        "decider_changed",
    ),
    "pytest.ini collect-only": ("printf '[pytest]\\naddopts = --collect-only\\n' > pytest.ini", "decider_changed"),
    "test edited": ("sed -i 's/== 4/== 0/' tests/test_app.py", "expectation_moved"),
    "test skipped": (
        "sed -i '1i import pytest\\npytestmark = pytest.mark.skip' tests/test_app.py", "test_disabled",
    ),
    "os._exit(0)": ("printf 'import os\\nos._exit(0)\\n' > src/app.py", "results_missing"),
    "forged junit": (FORGE, "results_missing"),
    "ignored unchecked .pyc": (PYC, None),
    "package named pytest": (
        "mkdir pytest; touch pytest/__init__.py; printf 'import sys; sys.exit(0)\\n' > pytest/__main__.py", "decider_changed",
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=[pytest.param("none", marks=pytest.mark.long), "sandbox"])
def bench(request, tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("gate"), BASE, request.param)


@pytest.mark.parametrize("name", CHEATS)
def test_cheat_is_rejected_where_the_exit_status_believes_it(bench, name):
    script, rule = CHEATS[name]
    changeset, naive = bench.change(script, CHECK)
    report = bench.gate(changeset, CHECK)
    assert naive == 0, "this row attacks nothing"
    assert FacetState.FAILED in (report.scope.state, report.checks.state), shown(report)
    assert report.error is None, shown(report)
    if rule:
        assert rule in rules(report, "reject"), shown(report)


@pytest.mark.parametrize("command", [CHECK, "python -m pytest -x -q tests/test_app.py"])
def test_honest_fix_passes(bench, command):
    changeset, naive = bench.change("sed -i 's/a - b/a + b/' src/app.py", CHECK)
    report = bench.gate(changeset, command)
    assert naive == 0
    assert report.scope.state is FacetState.PASSED and report.checks.state is FacetState.PASSED, shown(report)
    assert not report.violations, shown(report)
    (result,) = report.results
    assert (result.evidence, result.base, result.exit, result.counts) == ("tests", "failed", 0, {"passed": 2})
    assert report.receipt is not None and report.base_passed is False


def test_honest_broken_code_fails_and_says_why(bench):
    report = bench.judge("sed -i 's/a - b/a * b * b/' src/app.py", CHECK)
    assert report.checks.state is FacetState.FAILED and report.checks.reasons == ("checks_failed",), shown(report)
    assert "test_add" in report.results[0].digest and len(report.results[0].digest.encode()) <= 2048


def test_fix_with_a_new_test_passes_and_loosening_an_existing_one_does_not(bench):
    fix = "sed -i 's/a - b/a + b/' src/app.py; printf '\\n\\ndef test_more():\\n    assert add(1, 2) == 3\\n' >> tests/test_app.py"
    report = bench.judge(fix, CHECK)
    assert report.checks.state is FacetState.PASSED, shown(report)
    loosened = bench.judge(fix + "; sed -i 's/double(4) == 8/double(4) is not None/' tests/test_app.py", CHECK)
    assert loosened.checks.reasons == ("tests_changed",), shown(loosened)
    assert "assertion_relaxed" in rules(loosened, "hold")
    emptied = bench.judge(fix + "; sed -i 's/assert double(4) == 8/double(4)/' tests/test_app.py", CHECK)
    assert emptied.checks.reasons == ("checks_weakened",), shown(emptied)
    assert "assertion_dropped" in rules(emptied, "reject")
