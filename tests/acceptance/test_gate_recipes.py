"""unittest, planted verdicts, editable installs, timeouts, scope: the gate end to end on what else people have."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gate_bench import Bench, rules, shown, write
from inspan.outcome.records import FacetState
from inspan.sandbox.tools import toolset
from inspan.spec.limits import Limits

UNIT = {
    "calc.py": "def add(a, b):\n    return a - b\n\n\ndef neg(a):\n    return -a\n",
    "tests/__init__.py": "",
    "tests/test_calc.py": (
        "import unittest\n\nimport calc\n\n\nclass TestCalc(unittest.TestCase):\n    def test_add(self):\n"
        "        self.assertEqual(calc.add(1, 2), 3)\n\n    def test_neg(self):\n        self.assertEqual(calc.neg(4), -4)\n"
    ),
    "check.sh": "#!/bin/sh\nexec python -m unittest discover\n",
}
DISCOVER = "python -m unittest discover"
FIX = "sed -i 's/a - b/a + b/' calc.py"


@pytest.fixture(scope="module", params=[pytest.param("none", marks=pytest.mark.long), "sandbox"])
def unit(request, tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("unit"), UNIT, request.param)


def test_unittest_honest_fix_passes_with_per_test_results(unit):
    report = unit.judge(FIX, DISCOVER)
    assert report.checks.state is FacetState.PASSED and not report.violations, shown(report)
    assert (report.results[0].evidence, report.results[0].counts) == ("tests", {"passed": 2})


@pytest.mark.parametrize(
    ("script", "rule"),
    [
        ("sed -i 's/return a - b/import os; os._exit(0)/' calc.py", "results_missing"),
        (
            "sed -i 's/    def test_add/    @unittest.skip(\"x\")\\n    def test_add/' tests/test_calc.py",
            "test_disabled",
        ),
        ("sed -i 's/, 3)/, -1)/' tests/test_calc.py", "expectation_moved"),
        (
            "printf 'import unittest\\nunittest.TestCase.assertEqual = lambda *a, **k: None\\n' | cat - calc.py > x && mv x calc.py",
            "runner_patched",
        ),
    ],
)
def test_unittest_cheats_are_rejected(unit, script, rule):
    changeset, naive = unit.change(script, DISCOVER)
    report = unit.gate(changeset, DISCOVER)
    assert naive == 0, "this row attacks nothing"
    assert report.checks.state is FacetState.FAILED and rule in rules(report, "reject"), shown(report)


def test_planted_verdicts_and_an_edited_check_script(unit):
    script = (
        'mkdir -p .inspan verdict; echo accepted > .inspan/verdict; echo \'{"verdict": "accepted"}\' > verdict/record.json;'
        " echo '**' >> .inspan/allow; printf '#!/bin/sh\\nexit 0\\n' > check.sh"
    )
    report = unit.judge(script, "sh check.sh", scope=("calc.py",))
    assert report.scope.state is FacetState.FAILED
    assert set(report.scope.reasons) == {"gate_tampered", "out_of_scope"}, shown(report)
    assert "check.sh" in {v.path for v in report.violations if v.rule == "decider_changed"}
    # Negative control: an honest failure carries no accusation.
    honest = unit.judge("echo '# x' >> calc.py", "sh check.sh", scope=("calc.py",))
    assert honest.scope.state is FacetState.PASSED and honest.checks.reasons == ("checks_failed",), shown(honest)
    assert not honest.violations and honest.results[0].evidence == "exit" and honest.results[0].digest


def test_scope_permission_and_read_only(unit):
    changeset, _ = unit.change(FIX + "; mkdir -p docs; echo x > docs/a.md; echo x > conftest.py")
    report = unit.gate(changeset, scope=("calc.py", "docs/**"), may_change=("conftest.py",))
    assert report.scope.state is FacetState.PASSED and rules(report, "note") == {"decider_changed"}, shown(report)
    assert report.checks.state is FacetState.NOT_REQUIRED
    assert unit.gate(changeset, scope=("docs/**",), may_change=("conftest.py",)).scope.reasons == ("out_of_scope",)
    assert unit.gate(changeset, scope=("calc.py", "docs/**", "conftest.py")).scope.reasons == ("gate_tampered",)
    assert "out_of_scope" in unit.gate(changeset, read_only=True).scope.reasons


def test_an_empty_change_is_judged_by_base(unit):
    report = unit.judge("true", "true", "sh check.sh")
    assert report.scope.state is FacetState.PASSED and report.base_passed is False, shown(report)
    assert [r.state for r in report.results] == [FacetState.PASSED, FacetState.FAILED]


def test_a_check_that_hangs_fails_and_says_so(unit):
    changeset, _ = unit.change("echo x > hang")
    report = unit.gate(changeset, "test ! -e hang || sleep 600", timeout=2)
    assert report.checks.reasons == ("checks_failed",) and report.results[0].exit is None, shown(report)
    assert "did not end within 2 s" in report.results[0].digest


def test_a_check_that_takes_too_much_fails_and_says_so(unit):
    changeset, _ = unit.change("echo x > hungry")
    fill = "while [ $i -lt 1000 ] && head -c 1048576 /dev/zero > f$i; do i=$((i+1)); done; sleep 200"
    unit.extra["limits"] = Limits(workspace_bytes=8 << 20)
    try:
        report = unit.gate(changeset, f"test ! -e hungry || {{ i=0; {fill}; }}")
    finally:
        del unit.extra["limits"]
    assert report.checks.reasons == ("checks_failed",), shown(report)
    assert "exceeded the limit workspace_bytes" in report.results[0].digest


PACKAGE = {
    "pyproject.toml": '[project]\nname = "pkg"\nversion = "1"\n[build-system]\nrequires = []\nbuild-backend = "none"\n',
    "src/pkg/__init__.py": "def add(a, b):\n    return a + b\n",
    "tests/test_pkg.py": "from pkg import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    ".gitignore": ".venv/\n__pycache__/\n",
}


@pytest.mark.parametrize("level", ["none", "sandbox"])
def test_editable_install_in_the_checkout(level, tmp_path):
    """The environment's path file names the checkout: at ``sandbox`` that is the workspace, at ``none`` it is not."""
    checkout = tmp_path / "repo"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", checkout / ".venv"], check=True
    )
    (packages,) = (checkout / ".venv/lib").glob("python3*/site-packages")
    ours = next(p for p in sys.path if p.endswith("site-packages"))
    write(packages, {"__editable__.pkg-1.pth": f"{checkout}/src\n", "runner.pth": f"{ours}\n"})
    write(
        checkout / ".venv/bin",
        {"pytest": f"#!{checkout}/.venv/bin/python\nimport pytest\nraise SystemExit(pytest.main())\n"},
    )
    (checkout / ".venv/bin/pytest").chmod(0o755)
    path = f"{checkout}/.venv/bin:/usr/bin:/bin"
    bench = Bench(tmp_path, PACKAGE, level, path=path, share=(".venv",) if level != "none" else ())
    extra = toolset(f"{ours}/../../../bin:{path}", checkout=str(checkout), home=os.path.expanduser("~"))
    bench.tools = type(bench.tools)(binds=extra.binds, path=path, names=extra.names)
    broken = bench.judge("sed -i 's/a + b/a - b/' src/pkg/__init__.py", "pytest -q")
    right = bench.judge("sed -i 's/a + b/b + a/' src/pkg/__init__.py", "pytest -q")
    if level == "none":
        for report in (broken, right):
            assert report.checks.state is FacetState.NOT_EVIDENCED, shown(report)
            assert report.checks.reasons == ("tests_other_tree",)
        naive = subprocess.run(
            [checkout / ".venv/bin/pytest", "-q", checkout / "tests"], capture_output=True, cwd=tmp_path
        )
        assert naive.returncode == 0, "the environment does test the checkout"
    else:
        assert broken.checks.reasons == ("checks_failed",), shown(broken)
        assert right.checks.state is FacetState.PASSED and right.results[0].counts == {"passed": 1}, shown(right)
