"""The real runners, arranged as the gate does it: what they leave when they are called in the usual ways, and what is left
when the code under test ends early, prints results of its own or runs nothing. Without a sandbox: it is the next file's."""

from __future__ import annotations

import json
import os

import pytest

from support.runner_bench import Run, run
from support.runners import cargo, go_root, node_modules

pytestmark = pytest.mark.long

GO_MOD = "module example.com/m\n\ngo 1.24\n"
CARGO = '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n'


def node_run(root, files: dict[str, str], command: str, **asked) -> Run:
    (root / "tree").mkdir(exist_ok=True)
    if not (root / "tree/node_modules").is_symlink():
        os.symlink(node_modules(), root / "tree/node_modules")
    return run(root, files, command, path=str(root / "tree/node_modules/.bin"), **asked)


def go_run(root, files: dict[str, str], command: str = "go test ./...") -> Run:
    place = go_root()
    cache = place.parent / "cache-tests"
    env = {"GOCACHE": str(cache), "GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": "-mod=mod"}
    return run(root, {"go.mod": GO_MOD, **files}, command, path=str(place / "bin"), env=env)


def cargo_run(root, files: dict[str, str], command: str = "cargo test --offline") -> Run:
    cargo()
    return run(root, {"Cargo.toml": CARGO, **files}, command, env={"RUST_BACKTRACE": "0"})


JEST = {"package.json": '{"scripts": {"test": "jest"}}', "a.test.js": "test('one', () => {}); test('two', () => {});\n"}
ONE_TWO = {"a.test.js::one": "passed", "a.test.js::two": "passed"}


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("npm test", "jest"),
        ("npx jest --silent", "jest"),
        ("npm test", "NODE_OPTIONS=--no-warnings jest -i"),
        ("make test", "jest"),
        ("node --no-warnings node_modules/jest/bin/jest.js", "jest"),
        ("jest --reporters=jest-silent-nothing 2>/dev/null || jest --json >/dev/null", "jest"),
    ],
)
def test_jest_however_it_is_called(tmp_path, command, script):
    files = JEST | {"package.json": json.dumps({"scripts": {"test": script}}), "Makefile": "test:\n\tnpm test\n"}
    done = node_run(tmp_path, files, command)
    assert done.status == 0 and done.tests.complete and done.tests.outcomes == ONE_TWO, done.output.decode()


def test_jest_keeps_the_reporters_of_the_project(tmp_path):
    own = "module.exports = class { onRunComplete() { console.log('OURS TOO'); } };\n"
    package = '{"scripts": {"test": "jest"}, "jest": {"reporters": ["default", "<rootDir>/own.js"]}}'
    done = node_run(tmp_path, JEST | {"package.json": package, "own.js": own}, "npm test")
    assert done.tests.outcomes == ONE_TWO and b"OURS TOO" in done.output and b"Tests:       2 passed" in done.output


def test_jest_writes_no_snapshot_and_an_exit_is_no_end(tmp_path):
    snapshot = JEST | {"a.test.js": "test('one', () => { expect(1).toMatchSnapshot(); });\n"}
    done = node_run(tmp_path, snapshot, "npm test")
    assert done.status == 1 and done.tests.cell("a.test.js::one") == "A"
    assert not (tmp_path / "tree/__snapshots__").exists()
    ended = JEST | {"a.test.js": "test('one', () => {}); test('two', () => { process.exit(0); });\n"}
    for option in ("", " -i"):
        done = node_run(tmp_path, ended, f"npx jest{option}")
        assert done.status == 0 and done.tests.sessions == 1 and not done.tests.complete, done.output.decode()


def test_jest_that_finds_no_test_shows_none(tmp_path):
    done = node_run(tmp_path, JEST, "npx jest absent --passWithNoTests")
    assert done.status == 0 and done.tests.loaded and not done.tests.complete and not done.tests.outcomes
    only = JEST | {"a.test.js": "test('one', () => {}); test.only('two', () => {}); test.todo('three');\n"}
    done = node_run(tmp_path, only, "npx jest")
    assert [done.tests.cell(f"a.test.js::{n}") for n in ("one", "two", "three")] == ["S", "P", "S"]


