"""Deciders are keys of a file: what decides is found, what does not decide is left alone."""

from __future__ import annotations

import pytest

from inspan.gate.deciders import Touched, changed


def found(path, before, after, *, commands=("pytest -q",), base=(), harness=()):
    encode = lambda s: None if s is None else s.encode()  # noqa: E731
    touched = Touched(path=path, before=encode(before), after=encode(after))
    base_paths = [*base, *([path] if before is not None else [])]
    result_paths = [*base, *([path] if after is not None else [])]
    deciders = changed(
        [touched], base_paths=base_paths, result_paths=result_paths, commands=commands, harness_globs=harness
    )
    return {d.key for d in deciders}


PYPROJECT = '[project]\nname = "x"\ndependencies = ["a"]\n[tool.pytest.ini_options]\naddopts = "-ra"\n'
PACKAGE = '{"name": "x", "scripts": {"test": "vitest"}, "dependencies": {"a": "1"}}'
MAKE = "CC = gcc\n\ntest: build\n\tpytest -q\n"

DECIDES = [
    ("pyproject.toml", PYPROJECT, PYPROJECT.replace('"-ra"', '"-ra --deselect tests/test_a.py::test_b"')),
    ("pyproject.toml", PYPROJECT, PYPROJECT + '[tool.coverage.run]\nomit = ["src/a.py"]\n'),
    ("pyproject.toml", PYPROJECT, PYPROJECT + "[tool.mypy]\nignore_errors = true\n"),
    ("pyproject.toml", PYPROJECT, PYPROJECT + '[tool.ruff.lint]\nignore = ["E501"]\n'),
    ("pyproject.toml", PYPROJECT, PYPROJECT + '[project.entry-points.pytest11]\nx = "x"\n'),
    ("pyproject.toml", PYPROJECT, "this is not = = toml"),
    ("setup.cfg", "[metadata]\nname = x\n", "[metadata]\nname = x\n[tool:pytest]\naddopts = -k easy\n"),
    ("setup.py", "setup()\n", "setup(entry_points={'pytest11': ['x = y']})\n"),
    ("x-1.dist-info/entry_points.txt", None, "[pytest11]\nx = y\n"),
    ("src/x.egg-info/entry_points.txt", None, "[pytest11]\nx = y\n"),
    ("src/x.pyc", None, "x"),
    (".npmrc", None, "script-shell=/bin/true\n"),
    (".mvn/maven.config", None, "-DskipTests\n"),
    ("tox.ini", None, "[pytest]\naddopts = --collect-only\n"),
    ("pytest.ini", None, "[pytest]\naddopts = --collect-only\n"),
    ("pytest.ini", None, ""),
    ("conftest.py", None, "x = 1\n"),
    ("tests/conftest.py", "x = 1\n", "x = 2\n"),
    ("tests/conftest.py", "x = 1\n", None),
    ("package.json", PACKAGE, PACKAGE.replace('"vitest"', '"vitest src/easy"')),
    ("Makefile", MAKE, MAKE.replace("pytest -q", "pytest -q || true")),
    ("Makefile", MAKE, MAKE.replace("gcc", "true")),
    (".github/workflows/ci.yml", "a: 1\n", "a: 2\n"),
    (".gitlab-ci.yml", "a: 1\n", None),
    ("src/x.pth", None, "import os\n"),
    ("sitecustomize.py", None, "x = 1\n"),
    ("vitest.config.ts", "a", "b"),
    (".coveragerc", "[report]\nfail_under = 80\n", "[report]\nfail_under = 60\n"),
    (".gitattributes", None, "*.py -diff\n"),
    ("sub/.gitmodules", None, "x"),
    (".env", None, "PYTEST_ADDOPTS=--collect-only\n"),
    (".husky/pre-commit", "a", "b"),
    ("pytest/__init__.py", None, ""),
    ("unittest.py", None, ""),
    ("src/_pytest/__init__.py", None, ""),
    ("json.py", None, ""),
    ("inspan.toml", None, "[checks]\n"),
]
DOES_NOT = [
    ("setup.py", "setup(install_requires=[])\n", "setup(install_requires=['a'])\n"),
    ("pyproject.toml", PYPROJECT, PYPROJECT.replace('["a"]', '["a", "b"]')),
    ("pyproject.toml", PYPROJECT, PYPROJECT + '[tool.pytest_other]\na = 1\n'),
    ("package.json", PACKAGE, PACKAGE.replace('"a": "1"', '"a": "2"')),
    ("Makefile", MAKE, MAKE + "\ndocs:\n\tmkdocs\n"),
    ("Makefile", MAKE, "# a comment\n" + MAKE),
    (".coveragerc", "[report]\nfail_under = 60\n", "[report]\nfail_under = 80\n"),
    ("mypy.ini", "[mypy]\nstrict = false\n", "[mypy]\nstrict = true\n"),
    ("ruff.toml", 'ignore = ["E501", "B"]\n', 'ignore = ["E501"]\n'),
    ("ruff.toml", 'select = ["E"]\n', 'select = ["E", "F"]\n'),
    ("setup.cfg", "[metadata]\nname = x\n", "[metadata]\nname = y\n"),
    ("src/pkg/types.py", None, "x = 1\n"),
    ("src/pkg/json.py", None, "x = 1\n"),
    ("html/index.html", None, "x"),
    ("site/index.html", None, "x"),
    ("src/app.py", "a", "b"),
    ("tests/test_app.py", "a", "b"),
    (".env.example", None, "A=1\n"),
    ("requirements.txt", "a\n", "a\nb\n"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "before", "after"), DECIDES)
