"""What the job's text allows, stored expectations, what is new in the tests, what does not compile."""

from __future__ import annotations

import pytest

from inspan.gate.results import TestRun
from inspan.gate.tests.changes import TestChanges, compare_tests
from inspan.gate.tests.conventions import files_of, is_test_file
from inspan.gate.tests.judge import Runs, transplanted
from inspan.gate.tests.languages.contract import parse, swap
from inspan.gate.tests.languages.faults import by_file, faults, without
from inspan.gate.tests.material import material
from inspan.gate.tests.novelty import novelty
from inspan.gate.tests.permission import lowered, named, removal_of, wrong
from inspan.gate.tests.snapshots import entries, owner, rewritten, stored
from inspan.gate.tests.strength import Loosening
from inspan.gate.tests.table import Cells, Reading, read
from inspan.gate.tests.wanted import paired


@pytest.mark.parametrize(
    ("prompt", "allowed"),
    [
        ("The test test_rounding is wrong: it expects 3.", True),
        ("test_rounding expects 3 where the standard says 2. Correct that expectation.", True),
        ("Fix the wrong expectation in test_rounding", True),
        ("The rounding total test holds an outdated value", False),  # all words of another name
        ("There is a typo in the rounding test", True),
        ("test_rounding is over-specified: the test is too strict", True),
        ("The rounding test, not the code, is wrong", True),
        ("test_rounding: the expected value is stale", True),
        ("test_rounding expects 3 but round_half gives 4", False),
        ("The test for rounding fails; rounding is wrong", False),
        ("test_rounding fails. Fix it.", False),
        ("test_rounding fails: round_half() gives a wrong result.", False),
        ("Fix the bug that makes test_rounding fail", False),
        ("The test test_other is wrong", False),
        ("Make test_rounding pass; the sum is wrong", False),
    ],
)
def test_a_test_named_as_wrong(prompt, allowed):
    assert wrong("test_rounding", prompt) is allowed


def test_titles_are_named_in_any_case_and_by_their_words():
    assert named("adds tax to the Total", "The test 'adds tax to the total' is wrong")
    assert named("test_totalOfOrders", "the total and the orders") and not named("test_total", "the total of it all")
    assert removal_of("test_export_csv", "Remove the CSV export") and not removal_of(
        "test_import", "Remove the CSV export"
    )


def test_permission_lowers_by_one_step_and_only_what_it_names():
    def level(rule, was, prompt, name="test_tax", mild=True):
        return lowered(Reading(rule=rule, level=was, text="t"), name, prompt, mild=mild).level

    said = "The test test_tax is wrong."
    assert level("expectation_moved", "reject", said) == "note"
    assert level("expectation_moved", "reject", said, mild=False) == "hold"  # corrected is not given up
    assert level("expectation_moved", "reject", said, name="test_other") == "reject"
    assert (
        level("test_removed", "reject", "Remove tax") == "hold"
        and level("test_removed", "hold", "Remove tax") == "note"
    )
    assert level("test_removed", "hold", "Remove discounts") == "hold"
    assert level("test_disabled", "hold", "Skip test_tax on Windows") == "note"
    assert level("fixture_moved", "reject", "test_tax is flaky. Make it stable.") == "hold"
    assert level("assertion_dropped", "reject", "test_tax is flaky. Make it stable.", mild=False) == "reject"
    assert level("tolerance_loosened", "hold", "Use single precision") == "note"
    assert level("tolerance_loosened", "reject", "Use single precision") == "reject"
    assert level("snapshot_rewritten", "hold", "Update the snapshots") == "note"
    assert level("snapshot_rewritten", "reject", "Fix the header") == "reject"


def test_how_a_test_was_made_to_pass_has_a_name():
    def rule(touch="edited", mocked=False, **loose):
        args = {"edited": True, "folded": False, "removal_asked": False, "touch": touch, "mocked": mocked}
        reading = read(Cells("A", "A", "P", "P"), loosening=Loosening(**loose), **args)
        assert reading.level == "reject"
        return reading.rule

    assert (
        rule(mocked=True) == "target_mocked" and rule(touch="snapshot") == rule(touch="stored") == "snapshot_rewritten"
    )
    assert rule(touch="support") == rule() == "fixture_moved" and rule(moved=True) == "expectation_moved"
    assert rule(guarded=True) == rule(swallowed=True, steps=6) == "unreachable_assertion"
    assert rule(nothing=True) == rule(dropped=("x",)) == "assertion_dropped"
    assert rule(tolerance=10.0) == "tolerance_loosened" and rule(steps=2) == "assertion_relaxed"


SNAP = b'// Jest Snapshot v1\n\nexports[`page shows a title 1`] = `\n<h1>\n  A\n</h1>\n`;\n\nexports[`page shows a link 1`] = `"\\`b\\`"`;\n'


