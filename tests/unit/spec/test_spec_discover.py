"""`inspan init` reads files, runs nothing, and writes what it found once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from inspan.errors import InvalidSpec
from inspan.spec.config import load
from inspan.spec.discover import discover, document, write
from inspan.workspace.remove import remove_tree

CASES = {
    "pytest by table": ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, {"pytest": "pytest -q"}),
    "pytest by dependency": ({"pyproject.toml": "[dependency-groups]\ndev = ['pytest>=8']\n"}, {"pytest": "pytest -q"}),
    "pytest by ini": ({"pytest.ini": "[pytest]\n"}, {"pytest": "pytest -q"}),
    "pytest by setup.cfg": ({"setup.cfg": "[tool:pytest]\n"}, {"pytest": "pytest -q"}),
    "pytest by requirements": ({"requirements-dev.txt": "pytest==8\n"}, {"pytest": "pytest -q"}),
    "pytest by conftest": ({"tests/conftest.py": ""}, {"pytest": "pytest -q"}),
    "unittest": ({"tests/test_a.py": "import unittest\n"}, {"unittest": "python3 -m unittest -q"}),
    "tox": ({"tox.ini": "[tox]\nenvlist = py\n"}, {"tox": "tox -q"}),
    "tox that runs pytest": ({"tox.ini": "[tox]\n[pytest]\n"}, {"pytest": "pytest -q"}),
    "npm": ({"package.json": {"scripts": {"test": "mocha"}}}, {"npm": "npm test"}),
    "npm without a test": ({"package.json": {"scripts": {"test": 'echo "Error: no test specified" && exit 1'}}}, {}),
    "vitest": ({"package.json": {"devDependencies": {"vitest": "1"}}}, {"vitest": "npx vitest run"}),
    "jest": ({"package.json": {"devDependencies": {"jest": "1"}}}, {"jest": "npx jest"}),
    "go": ({"go.mod": "module x\n"}, {"go": "go test ./..."}),
    "cargo": ({"Cargo.toml": "[package]\n"}, {"cargo": "cargo test --quiet"}),
    "make": ({"Makefile": "all:\n\ntest: all\n\ttrue\n"}, {"make": "make test"}),
    "make check": ({"Makefile": "check:\n\ttrue\n"}, {"make": "make check"}),
    "make variable is no target": ({"Makefile": "test := x\n"}, {}),
    "make gives way": ({"Makefile": "test:\n", "go.mod": "module x\n"}, {"go": "go test ./..."}),
    "two languages": (
        {"go.mod": "", "package.json": {"scripts": {"test": "x"}}},
        {"npm": "npm test", "go": "go test ./..."},
    ),
    "nothing": ({"README.md": "hi"}, {}),
    "broken files": ({"pyproject.toml": "= =", "package.json": "[1", "tox.ini": "garbage"}, {}),
    "odd types": ({"pyproject.toml": "tool = 3\n", "package.json": {"scripts": [], "devDependencies": 1}}, {}),
}


def make(root: Path, files: dict) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return root


@pytest.mark.parametrize("name", CASES)
def test_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, expected = CASES[name]
    found = discover(make(tmp_path, files))
    assert {c.name: c.command for c in found.checks} == expected
    monkeypatch.setenv("INSPAN_CONFIG", str(tmp_path / "none.toml"))
    write(tmp_path, found)
    assert {c.name: c.command for c in load(str(tmp_path), environ={}).checks} == expected


SETUPS = {
    "uv": ({"uv.lock": "", "pyproject.toml": "[build-system]"}, ["uv sync --frozen --no-install-project", "uv sync --frozen"]),
    "uv, no package": ({"uv.lock": "", "pyproject.toml": "[project]"}, ["uv sync --frozen --no-install-project"]),
    "poetry": ({"poetry.lock": "", "pyproject.toml": ""}, ["poetry install --no-root --no-interaction"]),
    "requirements": (
        {"requirements.txt": "a", "setup.py": ""},
        ["python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt", ".venv/bin/pip install -q --no-deps -e ."],
    ),
    "only itself": (
        {"pyproject.toml": "[build-system]\n[project.optional-dependencies]\ntest = []"},
        ["python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]'"],
    ),
    "node": ({"package-lock.json": "{}", "yarn.lock": "", "package.json": {}}, ["yarn install --frozen-lockfile"]),
    "two": ({"package-lock.json": "{}", "package.json": {}, "go.sum": "", "go.mod": ""}, ["npm ci", "go mod download"]),
    "rust": ({"Cargo.lock": "", "Cargo.toml": "", "a/Cargo.toml": ""}, ["cargo fetch --locked"]),
    "nothing": ({"package.json": {}, "go.mod": "", "pyproject.toml": "= ="}, []),
}  # fmt: skip


@pytest.mark.parametrize("name", SETUPS)
def test_setup_is_written_as_a_proposal_that_can_be_taken_in(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, expected = SETUPS[name]
    found = discover(make(tmp_path, files))
    assert [one.command for one in found.setup] == expected
    monkeypatch.setenv("INSPAN_CONFIG", str(tmp_path / "none.toml"))
    path = write(tmp_path, found)
    read = load(str(tmp_path), environ={})
    assert (read.setup, read.setup_inputs) == ((), ())
    text = path.read_text()
    if expected:
        start = text.index("# setup = [")
        end = text.index("# ]", start) + 3
        path.write_text(text[:start] + text[start:end].replace("# ", "", 1).replace("\n# ", "\n") + text[end:])
    assert list(load(str(tmp_path), environ={}).setup) == expected


def test_a_deep_tree_does_not_stop_it(tmp_path: Path) -> None:
    make(tmp_path, {"Cargo.lock": "", "Cargo.toml": "", "b/a/Cargo.toml": "", "target/Cargo.toml": ""})
    (tmp_path / "link").symlink_to("b")
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        for _ in range(2500):
            os.mkdir("d")
            os.chdir("d")
        os.chdir(here)
        found = discover(tmp_path)
    finally:
        os.chdir(here)
        remove_tree(tmp_path / "d")  # whoever tidies up after the tests could not
    assert [one.command for one in found.setup] == ["cargo fetch --locked"]
    assert [path for path in found.setup_inputs if path.endswith(".toml")] == ["Cargo.toml", "b/a/Cargo.toml"]


def test_what_a_proposed_command_reads_is_said(tmp_path: Path) -> None:
    found = discover(
        make(tmp_path, {"requirements.txt": "-r more.txt", "more.txt": "a==1", "pyproject.toml": "[build-system]"})
    )
    assert [one.reads for one in found.setup] == [("more.txt", "requirements.txt"), ()]
    assert found.setup_inputs == ("more.txt", "requirements.txt")
    text = document(found)
    assert "serves every commit with the same more.txt, requirements.txt" in text and "made for every commit" in text


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "inspan.toml").write_text("mine")
    with pytest.raises(InvalidSpec, match="exists already"):
        write(tmp_path, discover(tmp_path))
    assert (tmp_path / "inspan.toml").read_text() == "mine"


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside", {"pytest.ini": "[pytest]\n"})
    root = tmp_path / "repo"
    root.mkdir()
    (root / "pytest.ini").symlink_to(outside / "pytest.ini")
    (root / "tests").symlink_to(outside)
    assert discover(root).checks == ()
