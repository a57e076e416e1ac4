"""Which set-up commands are known to read nothing but lock files and manifests."""

from __future__ import annotations

import json

import pytest

from inspan.spec.provision.commands import known_inputs
from inspan.spec.provision.tree import Inputs, Tree

PACKAGE = json.dumps({"name": "x", "dependencies": {"a": "^1"}, "scripts": {"test": "jest", "build": "tsc"}})
NPM = {"package.json": PACKAGE, "package-lock.json": "{}"}
UV = {
    "pyproject.toml": "[project]\nname = 'x'\n",
    "uv.lock": '[[package]]\nname = "x"\nsource = { editable = "." }\n[[package]]\nname = "a"\nsource = { registry = "r" }\n',
}
POETRY = {"pyproject.toml": "", "poetry.lock": '[[package]]\nname = "a"\n'}


def seen(command: str, files: dict[str, str]) -> Inputs | None:
    data = {path: text.encode() for path, text in files.items()}
    found = known_inputs(command, Tree(data.get, lambda: list(data)))
    return None if found is None else Inputs(found.files & data.keys(), found.names)


def package(**fields: object) -> dict[str, str]:
    return NPM | {"package.json": json.dumps({"name": "x", **fields})}


KNOWN = [
    ("pip install -r requirements.txt", {"requirements.txt": "a==1\nb[c,d]>=2 ; python_version < '4'  # why\n"}),
    ("python3 -m venv .venv && .venv/bin/pip install -q -r r.txt", {"r.txt": "a==1 \\\n  --hash=sha256:00\n"}),
    ("python3 -m venv .venv && .venv/bin/python -m pip install pytest -r a/r.txt", {"a/r.txt": "-c c.txt\n", "a/c.txt": "x\n"}),
    ("pip install -r r.txt", {"r.txt": "--index-url https://x\na @ https://h/a-1.zip\nb @ git+https://h/b\n"}),
    ("uv venv && uv pip sync r.txt", {"r.txt": "a==1\n", "pyproject.toml": ""}),
    ("uv sync --frozen --no-install-project", UV),
    ("poetry install --no-root --no-interaction", POETRY),
    ("pipenv sync --dev", {"Pipfile": "", "Pipfile.lock": "{}"}),
    ("npm ci", NPM | {".npmrc": ""}),
    ("npm ci --no-audit --no-fund", NPM),
    ("npm ci --ignore-scripts", package(scripts={"postinstall": "node x.js"})),
    ("cd web && npm ci", {f"web/{name}": text for name, text in NPM.items()}),
    ("pnpm install --frozen-lockfile", {"package.json": PACKAGE, "pnpm-lock.yaml": ""}),
    ("yarn install --frozen-lockfile", {"package.json": PACKAGE, "yarn.lock": ""}),
    ("go mod download", {"go.mod": "module x\n", "go.sum": ""}),
    ("cargo fetch --locked", {"Cargo.toml": "", "Cargo.lock": "", "a/Cargo.toml": ""}),
]  # fmt: skip


@pytest.mark.parametrize(("command", "files"), KNOWN)
def test_known(command: str, files: dict[str, str]) -> None:
    found = seen(command, files | {"src/app.py": "x", ".nvmrc": "20", "unread.txt": ""})
    assert found is not None and found.files == files.keys() | {".nvmrc"}