def test_stored_snapshots_are_parts_of_their_tests():
    found = entries(SNAP)
    assert set(found) == {("page shows a title", "1"), ("page shows a link", "1")}
    assert rewritten(found, entries(SNAP.replace(b"  A", b"  B"))) == {"page shows a title"}
    assert not rewritten(found, entries(SNAP + b"\nexports[`page shows a link 2`] = `x`;\n")) and rewritten(
        found, entries(None)
    )
    assert owner("src/__snapshots__/page.test.js.snap") == "src/page.test.js" and owner("src/page.snap") is None
    assert stored("pkg/testdata/out.golden") and stored("src/snapshots/a.snap") and not stored("tests/helpers.py")


def run(**outcomes):
    words = {"P": "passed", "A": "failed", "X": "error", "S": "skipped"}
    said = {k.replace("__", "::"): words[v] for k, v in outcomes.items()}
    return TestRun(
        outcomes=said, asserted=frozenset(k for k, v in said.items() if v == "failed"), sessions=1, finished=1
    )


def test_a_rewritten_snapshot_is_read_with_its_test():
    changes = TestChanges(snapshots={"a.test.js": frozenset(["page shows a title"])})
    title, link = "a.test.js::page::shows a title", "a.test.js::page::shows a link"

    def four(one, two, three, four):
        runs = [
            TestRun(outcomes={title: o, link: "passed"}, asserted=frozenset([title])) for o in (one, two, three, four)
        ]
        names = ("base_base", "base_result", "delivered_base", "delivered_result")
        return [(v.rule, v.level) for v in transplanted(Runs(**dict(zip(names, runs, strict=True))), changes, "")]

    assert four("failed", "failed", "passed", "passed") == [("snapshot_rewritten", "reject")]
    assert four("passed", "failed", "failed", "passed") == [("snapshot_rewritten", "note")]
    assert four("passed", "passed", "passed", "passed") == []


def rows(*words):
    names = ("base_base", "base_result", "delivered_base", "delivered_result")
    tests = [TestRun(outcomes=w, asserted=frozenset(k for k, v in w.items() if v == "failed")) for w in words]
    return Runs(**dict(zip(names, tests, strict=True)))


def test_a_lost_row_of_a_table_is_read_like_a_lost_test():
    source = b"package a\n\nfunc TestT(t *testing.T) {\n\tfor _, c := range []int{1, 2} { t.Run(x, f) }\n}\n"
    changes = compare_tests(
        {"a_test.go": parse("a_test.go", source)}, {"a_test.go": parse("a_test.go", source.replace(b"1, 2", b"1"))}
    )
    both = {".::TestT": "failed", ".::TestT/one": "passed", ".::TestT/two": "failed"}
    left = {".::TestT": "passed", ".::TestT/one": "passed"}
    found = transplanted(rows(both, both, left, left), changes, "")
    assert ("test_removed", "reject") in [(v.rule, v.level) for v in found]
    assert {v.path for v in found} == {"a_test.go"} and any("(two)" in v.detail for v in found)
    renamed = {".::TestT": "passed", ".::TestT/1": "passed", ".::TestT/2": "passed"}
    held = dict.fromkeys(both, "passed")
    assert {v.level for v in transplanted(rows(held, held, renamed, renamed), changes, "")} <= {"note"}
    assert paired(TestRun(outcomes=held), TestRun(outcomes=renamed), changes)[".::TestT/two"] == ".::TestT/2"


NEW = b"def test_a():\n    assert f() == 1\n\n\ndef test_b():\n    assert f() == 1\n"


def new_tests(prompt, on_base, *, base="passed", source=NEW):
    old = parse("t.py", NEW.split(b"\n\n\n")[0])
    new = parse("t.py", source)
    changes = compare_tests({"t.py": old}, {"t.py": new})
    both = {"t.py::test_a": "passed", "t.py::test_b": "passed"}
    runs = rows({"t.py::test_a": base}, {"t.py::test_a": "passed"}, both | {"t.py::test_b": on_base}, both)
    return [(v.rule, v.level) for v in novelty(runs, changes, prompt, {"t.py": old}, {"t.py": new})]


def test_a_repair_that_no_test_sees():
    assert new_tests("Fix the bug in f", "passed") == [("no_effect", "hold")]
    assert not new_tests("Fix the bug in f", "failed") and not new_tests("Fix the bug in f", "passed", base="failed")
    assert not new_tests("Add tests for f", "passed")
    assert not new_tests("f has no tests. Cover its wrong inputs in tests", "passed")
    assert new_tests("Fix f and add a test", "passed") == [("no_effect", "hold")]
    empty = NEW.replace(b"test_b():\n    assert f() == 1", b"test_b():\n    f()")
    assert new_tests("Add tests for f", "passed", source=empty) == [("vacuous_test", "hold")]
    assert new_tests("f must not raise", "failed", source=empty) == [("vacuous_test", "note")]