def test_decides(path, before, after):
    assert found(path, before, after)


@pytest.mark.parametrize(("path", "before", "after"), DOES_NOT)
def test_does_not_decide(path, before, after):
    assert not found(path, before, after, base=["src/pkg/__init__.py"])


def test_the_key_is_named():
    assert found("pyproject.toml", PYPROJECT, PYPROJECT.replace("-ra", "-x")) == {"tool.pytest.ini_options.addopts"}
    assert found("package.json", PACKAGE, PACKAGE.replace("vitest", "true")) == {"scripts.test"}
    assert found("Makefile", MAKE, MAKE.replace("-q", "-x")) == {"target test"}


def test_a_script_a_check_runs_decides_and_the_program_under_test_does_not():
    assert found("scripts/check.sh", "a", "b", commands=["sh scripts/check.sh"])
    assert found("check.py", "a", "b", commands=["python check.py --all"])
    assert not found("app.py", "a", "b", commands=["python app.py | grep ok"])
    assert not found("hello.txt", None, "b", commands=["test -f hello.txt"])
    assert found("Makefile", MAKE, MAKE + "\nlint:\n\ttrue\n", commands=["make lint"])


def test_a_module_in_a_test_folder_that_stands_on_the_import_path():
    assert found("tests/pluggy.py", None, "", base=["tests/test_a.py"])
    assert not found("tests/pluggy.py", None, "", base=["tests/test_a.py", "tests/__init__.py"])


def test_new_rules_and_scripts_decide_where_a_check_reaches_them():
    assert not found("Makefile", None, "X = 1\n\ndocs:\n\ttrue\n")
    assert found("Makefile", None, "X = 1\n\ntest:\n\ttrue\n", commands=["make test"])
    assert found("GNUmakefile", None, "docs:\n\ttrue\n", base=["Makefile"])
    added = PACKAGE.replace('"test": "vitest"', '"test": "vitest", "docs": "x"')
    assert not found("package.json", PACKAGE, added)
    assert found("package.json", PACKAGE, added, commands=["npm run docs"])
    assert found("package.json", PACKAGE, PACKAGE.replace('"test": "vitest"', '"test": "vitest", "pretest": "true"'))


def test_settings_a_harness_discovers():
    assert found(".claude/settings.json", None, "{}", harness=[".claude/**"])
    assert found(".ours/settings.json", None, "{}", harness=["**/.ours/**"])
    assert not found(".ours/settings.json", None, "{}")


@pytest.mark.parametrize(
    "path",
    [
        "CLAUDE.md",
        "pkg/AGENTS.md",
        ".cursor/rules/a.mdc",
        ".aider.conf.yml",
        "opencode.json",
        ".gemini/settings.json",
        "sub/.mcp.json",
    ],
)
def test_settings_any_agent_discovers(path):
    assert found(path, "a", "b") and found(path, None, "b") and found(path, "a", None)
    assert not found(f"docs/about-{path.rpartition('/')[2]}", "a", "b")
