"""Deciders of JavaScript, Go, Rust and continuous integration: by key, and by the direction in which the key moved."""

from __future__ import annotations

import json

import pytest

from inspan.gate.baselines import grown, is_baseline
from inspan.gate.deciders import Touched, changed


def found(path, before, after, *, commands=("npm test",), base=(), read=None):
    touched = Touched(path=path, before=before and before.encode(), after=after and after.encode())
    paths = [*base, *([path] if before is not None else [])]
    deciders = changed(
        [touched], base_paths=paths, result_paths=[*base, path], commands=commands, before=(read or {}).get
    )  # fmt: skip
    return {(d.rule, d.key) for d in deciders}


PACKAGE = {"name": "x", "scripts": {"test": "vitest run", "lint": "eslint ."}, "dependencies": {"a": "1"}}
TS = '{\n  // strict from the start\n  "compilerOptions": {"strict": true, "target": "es2020", "paths": {"@/*": ["src/*"]},},\n  "include": ["src"],\n}'
CI = """
name: ci
on: {push: {branches: [main]}, pull_request: {}}
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: npm ci
      - name: tests
        run: npm test
      - run: npm run lint
"""
HOOKS = "repos:\n- repo: https://x/ruff\n  rev: v1\n  hooks:\n  - id: ruff\n  - id: ruff-format\n"
GOLANGCI = "linters:\n  enable: [errcheck, govet]\nissues:\n  exclude-dirs: [gen]\nrun:\n  timeout: 5m\n"
CARGO = '[package]\nname = "x"\n[dependencies]\na = "1"\n[lints.clippy]\nunwrap_used = "deny"\n[profile.release]\nlto = true\n'
ESLINT = '{"rules": {"eqeqeq": "error", "no-eval": ["error", {"a": 1}]}, "ignorePatterns": ["dist"]}'
MAKE = "COVER_MIN = 80\n\ntest:\n\tgo test ./... -cover\n\tscripts/floor --min $(COVER_MIN)\n"


def package(**scripts):
    return json.dumps(PACKAGE | {"scripts": PACKAGE["scripts"] | scripts})


