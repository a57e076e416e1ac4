"""Set-up commands of Python: ``venv``, pip, uv, poetry and pipenv. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from inspan.spec.provision.tree import Inputs, Tree, at, files, only, table, toml

_DEPTH = 8
_VENV = (
    "--clear",
    "--system-site-packages",
    "--symlinks",
    "--copies",
    "--upgrade-deps",
    "--without-pip",
    "-q",
    "--seed",
)


def venv(rest: Sequence[str]) -> Inputs | None:
    """``python -m venv``."""
    return only(rest, _VENV, values=("--prompt",))


_PIP = (
    "-q", "-qq", "--quiet", "-U", "--upgrade", "--no-deps", "--require-hashes", "--disable-pip-version-check", "--pre",
    "--no-cache-dir", "--no-cache", "--no-input", "--prefer-binary", "--no-compile", "--only-binary=:all:",
    "--ignore-installed", "--force-reinstall", "--system", "--strict",
)  # fmt: skip
_PIP_LINE = (
    "--index-url", "-i", "--extra-index-url", "--no-index", "--pre", "--prefer-binary", "--only-binary", "--no-binary",
    "--require-hashes", "--trusted-host", "--use-feature",
)  # fmt: skip
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[^\]]*\])?\s*([<>=!~;,(].*)?")
_BY_ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[^\]]*\])?\s*@\s*(git\+)?https?://\S+(\s*;.*)?")
_ARCHIVE = re.compile(r"\.(whl|zip|tar|tgz|tar\.\w+)(\s|;|$)")


def requirements(rest: Sequence[str], folder: str, tree: Tree) -> Inputs | None:
    """``pip install``: requirements by name and in files, nothing of the repository itself."""
    found, words = Inputs(), iter(rest)
    for word in words:
        option, _, value = word.partition("=")
        if option in ("-r", "--requirement", "-c", "--constraint"):
            read = _requirements_file(at(folder, value or next(words, "")), tree)
        elif word.startswith("-"):
            read = Inputs() if word in _PIP else None
        else:
            read = Inputs() if _by_name(word) else None
        if read is None:
            return None
        found |= read
    return found


def _by_name(requirement: str) -> bool:
    if _BY_ADDRESS.fullmatch(requirement):
        return True
    return _REQUIREMENT.fullmatch(requirement) is not None and not _ARCHIVE.search(requirement)


def _requirements_file(path: str, tree: Tree, depth: int = _DEPTH) -> Inputs | None:
    text = tree.text(path)
    if text is None or depth == 0 or path.startswith(".."):
        return None
    found = Inputs(frozenset([path]))
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        line = re.sub(r"(^|\s)#.*$", "", line).strip()
        if not line:
            continue
        nested = re.fullmatch(r"(?:-r|--requirement|-c|--constraint)[\s=]*(\S+)", line)
        if nested:
            read = _requirements_file(at(posixpath.dirname(path), nested[1]), tree, depth - 1)
            if read is None:
                return None
            found |= read
        elif line.startswith("-"):
            if re.split(r"[\s=]", line)[0] not in _PIP_LINE:
                return None
        elif not _by_name(re.sub(r"(\s+--(hash|config-settings|global-option)[=\s]\S+)+$", "", line)):
            return None
    return found


def uv(rest: Sequence[str], folder: str, tree: Tree) -> Inputs | None:
    """``uv venv``, ``uv pip install``, ``uv pip sync``, and ``uv sync`` of a lock file without the project itself."""
    settings = files(folder, "pyproject.toml", "uv.toml", ".python-version")
    if folder or "workspace" in table(toml(tree.text("pyproject.toml")), "tool", "uv"):
        return None  # settings of directories above count as well, and a workspace is made of its members
    if rest[:1] == ["venv"]:
        made = only(rest[1:], _VENV, values=("--python", "-p"))
        return None if made is None else settings
    if rest[:2] in (["pip", "install"], ["pip", "sync"]):
        named = rest[2:]
        if rest[1] == "sync":
            named = [part for word in named for part in ((word,) if word.startswith("-") else ("-r", word))]
        read = requirements(named, folder, tree)
        return None if read is None else read | settings
    if rest[:1] != ["sync"] or not {"--frozen", "--locked"} & set(rest) or "--no-install-project" not in rest:
        return None
    lock = toml(tree.text("uv.lock"))
    if lock is None or only(rest[1:], _UV_SYNC, values=("--group", "--extra", "--no-group", "--python")) is None:
        return None
    for package in lock.get("package", ()):
        source = package.get("source", {}) if isinstance(package, dict) else {}
        if any(source.get(kind, ".") != "." for kind in ("editable", "directory", "path", "virtual")):
            return None
    return settings | files(folder, "uv.lock")


_UV_SYNC = (
    "--frozen", "--locked", "--no-install-project", "--all-groups", "--all-extras", "--no-dev", "--dev", "-q",
    "--quiet", "--no-cache", "--compile-bytecode",
)  # fmt: skip


_POETRY = (
    "--no-root", "--no-interaction", "-n", "-q", "--quiet", "--sync", "--no-cache", "--all-extras", "--no-ansi",
)  # fmt: skip


def poetry(rest: Sequence[str], folder: str, tree: Tree) -> Inputs | None:
    """``poetry install --no-root``."""
    lock = tree.text(at(folder, "poetry.lock"))
    if "--no-root" not in rest or lock is None or only(rest, _POETRY, ("--with", "--without", "--only")) is None:
        return None
    if re.search(r'^type = "(directory|file)"', lock, re.MULTILINE):
        return None
    return files(folder, "pyproject.toml", "poetry.lock", "poetry.toml")


def pipenv(rest: Sequence[str], folder: str, tree: Tree) -> Inputs | None:
    """``pipenv sync``."""
    lock = tree.text(at(folder, "Pipfile.lock"))
    if lock is None or re.search(r'"(path|file|editable)"\s*:', lock) or only(rest, ("--dev", "-d")) is None:
        return None
    return files(folder, "Pipfile", "Pipfile.lock")