@pytest.mark.parametrize("command", [
    "pip install .", "pip install -e .", "pip install .[dev]", "pip install ./lib", "pip install -r requirements.txt .",
    "pip install a.whl", "pip install -r absent.txt", "pip install -r https://h/r.txt", "pip install --target=src -r requirements.txt",
    "npm install", "npm ci && npm run build", "npm ci; true", "npm ci || true", "npm ci --prefix ../x", "cd .. && npm ci",
    "cd web && cd ../.. && npm ci", "sh -c 'npm ci'", "./npm ci", "/opt/npm ci", "A=1 npm ci", "npm ci > log", "npm ci &",
    "pip install $X", "pip install `x`", "go mod download && go build ./...", "cargo fetch", "cargo build --locked", "make", "true",
    "python3 setup.py develop", "python3 -m build", "uv sync --frozen", "uv sync --no-install-project", "poetry install",
    "python3 -m venv /tmp/x", "python3 -m venv ../x", "", "npm ci &&", "&& npm ci",
])  # fmt: skip
def test_unknown_commands(command: str) -> None:
    files = NPM | UV | POETRY | {"requirements.txt": "a==1\n", "go.mod": "", "Cargo.toml": "", "Cargo.lock": ""}
    assert seen(command, files) is None


REFUSED = [
    *(("pip install -r r.txt", {"r.txt": line}) for line in (
        "-e .", "--editable ./x", ".", "./x", "../x", "/abs", "file:x", "x @ file:///y", "x @ ./y", "-r absent", "-f ./wheels",
        "--find-links=wheels", "a.tar.gz", "-r ../r.txt", "src/x",
    )),
    ("pip install -r r.txt", {"r.txt": "-r r.txt"}),
    (".venv/bin/pip install a", {".venv/bin/pip": "#!/bin/sh"}),
    ("uv sync --frozen --no-install-project", UV | {"uv.lock": '[[package]]\nname = "l"\nsource = { directory = "lib" }\n'}),
    ("uv sync --frozen --no-install-project", UV | {"uv.lock": "= ="}),
    ("uv sync --frozen --no-install-project", UV | {"pyproject.toml": "[tool.uv.workspace]\nmembers = ['a']\n"}),
    ("poetry install --no-root", POETRY | {"poetry.lock": '[package.source]\ntype = "directory"\n'}),
    ("pipenv sync", {"Pipfile": "", "Pipfile.lock": '{"default": {"x": {"path": "."}}}'}),
    *(("npm ci", package(scripts={name: "node x.js"})) for name in ("preinstall", "install", "postinstall", "prepare")),
    ("npm ci", package(workspaces=["packages/*"])),
    ("npm ci", package(dependencies={"a": "file:./a"})),
    ("npm ci", package(dependencies={"prisma": "5"})),
    ("npm ci", NPM | {"package-lock.json": '{"packages": {"node_modules/a": {"resolved": "a", "link": true}}}'}),
    ("npm ci", NPM | {"binding.gyp": "{}"}),
    ("npm ci", {"package.json": PACKAGE}),
    ("npm ci", NPM | {"package.json": "[]"}),
    ("npm ci", NPM | {"package.json": "{"}),
    ("pnpm install --frozen-lockfile", {"package.json": PACKAGE, "pnpm-lock.yaml": "", "pnpm-workspace.yaml": ""}),
    ("pnpm install --frozen-lockfile", {"package.json": PACKAGE, "pnpm-lock.yaml": "version: link:../a"}),
    ("yarn install --immutable", {"package.json": PACKAGE, "yarn.lock": "", ".yarnrc.yml": "yarnPath: .yarn/r.cjs"}),
    ("go mod download", {"go.mod": "replace x => ./y\n"}),
    ("go mod download", {"go.mod": "module x\n", "go.work": ""}),
]  # fmt: skip


@pytest.mark.parametrize(("command", "files"), REFUSED)
def test_known_commands_that_read_more(command: str, files: dict[str, str]) -> None:
    assert seen(command, files) is None


def test_cargo_sees_that_sources_exist_and_not_what_they_hold() -> None:
    found = seen("cargo fetch --locked", {"Cargo.toml": "", "src/lib.rs": "secret", "README.md": ""})
    assert found is not None and (found.files, found.names) == ({"Cargo.toml"}, {"src/lib.rs"})


def test_odd_package_files_are_unknown() -> None:
    for odd in ({"dependencies": 3}, {"scripts": [1]}, {"dependencies": ["a"]}, {"scripts": "x"}):
        assert seen("npm ci", package(**odd)) is None, odd