DECIDES = [
    ("package.json", json.dumps(PACKAGE), package(test="vitest run src/easy"), "scripts.test"),
    ("package.json", json.dumps(PACKAGE), package(test="vitest run && echo done; true"), "scripts.test"),
    ("package.json", json.dumps(PACKAGE), package(lint="eslint . || true"), "scripts.lint"),
    ("package.json", json.dumps(PACKAGE), json.dumps(PACKAGE | {"imports": {"#core": "./stub.js"}}), "imports.#core"),
    ("package.json", json.dumps(PACKAGE | {"jest": {"coverageThreshold": {"global": {"lines": 80}}}}),
     json.dumps(PACKAGE | {"jest": {"coverageThreshold": {"global": {"lines": 60}}}}), "jest.coverageThreshold.global.lines"),
    ("package.json", json.dumps(PACKAGE), json.dumps(PACKAGE | {"jest": {"testPathIgnorePatterns": ["a.test"]}}), "jest.testPathIgnorePatterns"),
    ("tsconfig.json", TS, TS.replace('"strict": true', '"strict": false'), "compilerOptions.strict"),
    ("tsconfig.json", TS, TS.replace('"strict": true, ', ""), "compilerOptions.strict"),
    ("tsconfig.json", TS, TS.replace('"target"', '"skipLibCheck": true, "target"'), "compilerOptions.skipLibCheck"),
    ("tsconfig.json", TS, TS.replace('["src/*"]', '["stub/*"]'), "compilerOptions.paths.@/*"),
    ("tsconfig.json", TS, TS.replace('"include": ["src"]', '"include": ["src/easy"]'), "include"),
    ("tsconfig.build.json", TS, TS.replace('"include": ["src"],', '"include": ["src"], "exclude": ["src/hard.ts"]'), "exclude"),
    (".eslintrc.json", ESLINT, ESLINT.replace('"eqeqeq": "error"', '"eqeqeq": "warn"'), "rules.eqeqeq"),
    (".eslintrc.json", ESLINT, ESLINT.replace('"a": 1', '"a": 2'), "rules.no-eval"),
    (".eslintrc.json", ESLINT, ESLINT.replace('["dist"]', '["dist", "src"]'), "ignorePatterns"),
    (".eslintrc.yml", "rules:\n  eqeqeq: error\n", "rules:\n  eqeqeq: off\n", "rules.eqeqeq"),
    (".eslintignore", "dist\n", "dist\nsrc/a.js\n", "lines"),
    ("eslint.config.mjs", "a", "b", "(whole file)"),
    ("biome.json", '{"linter": {"enabled": true}}', '{"linter": {"enabled": false}}', ".linter.enabled"),
    ("jest.config.json", '{"testMatch": ["**/*.test.js"]}', '{"testMatch": ["**/easy.test.js"]}', "testMatch"),
    ("jest.setup.ts", "a", "b", "(whole file)"),
    (".nycrc.json", '{"branches": 80}', '{"branches": 50}', "branches"),
    ("deno.json", '{"tasks": {"test": "deno test"}}', '{"tasks": {"test": "true"}}', "tasks.test"),
    (".golangci.yml", GOLANGCI, GOLANGCI.replace("[errcheck, govet]", "[govet]"), "linters.enable"),
    (".golangci.yml", GOLANGCI, GOLANGCI.replace("[gen]", "[gen, pkg]"), "issues.exclude-dirs"),
    (".golangci.yml", GOLANGCI, GOLANGCI + "  tests: false\n", "run.tests"),
    ("Makefile", MAKE, MAKE.replace("= 80", "= 60"), "variable COVER_MIN"),
    ("Makefile", MAKE, MAKE.replace("-cover\n", "-cover || true\n"), "target test"),
    ("go.work", None, "go 1.22\nuse ./stub\n", "(whole file)"),
    ("Cargo.toml", CARGO, CARGO + "[lib]\ntest = false\n", "lib.test"),
    ("Cargo.toml", CARGO, CARGO + '[[test]]\nname = "api"\nharness = false\n', "test.api.harness"),
    ("Cargo.toml", CARGO, CARGO + '[[test]]\nname = "api"\nrequired-features = ["slow"]\n', "test.api.required-features"),
    ("Cargo.toml", CARGO, CARGO.replace('name = "x"\n', 'name = "x"\nautotests = false\n'), "package.autotests"),
    ("Cargo.toml", CARGO, CARGO.replace('"deny"', '"allow"'), "lints.clippy.unwrap_used"),
    ("Cargo.toml", CARGO, CARGO + "[profile.test]\noverflow-checks = false\n", "profile.test.overflow-checks"),
    (".cargo/config.toml", None, "[build]\nrustflags = []\n", "(whole file)"),
    ("clippy.toml", "cognitive-complexity-threshold = 20\n", 'allowed-idents-below-min-chars = [".."]\n', "cognitive-complexity-threshold"),
    ("build.rs", None, "fn main() {}\n", "(whole file)"),
    (".github/workflows/ci.yml", CI, CI.replace("run: npm test", "run: npm test || true"), "run npm test"),
    (".github/workflows/ci.yml", CI, CI.replace("      - name: tests\n", "      - name: tests\n        continue-on-error: true\n"), "run npm test"),
    (".github/workflows/ci.yml", CI, CI.replace("    runs-on", "    continue-on-error: true\n    runs-on"), "run npm test"),
    (".github/workflows/ci.yml", CI, CI.replace("    runs-on", "    if: github.ref == 'never'\n    runs-on"), "run npm test"),
    (".github/workflows/ci.yml", CI, CI.replace("pull_request: {}", "pull_request: {paths: [docs]}"), "on.pull_request"),
    (".github/workflows/ci.yml", CI, CI.replace(", pull_request: {}", ""), "on.pull_request"),
    (".github/workflows/ci.yml", CI, CI.replace("      - run: npm run lint\n", ""), "run npm run lint"),
    (".github/workflows/ci.yml", CI, CI.replace("      - run: npm ci\n", "      - run: npm ci\n      - run: echo NODE_OPTIONS=x >> $GITHUB_ENV\n"), "run echo NODE_OPTIONS=x >> $GITHUB_ENV"),
    (".github/workflows/ci.yml", CI, None, "run npm test"),
    (".github/workflows/ci.yml", CI, "a: [", "(whole file)"),
    (".pre-commit-config.yaml", HOOKS, HOOKS.replace("  - id: ruff\n", "  - id: ruff\n    stages: [manual]\n"), "hook https://x/ruff ruff"),
    (".pre-commit-config.yaml", HOOKS, HOOKS.replace("  - id: ruff\n", ""), "hook https://x/ruff ruff"),
    (".pre-commit-config.yaml", HOOKS, HOOKS + "exclude: src\n", "exclude"),
    ("codecov.yml", "coverage:\n  status:\n    project:\n      default:\n        target: 80%\n", "coverage:\n  status:\n    project:\n      default:\n        target: 60%\n", "coverage.status.project.default.target"),
    ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "-q"\n', '[tool.pytest.ini_options]\naddopts = "-q --deselect a"\n', "tool.pytest.ini_options.addopts"),
    ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "--cov-fail-under=80"\n', '[tool.pytest.ini_options]\naddopts = "--cov-fail-under=70"\n', "tool.pytest.ini_options.addopts"),
    ("pyproject.toml", "[tool.mypy]\nstrict = true\n", "[tool.mypy]\nstrict = true\nignore_errors = true\n", "tool.mypy.ignore_errors"),
]  # fmt: skip
SPLIT = """
name: ci
on: {push: {branches: [main]}, pull_request: {}}
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - run: npm ci
      - name: all tests
        run: npm test
  lint:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - run: npm ci
      - run: npm run lint
      - run: npm run typecheck
"""
DOES_NOT = [
    ("package.json", json.dumps(PACKAGE), json.dumps(PACKAGE | {"dependencies": {"a": "2", "b": "1"}})),
    ("package.json", json.dumps(PACKAGE), package(test="vitest run && vitest run --config e2e.config.ts")),
    ("package.json", json.dumps(PACKAGE), package(docs="typedoc")),
    ("package.json", json.dumps(PACKAGE | {"jest": {"coverageThreshold": {"global": {"lines": 80}}}}),
     json.dumps(PACKAGE | {"jest": {"coverageThreshold": {"global": {"lines": 85}}}})),
    ("tsconfig.json", TS, TS.replace('"es2020"', '"es2022"')),
    ("tsconfig.json", TS, TS.replace('"strict": true', '"strict": true, "noUnusedLocals": true')),
    ("tsconfig.json", TS, TS.replace('["src"]', '["src", "tests"]')),
    ("tsconfig.json", TS, TS.replace("// strict from the start", "/* strict */")),
    (".eslintrc.json", ESLINT, ESLINT.replace('"rules": {', '"rules": {"no-var": "error", ')),
    (".eslintrc.json", ESLINT, ESLINT.replace('["dist"]', "[]")),
    (".eslintignore", "dist\nsrc/a.js\n", "dist\n"),
    ("biome.json", '{"formatter": {"lineWidth": 80}}', '{"formatter": {"lineWidth": 100}}'),
    (".golangci.yml", GOLANGCI, GOLANGCI.replace("[errcheck, govet]", "[errcheck, govet, revive]").replace("5m", "9m")),
    ("Makefile", MAKE, MAKE.replace("= 80", "= 85")),
    ("Makefile", MAKE, MAKE + "\ndocs:\n\tmkdocs\n"),
    ("Cargo.toml", CARGO, CARGO.replace('a = "1"', 'a = "2"\nb = "1"')),
    ("Cargo.toml", CARGO, CARGO.replace('"deny"', '"forbid"')),
    ("Cargo.toml", CARGO, CARGO + '[[test]]\nname = "api"\npath = "tests/api.rs"\n'),
    ("Cargo.toml", CARGO, CARGO.replace("lto = true", "lto = false")),
    (".github/workflows/ci.yml", CI, SPLIT),
    (".github/workflows/ci.yml", CI, CI.replace("checkout@v4", "checkout@v5").replace("name: ci", "name: CI")),
    (".github/workflows/ci.yml", CI, CI.replace("on: {", "on: {workflow_dispatch: {}, ")),
    (".github/workflows/release.yml", None, CI),
    (".pre-commit-config.yaml", HOOKS, HOOKS.replace("v1", "v2")),
    (".pre-commit-config.yaml", HOOKS, HOOKS + "- repo: local\n  hooks:\n  - id: mypy\n"),
    ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "-q"\n', '[tool.pytest.ini_options]\naddopts = "-ra --strict-markers"\n'),
    ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "--cov-fail-under=80"\n', '[tool.pytest.ini_options]\naddopts = "--cov-fail-under=90"\n'),
    ("docs/tsconfig.md", "a", "b"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "before", "after", "key"), DECIDES)