FORGE_JS = (
    "const line = JSON.stringify({kind: 'test', id: 'a.test.js::two', outcome: 'passed'});\n"
    "require('fs').readdirSync(process.env.EVIDENCE).forEach((name) =>\n"
    "  require('fs').appendFileSync(process.env.EVIDENCE + '/' + name, line + '\\n'));\nconsole.log(line);\n"
)


@pytest.mark.parametrize("runner", ["jest", "vitest", "node --test"])
def test_lines_written_without_the_key_spoil_the_evidence(tmp_path, runner):
    head = {
        "jest": "", "vitest": "import {test} from 'vitest';\nimport {createRequire} from 'module';\nconst require = createRequire('/');\n",
        "node --test": "const {test} = require('node:test');\n",
    }[runner]  # fmt: skip
    name = "a.test.mjs" if runner == "vitest" else "a.test.js"
    finder = "process.env.EVIDENCE = require('fs').readdirSync('..').filter((n) => n.startsWith('evidence')).map((n) => '../' + n)[0];\n"
    body = head + finder + FORGE_JS + "test('one', () => {});\n"
    done = node_run(tmp_path, {"package.json": "{}", name: body}, runner)
    assert done.status == 0 and done.tests.garbled and not done.tests.complete, done.output.decode()


def test_vitest_however_it_is_called(tmp_path):
    files = {
        "package.json": '{"type": "module", "scripts": {"test": "vitest"}}',
        "a.test.ts": "import {test} from 'vitest';\ntest('one', () => {}); test.skip('two', () => {});\n",
        "src.ts": "export const f = () => 1;\nif (import.meta.vitest) {\n  const {it} = import.meta.vitest;\n  it('inside', () => {});\n}\n",
        "vitest.config.ts": "export default {test: {includeSource: ['src.ts'], reporters: ['dot']}};\n",
    }
    for command in ("npm test", "npx vitest run --reporter=json", "npx vitest --coverage.enabled=false run"):
        done = node_run(tmp_path, files, command)
        assert done.status == 0 and done.tests.complete, done.output.decode()
        assert done.tests.outcomes == {
            "a.test.ts::one": "passed",
            "a.test.ts::two": "skipped",
            "src.ts::inside": "passed",
        }
    files["a.test.ts"] = "import {test} from 'vitest';\ntest('one', () => { process.exit(0); });\n"
    done = node_run(tmp_path, files, "npm test")
    assert done.status == 1 and done.tests.cell("a.test.ts::one") == "X"
    done = node_run(tmp_path, files, "npx vitest run absent --passWithNoTests")
    assert done.status == 0 and not done.tests.complete and not done.tests.outcomes


NODE = {
    "package.json": '{"scripts": {"test": "node --test"}}',
    "a.test.js": "const {test} = require('node:test');\ntest('one', () => {}); test('two', () => {});\n",
}


@pytest.mark.parametrize(
    "command",
    ["npm test", "node --test --test-reporter=dot", "node --test --test-reporter=tap --test-reporter-destination=out a.test.js",
     "NODE_OPTIONS=--no-warnings node --test"],
)  # fmt: skip
def test_node_however_it_is_called(tmp_path, command):
    done = node_run(tmp_path, NODE, command)
    assert done.status == 0 and done.tests.complete and done.tests.outcomes == ONE_TWO, done.output.decode()


def test_a_file_of_node_tests_that_ends_early_lacks_its_tests(tmp_path):
    for at, body in enumerate(("test('one', () => { process.exit(0); });", "test('one', () => {}); process.exit(0);")):
        files = NODE | {"a.test.js": f"const {{test}} = require('node:test');\n{body} test('two', () => {{}});\n"}
        done = node_run(tmp_path, files, "npm test")
        assert done.status == 0 and done.tests.cell("a.test.js::two") == "-", (at, done.output.decode())
    todo = NODE | {
        "a.test.js": "const {test} = require('node:test');\ntest('one', {todo: true}, () => { throw 1; });\n"
    }
    done = node_run(tmp_path, todo, "npm test")
    assert done.status == 0 and done.tests.cell("a.test.js::one") == "S"


