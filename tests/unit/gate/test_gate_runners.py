"""Known runners: found in commands, read from what the real programs left, and never read as more than was there.

``recorded`` holds what the pinned programs wrote (jest 30.5, vitest 4.1, node 20, go 1.27, cargo 1.95), by a run that
``tests/acceptance/test_gate_runners_inside.py`` repeats.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspan.gate.digest import LIMIT, digest
from inspan.gate.runners import detect, either, read_results
from inspan.gate.runners.contract import Left
from inspan.redact import Redactor
from support.runner_bench import run

RECORDED = Path(__file__).parent / "recorded"
COMMANDS = {
    "jest": "jest", "vitest": "vitest", "node": "node --test", "go": "go test ./...", "cargo": "cargo test",
    "cargo-unbuilt": "cargo test",
}  # fmt: skip


def left(name: str) -> Left:
    found = json.loads((RECORDED / f"{name}.json").read_text())
    files = {name: text.encode() for name, text in found["files"].items()}
    return Left(files=files, output=found["output"].encode(), key="KEY", root="/workspace")


def read(name: str, **changed):
    runner = detect(COMMANDS[name])
    assert runner is not None
    return read_results(runner, msgspec.structs.replace(left(name), **changed))


JS = {
    "adds two prices": "A", "edges::names a type error": "X", "edges::later": "S", "edges::some day": "S", "edges::zero": "P",
}  # fmt: skip
CELLS = {
    "jest": {f"lib/price.test.js::{k}": v for k, v in {**JS, "keeps a picture": "A"}.items()}
    | {"lib/broken.test.js::never": "X"},
    "vitest": {f"src/price.test.ts::{k}": v for k, v in {**JS, "counts what it asserts": "A"}.items()}
    | {"src/broken.test.ts::never": "X"},
    "node": {f"lib/price.test.js::{k}": v for k, v in {**JS, "has parts": "P", "has parts::first": "P"}.items()}
    | {"lib/ended.test.js::(file)": "P", "lib/ended.test.js::first": "-", "lib/broken.test.js::x": "X"},
    "go": {
        "price::TestTotal": "A", "price::TestTable/zero": "P", "price::TestTable/two_and_two": "A", "price::TestTable": "A",
        "price::TestLater": "S", "price::ExampleTotal": "P", "stock::TestBefore": "P", "stock::TestPanic": "A",
        "stock::TestNever": "X", "broken::TestNever": "X", "empty::TestNever": "-",
    },
    "cargo": {
        "shop/src/lib.rs::tests::adds": "A", "shop/src/lib.rs::tests::unwraps": "A", "shop/src/lib.rs::tests::writes": "P",
        "shop/src/lib.rs::tests::later": "S", "shop/src/lib.rs::tests::panics": "P", "shop/tests/api.rs::zero": "P",
        "shop/src/lib.rs::doc::total": "A", "shop/src/lib.rs::doc::total[2]": "P", "shop/tests/api.rs::gone": "-",
    },
    "cargo-unbuilt": {"shop/src/lib.rs::tests::adds": "X", "shop/tests/api.rs::zero": "X"},
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_what_the_real_program_left_is_read_test_by_test(name):
    run = read(name)
    assert {i: run.cell(i) for i in CELLS[name]} == CELLS[name]
    assert run.outcomes.keys() <= CELLS[name].keys() and not run.garbled
    assert run.complete is (name != "cargo-unbuilt")
    assert run.source == ("output" if name.startswith(("go", "cargo")) else "reporter")


@pytest.mark.parametrize("name", ["jest", "vitest", "node", "go", "cargo"])
def test_nothing_under_another_key_is_believed(name):
    run = read(name, key="OTHER")
    assert not run.outcomes and not run.complete


@pytest.mark.parametrize("name", ["jest", "vitest", "node"])
def test_a_session_that_did_not_finish_is_not_complete(name):
    files = {n: b"".join(d.splitlines(keepends=True)[:-1]) for n, d in left(name).files.items()}
    assert b'"finish"' in b"".join(left(name).files.values()) and not read(name, files=files).complete


def _ended(files: dict[str, bytes], status: int) -> dict[str, bytes]:
    return {n: f"KEY\n{status}\n".encode() if n.endswith(".ended") else d for n, d in files.items()}


def _good_go() -> dict[str, bytes]:
    """The evidence of one passing package."""
    out = b"\x16=== RUN   TestA\n\x16--- PASS: TestA (0.00s)\n\x16=== RUN   TestB\n\x16--- PASS: TestB (0.00s)\n\x16PASS\n"
    return {
        "gotest-1": b"", "gotest-1.begun": b"KEY\n/workspace/p\n", "gotest-1.out": out, "gotest-1.ended": b"KEY\n0\n",
        "gotest-1.log": b"# test log\n", "go-1.ended": b"KEY\n0\n",
    }  # fmt: skip


def _good_cargo() -> dict[str, bytes]:
    """The evidence of one passing test program, and of one with doc tests."""
    result = b"\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n"
    doc = b"\nrunning 2 tests\ntest src/lib.rs - f (line 3) ... ok\ntest src/lib.rs - f (line 9) ... ok\n" + result
    return {
        "libtest-1.begun": b"KEY\nlibtest\n/workspace/src/lib.rs\n", "libtest-1.log": b"ok tests::a\nok tests::b\n",
        "libtest-1.out": b"\nrunning 2 tests\ntest tests::a ... ok\ntest tests::b ... ok\n" + result,
        "libtest-1.ended": b"KEY\n0\n", "libtest-2.begun": b"KEY\ndoc\n/workspace\n", "libtest-2.out": doc,
        "libtest-2.ended": b"KEY\n0\n", "cargo-1.ended": b"KEY\n0\n",
    }  # fmt: skip


GOOD = {"go": _good_go(), "cargo": _good_cargo()}


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("without", [".begun", ".out", ".log", ".ended"])
def test_a_test_program_that_left_less_is_not_complete(name, without):
    files = GOOD[name]
    assert read(name, files=files).complete
    for gone in [n for n in files if n.endswith(without) and not n.startswith((f"{name}-", "libtest-2.log"))]:
        run = read(name, files={n: d for n, d in files.items() if n != gone})
        assert not run.complete or len(run.outcomes) < len(read(name, files=files).outcomes), gone


@pytest.mark.parametrize("name", GOOD)
@given(cut=st.integers(min_value=0, max_value=400))
def test_a_program_that_ends_early_with_success_is_never_complete(name, cut):
    """Whatever it printed until then: the log of its regular end, or what the log and the counts say together, is missing."""
    for which in [n for n in GOOD[name] if n.endswith(".out")]:
        out = GOOD[name][which][: min(cut, len(GOOD[name][which].rstrip()) - 2)]
        files = {**GOOD[name], which: out} | ({"gotest-1.log": b""} if name == "go" else {})
        run = read(name, files=files)
        assert not run.complete or len(run.outcomes) < len(read(name, files=GOOD[name]).outcomes)


@pytest.mark.parametrize("at", range(6))
def test_an_outcome_that_nothing_began_is_garbled(at):
    lines = GOOD["go"]["gotest-1.out"].splitlines(keepends=True)
    lines.insert(at, b"\x16--- PASS: TestC (0.00s)\n")
    run = read("go", files={**GOOD["go"], "gotest-1.out": b"".join(lines)})
    assert run.garbled and not run.complete and "p::TestC" not in run.outcomes


HOSTILE = st.sampled_from(
    [
        b"\x16=== RUN   TestTotal\n", b"\x16--- PASS: TestTotal (0.00s)\n", b"\x16PASS\n", b"--- PASS: TestTotal (0.00s)\n",
        b"test tests::adds ... ok\n", b"running 5 tests\n", b"running 0 tests\n", b"KEY\n", b"KEY\n0\n",
        b"test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        b"test shop/src/lib.rs - total (line 3) ... ok\n", b'{"kind":"test","id":"x::y","outcome":"passed"}\n', b"\n",
    ]
)  # fmt: skip


@settings(max_examples=150)
@given(data=st.data(), name=st.sampled_from(["go", "cargo"]))
def test_lines_that_the_product_prints_make_no_failure_a_pass(data, name):
    """Forged lines anywhere in the output, and even a status turned to 0: what failed is not read as passed and complete."""
    real, found = read(name), left(name)
    failing = [i for i in real.outcomes if real.cell(i) == "A"]
    files = dict(found.files)
    for which in [n for n in files if n.endswith(".out")]:
        lines = files[which].splitlines(keepends=True)
        for _ in range(data.draw(st.integers(0, 3))):
            lines.insert(data.draw(st.integers(0, len(lines))), data.draw(HOSTILE))
        files[which] = b"".join(lines)
    run = read(name, files=_ended(files, 0) if data.draw(st.booleans()) else files)
    assert not run.complete or all(run.cell(i) != "P" for i in failing)
    if name == "cargo":
        units = {i for i in run.outcomes if "::doc::" not in i}
        assert units <= real.outcomes.keys()  # the log names them, not what was printed


@given(lines=st.lists(st.binary(max_size=60), max_size=5))
def test_lines_without_the_key_never_make_results(lines):
    data = b"\n".join([*lines, b'{"kind":"test","id":"a::b","outcome":"passed"}', b'{"kind":"finish"}'])
    for name in ("jest", "vitest", "node"):
        run = read(name, files={f"results-{name}": data})
        assert not run.outcomes and not run.complete and run.garbled


CASE = st.fixed_dictionaries(
    {"classname": st.sampled_from(["a.B", "c"]), "name": st.text("xyz &<", min_size=1, max_size=4)},
    optional={"file": st.just("/workspace/t/a_test.rb")},
)


@given(cases=st.lists(st.tuples(CASE, st.sampled_from(["", "failure", "error", "skipped"])), max_size=6))
def test_a_junit_file_gives_what_stands_in_it_and_no_more(cases):
    from xml.etree import ElementTree as Xml

    suite = Xml.Element("testsuite")
    expected: dict[str, set[str]] = {}
    for attributes, inner in cases:
        element = Xml.SubElement(suite, "testcase", attributes)
        if inner:
            Xml.SubElement(element, inner, {"message": "why"})
        where = "t/a_test.rb" if "file" in attributes else attributes["classname"]
        cell = {"": "P", "failure": "A", "error": "X", "skipped": "S"}[inner]
        expected.setdefault(f"{where}::{attributes['name']}", set()).add(cell)
    runner = detect("rake test", report="out.xml")
    found = Left(files={"report-1-KEY": Xml.tostring(suite)}, output=b"", key="KEY", root="/workspace")
    run = read_results(runner, found)
    assert run.complete is bool(cases) and run.source == "report" and run.outcomes.keys() == expected.keys()
    for test_id, cells in expected.items():
        assert run.cell(test_id) == next(c for c in "XASP" if c in cells)


@pytest.mark.parametrize(
    "data",
    [b"", b"<testsuite>", b"not xml", b'<!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase name="x"/></testsuite>'],
)
def test_a_junit_file_that_cannot_be_read_is_no_evidence(data):
    runner = detect("rake test", report="out.xml")
    run = read_results(runner, Left(files={"report-1-KEY": data}, output=b"", key="KEY", root="/"))
    assert run.loaded and not run.complete and not run.outcomes


PACKAGE = b'{"scripts": {"test": "jest --ci", "unit": "npm run -s deep", "deep": "vitest run", "lint": "eslint ."}}'
FILES = {
    "package.json": PACKAGE,
    "web/package.json": b'{"scripts": {"test": "node --test"}}',
    "Makefile": b"GO ?= go\nall: lint test\nlint:\n\teslint .\ntest:\n\tgo vet ./... && go test ./...\npy:\n\tpytest -q\n",
    "py/Makefile": b"export PYTHONPATH := src\ntest:\n\tpytest -q\n",
}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npm test", "jest"), ("npm t", "jest"), ("npm run test -- --coverage", "jest"), ("npm run lint", None),
        ("npm run unit", "vitest"), ("yarn test", "jest"), ("pnpm test", "jest"), ("cd web && npm test", "node"),
        ("npx jest", "jest"), ("npx --yes vitest run", "vitest"), ("pnpm exec jest", "jest"), ("yarn vitest", "vitest"),
        ("pnpm vitest run", "vitest"), ("npm exec jest", "jest"), ("npm install && npx jest", "jest"),
        ("node --experimental-vm-modules node_modules/jest/bin/jest.js", "jest"), ("npx jest --listTests", None),
        ("vitest bench", None), ("cross-env CI=1 jest", "jest"), ("npx react-scripts test", "jest"),
        ("node --test", "node"), ("node --test --watch", None), ("node server.js", None), ("npx tsx --test", "node"),
        ("npx c8 node --test test/", "node"),
        ("node --test && node --test --test-reporter=dot", None),
        ("go test ./...", "go"), ("go -C sub test ./...", "go"), ("go test -c", None), ("go vet ./...", None),
        ("gotestsum -- ./...", "go"), ("make test", "go"), ("make", "go"), ("make py", "pytest"), ("make -C py test", None),
        ("cargo test", "cargo"), ("cargo +nightly t --workspace", "cargo"), ("cargo test --no-run", None),
        ("cargo nextest run", "cargo"), ("cargo build", None), ("cargo test -- --list", None),
        ("pytest -q && npm test", "pytest+jest"), ("pytest --junitxml=a.xml", "pytest"), ("sh -c 'go test ./...'", "go"),
        ("bats --formatter tap t && phpunit --log-junit out/r.xml", "junit"), ("phpunit --log-junit $OUT", None),
        ("env -i npm test", None), ("eslint .", None), ("echo jest", None),
    ],
)  # fmt: skip
def test_runners_are_found_as_base_has_them(command, name):
    found = detect(command, FILES.get)
    assert (found.name if found else None) == name


def test_a_project_with_a_runner_of_its_own_counts_by_status():
    settings = {".cargo/config.toml": b'[target.x86_64-unknown-linux-gnu]\nrunner = "sudo -E"\n'}
    assert detect("cargo test", settings.get) is None
    assert detect("cargo test", {".cargo/config.toml": b"[build]\njobs = 2\n"}.get) is not None


def test_a_runner_that_the_result_brings_is_read_beside_bases():
    jest, vitest, report = detect("jest"), detect("vitest"), detect("rake", report="r.xml")
    assert either(jest, vitest).name == "jest+vitest" and either(jest, jest) == jest
    assert either(None, jest) == jest and either(jest, None) == jest and either(None, None) is None
    assert either(jest, report) == jest and either(report, report) == report
    assert either(report, jest) == report and either(None, report) is None
    assert either(detect("node --test"), detect("node --test --test-reporter=dot")).parts == detect("node --test").parts


def test_a_report_is_found_where_the_command_runs():
    assert detect("cd web && mocha --junit-xml out/r.xml").parts[0].details == ("web/out/r.xml",)
    assert detect("make test", FILES.get, report="r.xml").name == "junit"


SAID = {
    "jest.json": ["adds two prices", "Expected: 3", "lib/price.test.js:8:10", "Tests:       3 failed"],
    "vitest.json": ["- 3\n+ -1", "src/price.test.ts:5:23", "Cannot find module './nowhere'", "3 failed | 1 passed"],
    "node.json": ["AssertionError [ERR_ASSERTION]: -1 == 3", "lib/price.test.js:6:10", "fail 3"],
    "go.json": [
        "broken/broken_test.go:5:32: undefined: missing",
        "Total(1, 2) = -1, want 3",
        "assignment to entry in nil map",
    ],
    "cargo.json": ["shop/src/lib.rs:21:9", "left: -1", "tests::unwraps", "2 passed; 2 failed"],
    "cargo-unbuilt.json": ["error[E0425]: cannot find function `sum`", "shop/tests/api.rs:3:22"],
    "tsc.txt": [
        "src/a.ts:2:14: Type 'string' is not assignable to type 'number'. [TS2322] (also src/a.ts:5:28, src/b.ts:1:7)"
    ],
    "tsc-pretty.txt": [
        "src/a.ts:1:14: Type 'string' is not assignable to type 'number'. [TS2322] (also src/a.ts:2:47)"
    ],
    "eslint.txt": [
        "/workspace/a.js:2:11: 'missing' is not defined [no-undef]",
        "a.js:1:5: warning: 'a' is never reassigned",
    ],
    "ruff.txt": ["a.py:1:8: `os` imported but unused [F401] (also b.py:1:8)", "a.py:9:5: Redefinition of unused `f`"],
    "ruff-concise.txt": ["a.py:6:12: Undefined name `y` [F821]"],
    "mypy.txt": ['b.py:8: Too many arguments for "g" [call-arg]'],
    "mypy-pretty.txt": ['b.py:5:12: Incompatible return value type (got "str", expected "int")'],
}


@pytest.mark.parametrize("name", SAID)
def test_digests_say_what_failed_and_where_within_the_limit(name):
    if name.endswith(".json"):
        runner = detect(COMMANDS[name.removesuffix(".json")])
        found = left(name.removesuffix(".json"))
        text = digest(found.output, runner=runner, run=read_results(runner, found), redactor=Redactor())
    else:
        text = digest((RECORDED / name).read_bytes(), runner=None, run=None, redactor=Redactor())
    assert len(text.encode()) <= LIMIT and "\x1b" not in text and "\x16" not in text
    assert all(said in text for said in SAID[name]), text


def test_a_digest_of_many_findings_keeps_the_errors_and_counts_the_rest():
    lines = [f'src/f{n}.py:{n}: error: Name "x{n % 40}" is not defined  [name-defined]' for n in range(1, 400)]
    text = digest("\n".join(["a.py:1: warning: loose", *lines]).encode(), runner=None, run=None, redactor=Redactor())
    assert len(text.encode()) <= LIMIT and "and 7 more)" in text and "more kinds of complaint; 400 in all" in text
    assert "loose" not in text


@pytest.mark.parametrize("report", ["out/r.xml", "out/*.xml", "o u't/*.xml"])
def test_the_reports_a_command_writes_are_those_of_this_run(tmp_path, report):
    """What lay there before is gone, whatever the command does; the status stays the command's."""
    folder = report.rpartition("/")[0]
    old = {f"{folder}/r.xml": "<testsuite><testcase classname='old' name='x'/></testsuite>"}
    new = "<testsuite><testcase classname='new' name='x'/></testsuite>"
    bare = "<testsuite><testcase/></testsuite>"
    write = f'echo "{new}" > "{folder}/r.xml"; echo "{bare}" > "{folder}/s.xml"; exit 3'
    done = run(tmp_path / "a", old, write, report=report)
    assert done.status == 3 and done.tests.source == "report" and done.tests.complete
    assert done.tests.outcomes == {"new::x": "passed"} | ({"?::?": "passed"} if "*" in report else {})
    nothing = run(tmp_path / "b", old, "true", report=report)
    assert nothing.status == 0 and not nothing.tests.outcomes and not nothing.tests.loaded