def test_looser_decides(path, before, after, key):
    assert ("decider_changed", key) in found(path, before, after)


@pytest.mark.parametrize(("path", "before", "after"), DOES_NOT)
def test_stricter_or_beside_the_point_does_not(path, before, after):
    assert not found(path, before, after)


@pytest.mark.parametrize(("path", "before", "after", "key"), DECIDES)
def test_nothing_changed_is_nothing_decided(path, before, after, key):
    """The negative control of the table above."""
    text = before if before is not None else after
    assert not found(path, text, text)


def test_settings_named_by_the_command_or_by_a_script():
    assert found("ci/easy.config.js", "a", "b", commands=["npx jest --config ci/easy.config.js"])
    assert found("ci/x.ini", "a", "b", commands=["pytest -c ci/x.ini"])
    assert found("tools/unit.json", "a", "b", read={"package.json": b'{"scripts": {"test": "tsc -p tools/unit.json"}}'})
    assert not found("ci/easy.config.txt", "a", "b", commands=["npx jest"])


def test_lists_that_the_check_itself_reads():
    script = {"tools/lint.py": b"ACCEPTED = json.loads((HERE / 'accepted.json').read_text())\n"}
    args = {"commands": ["python tools/lint.py"], "base": ["tools/lint.py"], "read": script}
    assert found("tools/accepted.json", '["a"]', '["a", "b"]', **args) == {
        ("baseline_grown", "1 accepted findings more")
    }
    assert found("tools/accepted.json", '{"min": 80}', '{"min": 60}', **args) == {("decider_changed", "(whole file)")}
    assert not found("tools/accepted.json", '["a", "b"]', '["a"]', **args)
    assert not found("tools/other.json", '["a"]', '["a", "b"]', **args)
    assert not found(
        "tools/accepted.json", '["a"]', '["a", "b"]', commands=["pytest"], base=["tools/lint.py"], read=script
    )