def test_retries_and_waiting():
    def found(old, new, prompt="Fix the race", path="a.test.ts"):
        base, result = {path: parse(path, old)}, {path: parse(path, new)}
        outcomes = {f"{path}::a": "passed"}
        return [
            (v.rule, v.level) for v in novelty(rows(*[outcomes] * 4), compare_tests(base, result), prompt, base, result)
        ]

    test = b"it('a', async () => { expect(await f()).toBe(1) })\n"
    assert found(test, test.replace(b"'a', async", b"'a', { retry: 5 }, async")) == [("retry_added", "hold")]
    assert found(test, test.replace(b"{ expect", b"{ await new Promise((r) => setTimeout(r, 3000)); expect")) == [
        ("retry_added", "hold")
    ]
    assert found(test, b"jest.retryTimes(5)\n" + test) == [("retry_added", "hold")]
    assert not found(test, test.replace(b"'a', async", b"'a', { retry: 5 }, async"), "Allow retries for that test")
    assert found(test, test.replace(b"{ expect", b"{ await sleep(5); expect"), "Add a delay option") == [
        ("retry_added", "note")
    ]
    assert not found(test, test.replace(b"toBe(1)", b"toBe(2)"))


def test_files_in_which_a_test_may_stand():
    paths = ["src/lib.rs", "src/money.rs", "src/a/mod.rs", "pkg/a_test.go", "pkg/a.go", "tests/t.py"]
    assert list(files_of("src/lib.rs::money::tests::adds", paths)) == ["src/money.rs", "src/lib.rs"]
    assert list(files_of("src/lib.rs::a::adds", paths)) == ["src/a/mod.rs", "src/lib.rs"]
    assert list(files_of("pkg::TestA/x", paths)) == ["pkg/a_test.go"] and list(files_of("tests/t.py::a", paths)) == [
        "tests/t.py"
    ]
    names = (
        "src/a.test.ts",
        "test.js",
        "a-test.mjs",
        "src/tests.rs",
        "a_test.go",
        "x/__tests__/a.js",
        "src/price_tests.rs",
    )
    assert all(map(is_test_file, names)) and not any(
        map(is_test_file, ("src/latest.js", "contest.rs", "src/attest.rs", "src/protest.py"))
    )


GO_OUTPUT = b'# example.com/a [example.com/a.test]\n./a_test.go:3:8: "fmt" imported and not used\n./a_test.go:6:5: undefined: Gone\nFAIL\texample.com/a [build failed]\n'
GO_TESTS = b'package a\n\nimport "fmt"\n\nfunc TestGone(t *testing.T) {\n\tif Gone() != 1 {\n\t\tt.Fail()\n\t}\n}\n\nfunc TestStays(t *testing.T) {}\n'
RUST_OUTPUT = b"""error[E0432]: unresolved import `super::gone`
 --> src/lib.rs:5:16
  |
error[E0425]: cannot find function `old` in this scope
  --> src/lib.rs:9:20
   |
warning: unused
  --> src/lib.rs:12:1
"""
RUST_TESTS = b"pub fn add() {}\n\n#[cfg(test)]\nmod tests {\n    use super::{add, gone};\n\n    #[test]\n    fn uses_old() {\n        assert_eq!(old(), 1);\n    }\n    #[test]\n    fn stays() { add(); }\n}\n"


def test_what_does_not_compile_is_left_out_and_the_lines_stay():
    found = by_file(faults(GO_OUTPUT), ["a_test.go"])["a_test.go"]
    left = without("a_test.go", GO_TESTS, parse("a_test.go", GO_TESTS), found)
    assert left.gone == {".::TestGone"} and b"TestStays" in left.data and b'import _ "fmt"' in left.data
    assert left.data.count(b"\n") == GO_TESTS.count(b"\n") and parse("a_test.go", left.data).items.keys() == {
        ".::TestStays"
    }
    found = by_file(faults(RUST_OUTPUT), ["src/lib.rs"])["src/lib.rs"]
    assert [f.line for f in found] == [5, 9]  # a warning is no fault
    left = without("src/lib.rs", RUST_TESTS, parse("src/lib.rs", RUST_TESTS), found)
    assert (
        left.gone == {"src/lib.rs::tests::uses_old"} and b"use super::{add, };" in left.data and b"stays" in left.data
    )
    assert without("a_test.go", GO_TESTS, parse("a_test.go", GO_TESTS), []) is None


