"""Which set-up commands a repository's files suggest. Nothing is executed.

Dependencies come first, by a command that is known to read lock files alone where there is one, and what installs the
repository itself after them: so a later commit makes only the latter anew.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from inspan.spec.provision.commands import known_inputs
from inspan.spec.provision.tree import Tree, table, toml


class FoundSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One set-up command.

    Attributes:
        command: a shell command line.
        because: the file that suggests it.
        reads: the files of this repository that it reads, known before it runs; empty for one that may read anything.
    """

    command: str
    because: str
    reads: tuple[str, ...] = ()


_VENV = "python3 -m venv .venv && .venv/bin/pip install -q"
_PYTHON = (  # file, what installs dependencies, what installs the repository after them; the first that is there wins
    ("uv.lock", "uv sync --frozen --no-install-project", "uv sync --frozen"),
    ("poetry.lock", "poetry install --no-root --no-interaction", "poetry install --only-root --no-interaction"),
    ("Pipfile.lock", "pipenv sync --dev", "pipenv run pip install -q --no-deps -e ."),
    ("requirements-dev.txt", f"{_VENV} -r requirements-dev.txt", ".venv/bin/pip install -q --no-deps -e ."),
    ("requirements.txt", f"{_VENV} -r requirements.txt", ".venv/bin/pip install -q --no-deps -e ."),
)
_EXTRAS = ("dev", "test", "tests", "testing")
_NODE = (
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install --frozen-lockfile"),
    ("npm-shrinkwrap.json", "npm ci"),
    ("package-lock.json", "npm ci"),
)
_OTHERS = (("go.sum", "go mod download"), ("Cargo.lock", "cargo fetch --locked"))


def find_setup_commands(tree: Tree) -> tuple[FoundSetup, ...]:
    """The commands for every language the repository has a manifest or lock file of, in the order they have to run."""
    named = [*_python(tree), *_node(tree), *((c, file) for file, c in _OTHERS if tree.read(file) is not None)]
    found = []
    for command, because in named:
        read = known_inputs(command, tree)
        files = sorted(path for path in read.files if tree.read(path) is not None) if read is not None else ()
        found.append(FoundSetup(command=command, because=because, reads=tuple(files)))
    return tuple(found)


def _python(tree: Tree) -> Iterator[tuple[str, str]]:
    project = toml(tree.text("pyproject.toml"))
    itself = "pyproject.toml" if "build-system" in (project or {}) else None
    itself = "setup.py" if itself is None and tree.read("setup.py") is not None else itself
    for file, dependencies, installs in _PYTHON:
        if tree.read(file) is not None:
            yield dependencies, file
            if itself is not None:
                yield installs, itself
            return
    if itself is not None:
        extras = table(project, "project", "optional-dependencies")
        wanted = next((f"[{name}]" for name in _EXTRAS if name in extras), "")
        yield f"{_VENV} -e '.{wanted}'" if wanted else f"{_VENV} -e .", itself


def _node(tree: Tree) -> Iterator[tuple[str, str]]:
    for file, command in _NODE:
        if tree.read(file) is not None:
            yield command, file
            return
