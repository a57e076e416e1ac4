"""Results, completeness, probes, digests, receipts, set-up inputs."""

from __future__ import annotations

import json

import pytest

from inspan.gate.digest import LIMIT, digest
from inspan.gate.evidence_of_tests import unconventional
from inspan.gate.receipt import receipt
from inspan.gate.results import TestRun, read_lines
from inspan.gate.runners import detect
from inspan.gate.setup import setup_changed
from inspan.gate.tests.changes import TestChanges
from inspan.gate.tests.judge import Runs, complete, probed, transplanted
from inspan.gate.tests.languages import python
from inspan.gate.tests.languages.python import parse
from inspan.gate.tests.material import Material
from inspan.gate.tests.probes import plant
from inspan.outcome.records import CheckResult, FacetState, Violation
from inspan.redact import Redactor
from inspan.spec.job import Check, Job


def lines(*records, key="k"):
    return "\n".join(json.dumps({"key": key, **r}) for r in records).encode()


def read(data):
    return read_lines(data, "k")


START, FINISH = {"kind": "start"}, {"kind": "finish", "exit": 0}


def test_a_session_counts_only_when_it_ended_and_nothing_is_garbled():
    one = {"kind": "test", "id": "a::b", "outcome": "passed"}
    assert read(lines(START, one, FINISH)).complete
    assert not read(lines(START, one)).complete
    assert not read(lines(START, FINISH, START)).complete
    assert not read(lines(START, one, FINISH) + b"\n{half").complete
    assert not read(lines(START, {"kind": "item", "id": "a::c"}, one, FINISH)).complete
    assert not read(b"").complete
    assert not read(lines(START, one, FINISH) + b"\n" + lines(START, one, FINISH, key="forged")).complete
    assert not read(lines(START, {"kind": "test", "id": "a::b", "outcome": "wonderful"}, FINISH)).complete


def test_a_test_that_ran_twice_has_its_worse_outcome():
    two = [{"kind": "test", "id": "a::b", "outcome": o} for o in ("failed", "passed")]
    assert read(lines(START, *two, FINISH)).outcomes == {"a::b": "failed"}


def test_cells():
    run = TestRun(
        outcomes={"t.py::a": "failed", "t.py::b": "failed", "t.py::c": "xpassed", "t.py::d": "passed"},
        asserted=frozenset(["t.py::a"]),
        collect={"u.py": ("failed", "ImportError"), "v.py": ("skipped", "")},
    )
    assert [run.cell(i) for i in ("t.py::a", "t.py::b", "t.py::c", "t.py::d", "t.py::e", "u.py::a", "v.py::a")] == list(
        "AXSP-XS"
    )


def run(*ids):
    return TestRun(outcomes=dict.fromkeys(ids, "passed"), sessions=1, finished=1)


def test_completeness():
    base = run("t.py::a", "t.py::b", "t.py::p[1]", "t.py::p[2]")
    assert not complete(base, base, TestChanges())
    silent = complete(base, run("t.py::b", "t.py::p[1]", "t.py::p[2]"), TestChanges())
    assert [(v.rule, v.level) for v in silent] == [("results_missing", "reject")]
    less = run("t.py::a", "t.py::b", "t.py::p[1]")
    assert not complete(base, less, TestChanges())  # fewer parameters are read in the table
    fewer = transplanted(Runs(base_base=base, delivered_result=less, base_result=base), TestChanges(), "")
    assert [(v.rule, v.level, v.detail[:5]) for v in fewer] == [("test_removed", "hold", "p (2)")]
    assert not complete(base, run("t.py::a", "t.py::b", "t.py::p[3]", "t.py::p[4]"), TestChanges())
    removed = TestChanges(removed=frozenset(["t.py::a"]))
    assert not complete(base, run("t.py::b", "t.py::p[1]", "t.py::p[2]"), removed)


SOURCE = b'''import pytest


class TestX:
    def test_a(self):
        """Doc."""
        assert f(2) == 4


@pytest.mark.xfail
def test_known():
    assert f(1) == 1


def test_loop():
    for i in ():
        assert i == 1


def test_b():
    assert f("x") == "y"  # why


def test_c():
    if f(0):
        return
    assert f(1) == 1
'''


