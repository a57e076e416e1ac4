"""What ``inspan init`` finds: a repository's checks and set-up commands, from its files alone. Nothing is executed."""

from __future__ import annotations

import configparser
import contextlib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from inspan.errors import InvalidSpec
from inspan.spec.files import read_file
from inspan.spec.paths import REPOSITORY_CONFIG
from inspan.spec.provision.found import FoundSetup, find_setup_commands
from inspan.spec.provision.tree import Tree

_NOT_LOOKED_INTO = frozenset((".git", ".venv", "node_modules", "target", "vendor"))
_MANY = 1000


class Found(msgspec.Struct, frozen=True):
    """One check and the file that suggests it."""

    name: str
    command: str
    because: str


class Discovery(msgspec.Struct, frozen=True, kw_only=True):
    """What was found. ``setup_inputs`` are the files that set-up commands are known to read."""

    checks: tuple[Found, ...] = ()
    setup: tuple[FoundSetup, ...] = ()
    setup_inputs: tuple[str, ...] = ()


def discover(root: Path) -> Discovery:
    """Look at the well-known files of the repository at ``root``.

    Raises:
        InvalidSpec: for a well-known file that cannot be read.
    """
    checks = [*_python(root), *_node(root)]
    for file, name, command in (("go.mod", "go", "go test ./..."), ("Cargo.toml", "cargo", "cargo test --quiet")):
        if _text(root, file) is not None:
            checks.append(Found(name, command, file))
    if not checks:
        checks += _make(root)
    setup = find_setup_commands(Tree(lambda path: _bytes(root, path), lambda: _manifests(root)))
    inputs = sorted({path for one in setup for path in one.reads})
    return Discovery(checks=tuple(checks), setup=setup, setup_inputs=tuple(inputs))


def _manifests(root: Path) -> list[str]:
    """The manifests of a workspace of crates; no link is followed."""
    found: list[str] = []
    waiting = [""]
    while waiting and len(found) <= _MANY:
        here = waiting.pop()
        try:
            with os.scandir(root / here) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:  # closed, or too deep to be named
            continue
        folders = [e.name for e in listed if e.is_dir(follow_symlinks=False) and e.name not in _NOT_LOOKED_INTO]
        waiting += [os.path.join(here, name) for name in reversed(folders[:_MANY])]
        found += [os.path.join(here, e.name) for e in listed if e.name == "Cargo.toml" and not e.is_dir()]
    return found


def _bytes(root: Path, name: str) -> bytes | None:
    path = root / name
    return None if path.is_dir() or path.is_symlink() else read_file(path, follow=False)


def _text(root: Path, name: str) -> str | None:
    data = _bytes(root, name)
    return None if data is None else data.decode("utf-8", "replace")