LONG = [
    b"x" * (1 << 20),
    b"a.go:" * (1 << 18),
    b" " * (1 << 20),
    b"\x1b[" * (1 << 19),
    b"test a - " * (1 << 17),
    b"(1,2)" * (1 << 18),
]


@pytest.mark.parametrize("line", LONG, ids=lambda line: line[:9].hex())
def test_endless_lines_cost_no_more_than_they_are_long(line):
    """Read and digested by every family; a pattern that looks back over the whole line would not end."""
    out = b"\x16=== RUN   TestA\n" + b"panicked at " + line + b"\n" + line + b"\ntest result: ok\nRan 1 test in \n"
    for name in GOOD:
        files = {n: out if n.endswith((".out", ".log")) else d for n, d in GOOD[name].items()}
        assert not read(name, files=files, output=out).complete
    text = digest(b"FAIL\tx 1s\n# fail 1\n" + out, runner=detect("go test"), run=None, redactor=Redactor())
    assert len(text.encode()) <= LIMIT


def test_a_real_run_by_a_package_script(tmp_path):
    """The one real program of this file; the others are in the long set."""
    if shutil.which("npm") is None:
        pytest.skip("NORUN: npm is not on PATH")
    files = {
        "package.json": '{"scripts": {"test": "NODE_OPTIONS=--no-warnings node --test"}}',
        "a.test.js": "const {test} = require('node:test');\ntest('one', () => {});\ntest('two', () => { throw new Error('no'); });\n",
    }
    done = run(tmp_path, files, "npm test")
    assert done.status == 1 and done.tests.complete, done.output.decode()
    assert {i: done.tests.cell(i) for i in done.tests.outcomes} == {"a.test.js::one": "P", "a.test.js::two": "X"}