def test_probes_are_copies_with_one_inverted_expectation_behind_their_original():
    module = parse("t.py", SOURCE)
    planted = plant(python, module, SOURCE, list(module.items), 9)
    assert [(p.id, p.line) for p in planted.probes] == [
        ("t.py::TestX::test_a_again", "assert f(2) == 101"),
        ("t.py::test_b_again", "assert f(\"x\") == 'y~'  # why"),
    ]
    again = parse("t.py", planted.data)
    assert list(again.items)[:2] == ["t.py::TestX::test_a", "t.py::TestX::test_a_again"]
    scope = {"f": lambda x: {2: 4, "x": "y"}.get(x), "pytest": pytest}
    exec(compile(planted.data, "t", "exec"), scope)
    scope["test_b"]()
    with pytest.raises(AssertionError):
        scope["test_b_again"]()
    assert plant(python, module, SOURCE, ["t.py::test_loop", "t.py::test_c", "t.py::test_known"], 9) is None


def test_a_probe_counts_only_beside_its_passing_original():
    module = parse("t.py", SOURCE)
    probes = plant(python, module, SOURCE, ["t.py::test_b"], 1).probes
    assert probed(run("t.py::test_b", "t.py::test_b_again"), probes) == list(probes)
    assert not probed(run("t.py::test_b_again"), probes)
    assert not probed(TestRun(outcomes={"t.py::test_b": "passed", "t.py::test_b_again": "failed"}), probes)


def test_digest_is_short_redacted_and_says_what_failed():
    secret = "sk-" + "a" * 30
    output = (
        "noise\n" * 5000 + f"E   AssertionError: {secret}\nFAILED tests/test_a.py::test_b - x\n1 failed in 1s\n"
    ).encode()
    text = digest(output, runner=detect("pytest"), run=None, redactor=Redactor([secret]))
    assert "FAILED tests/test_a.py::test_b" in text and secret not in text and "noise" not in text
    assert len(digest("é\n".encode() * 9000, runner=None, run=None, redactor=Redactor()).encode()) <= LIMIT
    unit = b"FAIL: test_a (m.T)\n------\nTraceback\n  File x\nAssertionError: 1 != 2\n\n======\nRan 1 test\n\nFAILED (failures=1)\n"
    assert "AssertionError: 1 != 2" in digest(unit, runner=detect("python -m unittest"), run=None, redactor=Redactor())
    assert digest(b"one\ntwo\n", runner=None, run=None, redactor=Redactor()) == "one\ntwo"
    assert "\x1b" not in digest(b"\x1b[31mred\x1b[0m", runner=None, run=None, redactor=Redactor())


def test_receipt_binds_what_decides_and_nothing_else():
    job = Job(prompt="p", checks=(Check(name="a", command="true"),), scope=("src/**",))
    result = CheckResult(name="a", command="true", state=FacetState.PASSED, exit=0, seconds=1.0)
    violation = Violation(path="a", rule="b")
    args = {
        "base": "1",
        "result_tree": "2",
        "job": job,
        "setup": (),
        "checks": [result],
        "violations": [violation],
    }
    value = receipt(**args)
    assert value.startswith("sha256:") and value == receipt(**args)
    slower = CheckResult(
        name="a", command="true", state=FacetState.PASSED, exit=0, seconds=9.0, digest="x", artifact="y"
    )
    assert value == receipt(**args | {"checks": [slower]})
    for other in (
        {"base": "3"}, {"result_tree": "3"}, {"job": Job(prompt="p", scope=("**",))}, {"setup": ("k",)}, {"setup": ("k", "l")},
        {"checks": []}, {"violations": []}, {"judgements": [{"verdict": "ok"}]},
    ):  # fmt: skip
        assert value != receipt(**args | other), other


def test_setup_inputs():
    assert setup_changed(["src/a.py", "requirements-dev.txt", "web/package-lock.json"]) == (
        "requirements-dev.txt",
        "web/package-lock.json",
    )
    assert setup_changed(["src/a.py", "vendor/x"], ["vendor/**"]) == ("vendor/x",)
    assert not setup_changed(["src/a.py"])


def test_a_test_beside_other_code_is_held_when_it_changes():
    before = b"def f():\n    return 1\n\n\ndef test_f():\n    assert f() == 2\n"

    class Two:
        changed = ("app.py",)

        def __init__(self, after):
            self.before, self.after = lambda path: before, lambda path: after

    seen = run("app.py::test_f")
    nothing = Material(changes=TestChanges(), base={}, result={}, whole=(), inside=())
    assert not unconventional(Two(before.replace(b"return 1", b"return 2")), seen, nothing)
    (found,) = unconventional(Two(before.replace(b"== 2", b"== 1")), seen, nothing)
    assert (found.rule, found.level) == ("test_edited", "hold")