def test_aliases_that_multiply_are_whole_files():
    bomb = "a: &a [x, x]\n" + "".join(
        f"b{i}: &b{i} [*{'a' if not i else f'b{i - 1}'}, *{'a' if not i else f'b{i - 1}'}]\n" for i in range(30)
    )
    assert found(".github/workflows/ci.yml", CI, bomb) >= {("decider_changed", "(whole file)")}


SUPPRESSIONS = json.dumps({"src/a.js": {"eqeqeq": {"count": 2}}})


@pytest.mark.parametrize(
    ("path", "before", "after", "more"),
    [
        ("eslint-suppressions.json", SUPPRESSIONS, SUPPRESSIONS.replace("2", "3"), True),
        ("eslint-suppressions.json", SUPPRESSIONS, SUPPRESSIONS.replace("2", "1"), False),
        ("eslint-suppressions.json", None, SUPPRESSIONS, True),
        ("mypy-baseline.txt", "src/a.py:10: error: x\n", "src/a.py:14: error: x\n", False),
        ("mypy-baseline.txt", "src/a.py:10: error: x\n", "src/a.py:10: error: x\nsrc/b.py:1: error: y\n", True),
        ("lint-baseline.json", '{"findings": [{"file": "a", "line": 3}]}', '{"findings": [{"file": "a", "line": 9}]}', False),
        ("lint-baseline.json", '{"findings": [{"file": "a"}]}', '{"findings": [{"file": "a"}, {"file": "b"}]}', True),
        ("lint-baseline.json", '{"findings": [{"file": "a"}]}', None, False),
        (".secrets.baseline", "{}", '{"results": {"a": [{"type": "x"}]}}', True),
        ("benchmarks/baseline.json", "{}", '{"ms": 3}', False),
        ("tests/data/baseline.json", "{}", '{"ms": 3}', False),
        ("src/base.json", "{}", '{"ms": 3}', False),
    ],
)  # fmt: skip
def test_accepted_findings(path, before, after, more):
    assert bool(is_baseline(path) and grown(path, before and before.encode(), after and after.encode())) is more
    assert ("baseline_grown" in {rule for rule, _ in found(path, before, after)}) is more
