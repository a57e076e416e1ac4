"""What set-up commands read of a repository, for commands whose tools are known. Pure.

A command that is not recognised completely may read anything; only one that is known to read nothing but lock files and
manifests can be run with those alone in view, and its result be shared by every base that has the same ones. The rules
err on the side of *unknown*: a project that is built or installed itself, a dependency that is a directory of the
repository, a life-cycle script, or any shell syntax beyond ``cd DIR && COMMAND && ...`` is.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Sequence

from inspan.spec.provision import node, python
from inspan.spec.provision.tree import Inputs, Tree, at, files, only

_VERSIONS = frozenset((".python-version", ".tool-versions", ".nvmrc", ".node-version", "mise.toml", ".mise.toml"))
"""What version managers look for at the root, whatever command they stand in front of."""


def known_inputs(command: str, tree: Tree) -> Inputs | None:
    """Everything ``command``, run by ``sh -c`` at the root, reads of the repository; None when that is not known."""
    words = _simple(command)
    if words is None:
        return None
    found, folder = Inputs(_VERSIONS), ""
    for one in words:
        if one[0] == "cd":
            folder = at(folder, one[1]) if len(one) == 2 else ".."
            if folder.startswith(("/", "..", "-")):
                return None
            continue
        read = _of_command(one, "" if folder == "." else folder, tree)
        if read is None:
            return None
        found |= read
    return found


def _simple(command: str) -> list[list[str]] | None:
    """The commands of ``A && B && ...`` as words; None where the shell would do anything more."""
    if re.search(r"[$`*?\[\]~;<>(){}\\\n#!]", command):
        return None
    try:
        parts = shlex.shlex(command, posix=True, punctuation_chars=True)
        parts.whitespace_split = True
        words = list(parts)
    except ValueError:
        return None
    found: list[list[str]] = [[]]
    for word in words:
        if word == "&&":
            found.append([])
        elif set(word) <= set("&|"):
            return None
        else:
            found[-1].append(word)
    return found if all(found) and not any("=" in one[0] for one in found) else None


def _of_command(words: Sequence[str], folder: str, tree: Tree) -> Inputs | None:
    program, rest = words[0], list(words[1:])
    of_environment = re.fullmatch(r"[\w.-]+/bin/[\w.-]+", program) and tree.read(at(folder, program)) is None
    if "/" in program and not of_environment:
        return None
    name = posixpath.basename(program)
    if re.fullmatch(r"python(3(\.\d+)?)?", name) and len(rest) > 1 and rest[0] == "-m":
        name, rest = rest[1], rest[2:]
        if name == "venv":
            return python.venv(rest)
    if re.fullmatch(r"pip(3(\.\d+)?)?", name) and rest[:1] == ["install"]:
        return python.requirements(rest[1:], folder, tree)
    if name == "uv":
        return python.uv(rest, folder, tree)
    rule = _RULES.get((name, rest[0] if rest else ""))
    return None if rule is None else rule(rest[1:], folder, tree)


def _go(rest: Sequence[str], folder: str, tree: Tree) -> Inputs | None:
    text = tree.text(at(folder, "go.mod"))
    if folder or rest[:1] != ["download"] or rest[1:] not in ([], ["-x"]) or text is None:
        return None
    if re.search(r"=>\s*\.{0,2}/", text) or tree.read("go.work") is not None:
        return None
    return files(folder, "go.mod", "go.sum")


def _cargo(rest: Sequence[str], folder: str, tree: Tree) -> Inputs | None:
    """``cargo fetch`` reads every manifest and looks which targets exist; what is in them it does not read."""
    if folder or "--locked" not in rest or only(rest, ("--locked", "-q", "--quiet")) is None:
        return None
    paths = tree.listing()
    manifests = re.compile(r"(.*/)?(Cargo\.toml|rust-toolchain(\.toml)?|\.cargo/config(\.toml)?)")
    read = [path for path in paths if manifests.fullmatch(path)]
    return Inputs(frozenset([*read, "Cargo.lock"]), frozenset(path for path in paths if path.endswith(".rs")))


_RULES: dict[tuple[str, str], Callable[[Sequence[str], str, Tree], Inputs | None]] = {
    ("poetry", "install"): python.poetry,
    ("pipenv", "sync"): python.pipenv,
    ("npm", "ci"): node.npm,
    ("pnpm", "install"): node.pnpm,
    ("yarn", "install"): node.yarn,
    ("go", "mod"): _go,
    ("cargo", "fetch"): _cargo,
}