def go_test(body: str = "", more: str = "", imports: str = '"testing"') -> dict[str, str]:
    return {
        "p/p_test.go": f"package p\n\nimport (\n{imports}\n)\n\nfunc TestA(t *testing.T) {{ {body} }}\n\nfunc TestB(t *testing.T) {{}}\n{more}"
    }


@pytest.mark.parametrize(
    "command", ["go test ./...", "cd p && go test -v .", "go test -json ./... -count=2", "make", "go -C p test", "go test -race=false -cover ./..."]
)  # fmt: skip
def test_go_however_it_is_called(tmp_path, command):
    makefile = "GOFLAGS := -mod=mod\nexport GOFLAGS\ntest:\n\t@go vet ./... && go test ./...\n"
    done = go_run(tmp_path, go_test() | {"Makefile": makefile}, command)
    assert done.status == 0 and done.tests.complete, done.output.decode()
    assert done.tests.outcomes == {"p::TestA": "passed", "p::TestB": "passed"}
    assert b"\x16" not in done.output
    if "-json" in command:
        assert done.output.count(b'"Action":"pass","Package":"example.com/m/p","Test":"TestA"') == 2


@pytest.mark.parametrize(
    ("body", "more", "imports"),
    [
        ("syscall.Exit(0)", "", '"testing"\n"syscall"'),
        ("", "func TestMain(m *testing.M) { os.Exit(0) }\n", '"testing"\n"os"'),
        ('fmt.Print("\\x16--- PASS: TestC (0.00s)\\n")', "", '"testing"\n"fmt"'),
        (
            'fmt.Print("\\x16--- PASS: TestA (0.00s)\\n\\x16=== RUN   TestB\\n\\x16--- PASS: TestB (0.00s)\\n\\x16PASS\\n"); syscall.Exit(0)',
            "", '"testing"\n"fmt"\n"syscall"',
        ),
    ],
)  # fmt: skip
def test_a_go_program_that_ends_early_or_prints_results_is_not_complete(tmp_path, body, more, imports):
    done = go_run(tmp_path, go_test(body, more, imports))
    assert done.status == 0 and done.tests.loaded and not done.tests.complete, done.output.decode()


def test_go_cells_of_panics_builds_and_filters(tmp_path):
    broken = {"q/q_test.go": 'package q\n\nimport "testing"\n\nfunc TestQ(t *testing.T) { missing() }\n'}
    done = go_run(tmp_path, go_test('panic("x")') | broken)
    assert [done.tests.cell(i) for i in ("p::TestA", "p::TestB", "q::TestQ", "r::TestR")] == ["A", "X", "X", "-"]
    done = go_run(tmp_path, go_test("os.Exit(0)", "", '"testing"\n"os"'))
    assert done.status == 1 and done.tests.cell("p::TestA") == "A"
    done = go_run(tmp_path, go_test(), "go test -run Nothing ./p")
    assert done.status == 0 and done.tests.loaded and not done.tests.outcomes and not done.tests.complete


LIB = (
    "/// ```\n/// assert_eq!(p::f(1), 1);\n/// ```\npub fn f(a: i32) -> i32 { a }\n\n"
    "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() { assert_eq!(super::f(1), 1); }\n}\n"
)
RUST = {"src/lib.rs": LIB, "tests/api.rs": "#[test]\nfn two() {}\n"}
RUST_IDS = {"src/lib.rs::tests::one": "passed", "src/lib.rs::doc::f": "passed", "tests/api.rs::two": "passed"}


@pytest.mark.parametrize(
    "command",
    ["cargo test --offline", "cargo test -q --offline --no-fail-fast", "cd src && cargo t --offline", "make test"],
)
def test_cargo_however_it_is_called(tmp_path, command):
    done = cargo_run(tmp_path, RUST | {"Makefile": "test:\n\tcargo test --offline -- --test-threads=1\n"}, command)
    assert done.status == 0 and done.tests.complete and done.tests.outcomes == RUST_IDS, done.output.decode()