def _toml(root: Path, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(_text(root, name) or "")
    except tomllib.TOMLDecodeError:
        return {}


def _sections(root: Path, name: str) -> set[str]:
    parser = configparser.RawConfigParser(strict=False)
    with contextlib.suppress(configparser.Error):
        parser.read_string(_text(root, name) or "")
    return set(parser.sections())


def _python(root: Path) -> Iterator[Found]:
    because = _pytest_because(root)
    if because:
        yield Found("pytest", "pytest -q", because)
    elif "tox" in _sections(root, "tox.ini") or "tox" in _mapping(_toml(root, "pyproject.toml").get("tool")):
        yield Found("tox", "tox -q", "tox.ini" if "tox" in _sections(root, "tox.ini") else "pyproject.toml")
    else:
        tests = next(_test_files(root), None)
        if tests:
            yield Found("unittest", "python3 -m unittest -q", tests)


def _pytest_because(root: Path) -> str | None:
    project = _toml(root, "pyproject.toml")
    requirements = json.dumps(_requirements(project), default=str)
    if "pytest" in _mapping(project.get("tool")) or re.search(r"\bpytest\b", requirements):
        return "pyproject.toml"
    for file, section in (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        if section in _sections(root, file):
            return file
    for file in ("requirements-dev.txt", "requirements-test.txt", "requirements.txt", "dev-requirements.txt"):
        if re.search(r"^pytest\b", _text(root, file) or "", re.MULTILINE):
            return file
    return next((f for f in ("conftest.py", "tests/conftest.py", "test/conftest.py") if (root / f).is_file()), None)


def _requirements(project: dict[str, Any]) -> list[Any]:
    table = _mapping(project.get("project"))
    poetry = _mapping(_mapping(project.get("tool")).get("poetry"))
    return [
        table.get("dependencies"),
        table.get("optional-dependencies"),
        project.get("dependency-groups"),
        poetry.get("group"),
        poetry.get("dev-dependencies"),
    ]


def _test_files(root: Path) -> Iterator[str]:
    for folder in (".", "tests", "test"):
        place = root / folder
        if place.is_dir() and not place.is_symlink():
            for name in sorted(os.listdir(place)):
                if re.fullmatch(r"test.*\.py", name) and "unittest" in (_text(place, name) or ""):
                    yield name if folder == "." else f"{folder}/{name}"


def _node(root: Path) -> Iterator[Found]:
    try:
        package = json.loads(_text(root, "package.json") or "{}")
    except (ValueError, RecursionError):
        return
    if not isinstance(package, dict):
        return
    scripts = package.get("scripts")
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if isinstance(script, str) and script.strip() and "no test specified" not in script:
        yield Found("npm", "npm test", "package.json")
        return
    used = {**_mapping(package.get("dependencies")), **_mapping(package.get("devDependencies"))}
    for name, command in (("vitest", "npx vitest run"), ("jest", "npx jest")):
        if name in used:
            yield Found(name, command, "package.json")
            return


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _make(root: Path) -> Iterator[Found]:
    for file in ("GNUmakefile", "makefile", "Makefile"):
        targets = re.findall(r"^([A-Za-z][\w.-]*)\s*:(?!=)", _text(root, file) or "", re.MULTILINE)
        for target in ("test", "check"):
            if target in targets:
                yield Found("make", f"make {target}", file)
                return


def document(found: Discovery) -> str:
    """The text of an ``inspan.toml`` that holds what was found."""
    import tomlkit

    made = tomlkit.document()
    made.add(tomlkit.comment("How this repository's work is checked and set up by inspan."))
    made.add(tomlkit.comment("Only checks, scope, setup and setup_inputs are read here; see `inspan config`."))
    if found.setup:
        made.add(tomlkit.nl())
        for line in _proposal(found.setup):
            made.add(tomlkit.comment(line))
    made.add(tomlkit.nl())
    checks = tomlkit.table()
    for check in found.checks:
        checks.add(check.name, check.command)
        checks[check.name].comment(f"found in {check.because}")
    if not found.checks:
        checks.add(tomlkit.comment('none was found; write one like: unit = "pytest -q"'))
    made.add("checks", checks)
    return tomlkit.dumps(made)


def _proposal(setup: Sequence[FoundSetup]) -> Iterator[str]:
    """The lines of a proposed ``setup``, to be taken in by removing what makes them comments."""
    yield "Set-up commands found. They run before any agent exists, inside the sandbox, and reach nothing but what"
    yield "--egress grants, such as HOST:PORT of a package index; a dependency directory of the checkout can be shown"
    yield "instead with --share. For commands of your own, setup_inputs names the files they read: they see no others,"
    yield "and what they make then serves every commit with the same files."
    yield "setup = ["
    for one in setup:
        serves = f"serves every commit with the same {', '.join(one.reads)}" if one.reads else "made for every commit"
        yield f"  {json.dumps(one.command)},  # {one.because} is here; {serves}"
    yield "]"


def write(root: Path, found: Discovery) -> Path:
    """Write ``inspan.toml`` at ``root`` and return its path.

    Raises:
        InvalidSpec: when one exists, or the place cannot be written; nothing is changed then.
    """
    path = root / REPOSITORY_CONFIG
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(document(found))
    except FileExistsError:
        raise InvalidSpec(
            f"{REPOSITORY_CONFIG} exists already", where=str(path), do="edit it, or remove it first"
        ) from None
    except OSError as error:
        raise InvalidSpec(
            f"{REPOSITORY_CONFIG} cannot be written: {error.strerror}", where=str(path), do="make the place writable"
        ) from None
    return path