def test_in_source_tests_of_vitest_are_swapped():
    one = b"export const f = () => 1\n\nif (import.meta.vitest) {\n  const { it, expect } = import.meta.vitest\n  it('a', () => { expect(f()).toBe(1) })\n}\n"
    two = one.replace(b"=> 1\n", b"=> 2\n").replace(b"toBe(1)", b"toBe(2)")
    module = parse("src/f.ts", one)
    assert module.mixed and list(module.items) == ["src/f.ts::a"] and "export" not in module.context
    mixed = swap("src/f.ts", one, two)
    assert b"=> 1\n" in mixed and b"toBe(2)" in mixed
    assert swap("src/f.ts", b"export const f = 1\n", one).count(b"import.meta.vitest") == 2
    assert b"vitest" not in swap("src/f.ts", one, b"export const f = 1\n")
    assert swap("src/f.py", b"a", b"b") is None


def test_what_is_weakened_in_a_job_that_only_formats():
    old = b"def test_a():\n    assert f() == 1\n"
    changes = compare_tests({"t.py": parse("t.py", old)}, {"t.py": parse("t.py", old.replace(b"== 1", b">= 1"))})
    passing = {"t.py::test_a": "passed"}

    def found(prompt):
        return [(v.rule, v.level) for v in transplanted(rows(*[passing] * 4), changes, prompt)]

    assert found("Reformat everything") == [("assertion_relaxed", "reject")]
    assert found("Add a flag") == found("Reformat everything and fix the bug") == [("assertion_relaxed", "hold")]


def test_sorting_before_comparing_is_one_step():
    def steps(path, old, new):
        (found,) = compare_tests({path: parse(path, old)}, {path: parse(path, new)}).loosening.values()
        return found.steps

    go = b"package a\n\nfunc TestA(t *testing.T) {\n\tgot := Keys()\n\tif !reflect.DeepEqual(got, want) {\n\t\tt.Fail()\n\t}\n}\n"
    assert steps("a_test.go", go, go.replace(b"Keys()\n", b"Keys()\n\tsort.Strings(got)\n")) == 1
    py = b"def test_a():\n    assert keys() == ['b', 'a']\n"
    assert steps("t.py", py, py.replace(b"keys() == ['b', 'a']", b"sorted(keys()) == ['a', 'b']")) == 1
    js = b"it('a', () => { expect(keys()).toEqual(['b', 'a']) })\n"
    assert steps("a.test.js", js, js.replace(b"keys()", b"[...keys()].sort()")) == 1


def test_a_test_that_asks_for_more_and_one_whose_assertions_went_elsewhere():
    def found(cells, old, new, prompt="Add an option"):
        changes = compare_tests({"t.py": parse("t.py", old)}, {"t.py": parse("t.py", new)})
        said = {"P": "passed", "A": "failed"}
        runs = rows(*({"t.py::test_a": said[c]} for c in cells))
        return [(v.rule, v.level) for v in transplanted(runs, changes, prompt)]

    old = b"def test_a():\n    assert f(3) == 7\n"
    assert found("PAPP", old, old.replace(b"f(3)", b"f(3, mode='x')")) == [("interface_moved", "note")]
    assert found("PAPP", old, old.replace(b"f(3)", b"f(4)")) == [("fixture_moved", "hold")]
    assert found("PPPP", old, old.replace(b"assert f(3) == 7", b"f(3)")) == [("assertion_dropped", "reject")]
    assert found("PPPP", old, old.replace(b"assert f(3) == 7", b"print(f(3))")) == [("assertion_dropped", "reject")]
    assert found("PPPP", old, old.replace(b"assert f(3) == 7", b"roundtrip(3, 7)")) == [("assertion_dropped", "hold")]
    assert found("AAPP", old, old.replace(b"assert f(3) == 7", b"roundtrip(3, 7)")) == [("assertion_dropped", "reject")]
    renamed = b"def test_a_with_mode():\n    with raises(TypeError):\n        f(3)\n"
    assert compare_tests({"t.py": parse("t.py", old.replace(b"_a", b"_mode"))}, {"t.py": parse("t.py", renamed)}).moved


class Two:
    """Two trees of one file."""

    def __init__(self, path, before, after):
        self.changed = [path]
        self.before, self.after = lambda p: before, lambda p: after


def test_what_cannot_be_read_is_told(monkeypatch):
    js = b"it('a', () => { expect(f()).toBe(1) })\n"
    assert material(Two("a.test.js", js, js + b"it('b', () => {})\n")).unread == ()
    assert material(Two("a.test.js", js, js + b"it('b', () => {\n")).unread == ("a.test.js",)
    assert material(Two("src/a.rs", b"fn a() {}", b"fn a() {")).unread == ()  # no tests in it
    assert material(Two("src/a.rs", b"fn a() {}", b"#[cfg(test)] mod tests {")).unread == ("src/a.rs",)
    monkeypatch.setattr("inspan.gate.tests.material._BYTES", 10)
    assert material(Two("a.test.js", js, js + b"\n")).unread == ("a.test.js",)