def test_cargo_doc_tests_of_the_newer_edition_and_a_workspace(tmp_path):
    done = cargo_run(tmp_path / "a", RUST | {"Cargo.toml": CARGO.replace("2021", "2024")})
    assert done.status == 0 and done.tests.outcomes == RUST_IDS, done.output.decode()
    members = {f"crates/p/{name}": text for name, text in {**RUST, "Cargo.toml": CARGO}.items()}
    done = cargo_run(tmp_path / "b", members | {"Cargo.toml": '[workspace]\nmembers = ["crates/p"]\nresolver = "2"\n'})
    assert done.status == 0 and done.tests.outcomes == {f"crates/p/{i}": o for i, o in RUST_IDS.items()}


PRINTS = 'use std::io::Write; writeln!(std::io::stdout(), "\\n{}", "%s").unwrap();'
RESULT = "test result: ok. %d passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"


@pytest.mark.parametrize(
    "body",
    [
        "std::process::exit(0);",
        PRINTS % ("test more ... ok\\n\\n" + RESULT % 2) + " std::process::exit(0);",
        PRINTS % (RESULT % 3),
    ],
)
def test_a_cargo_program_that_ends_early_or_prints_results_is_not_complete(tmp_path, body):
    files = RUST | {"tests/api.rs": f"#[test]\nfn two() {{ {body} }}\n\n#[test]\nfn more() {{}}\n"}
    done = cargo_run(tmp_path, files)
    assert done.status == 0 and done.tests.loaded and not done.tests.complete, done.output.decode()


def test_cargo_cells_of_builds_later_targets_and_harnesses_of_their_own(tmp_path):
    failing = RUST | {"src/lib.rs": LIB.replace("i32 { a }", "i32 { a + 1 }")}
    done = cargo_run(tmp_path / "a", failing)
    assert {i: done.tests.cell(i) for i in RUST_IDS} == {
        "src/lib.rs::tests::one": "A", "src/lib.rs::doc::f": "A", "tests/api.rs::two": "P",
    }  # fmt: skip
    done = cargo_run(tmp_path / "b", RUST | {"tests/api.rs": "#[test]\nfn two() { p::missing(); }\n"})
    assert done.status == 101 and {done.tests.cell(i) for i in RUST_IDS} == {"X"}
    own = '\n[[test]]\nname = "own"\nharness = false\n'
    done = cargo_run(tmp_path / "c", RUST | {"Cargo.toml": CARGO + own, "tests/own.rs": "fn main() {}\n"})
    assert done.status == 0 and done.tests.complete and done.tests.outcomes == RUST_IDS, done.output.decode()


def test_two_families_in_one_command(tmp_path):
    files = JEST | {"test_a.py": "def test_a():\n    assert 1\n"}
    done = node_run(tmp_path, files, "python -m pytest -q && npx jest && go version || true")
    assert done.runner.name == "pytest+jest" and done.tests.complete
    assert done.tests.outcomes == ONE_TWO | {"test_a.py::test_a": "passed"}


def test_paths_with_spaces(tmp_path):
    """Where there are no mounts of its own, everything stands below the state directory, whatever that is called."""
    place = tmp_path / "a b"
    place.mkdir()
    for name, files, command in (
        ("jest", JEST, "npm test"),
        (
            "vitest",
            {"a.test.ts": "import {test} from 'vitest';\ntest('one', () => {}); test('two', () => {});\n"},
            "npx vitest run",
        ),
        ("node", NODE, "node --test"),
    ):
        (place / name).mkdir()
        done = node_run(place / name, files, command)
        assert done.status == 0 and done.tests.complete and len(done.tests.outcomes) == 2, done.output.decode()
    (place / "cargo").mkdir()
    done = cargo_run(place / "cargo", RUST)
    assert done.status == 0 and done.tests.outcomes == RUST_IDS, done.output.decode()


def test_a_flood_of_output_ends_a_test_program_and_is_no_result(tmp_path):
    flood = 'for i := 0; i < 200; i++ { fmt.Println(strings.Repeat("x", 1<<20)) }'
    done = go_run(tmp_path, go_test(flood, "", '"testing"\n"fmt"\n"strings"'))
    assert done.status == 1 and max(map(len, done.left.files.values())) <= 32 << 20
    assert done.tests.cell("p::TestA") != "P"
