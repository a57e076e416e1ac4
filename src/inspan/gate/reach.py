"""What the check commands reach through the repository's own files, as base has them. Pure.

A check ``make test`` says nothing by itself: the rule does, the script the rule runs, the makefiles it includes. All of
these decide the check as much as its own words do. Only base's files are read: what the worker wrote cannot make
itself look unreached.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator

from inspan.gate.commands import executed_files, inner_shell, make_targets, placed_commands

Read = Callable[[str], bytes | None]

_DEPTH = 4
_LONGEST = 256 << 10
_MOST_LINES = 2000
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_INCLUDE = re.compile(r"^(?:-include|sinclude|include|-?import\??|mod)\s+(.+)$")
_RULE = re.compile(r"^([^\s:=#][^:=#]*?)\s*::?(?!=)(.*)$")
_NODE = frozenset(("npm", "pnpm", "yarn", "bun"))
_SHORT = {"t": "test", "tst": "test", "rum": "run", "run-script": "run"}
_BUILT_IN = frozenset(("test", "start", "stop", "restart"))


def reached(commands: Iterable[str], paths: Collection[str], read: Read) -> set[str]:
    """Paths that decide what the commands do: scripts, makefiles named or included, however deep they are called.

    Args:
        paths: every path of base.
        read: bytes of a path on base, None where there is none.

    Returns:
        Paths, those that base lacks but an existing makefile would take in included.
    """
    found: set[str] = set()
    lines = [("", command) for command in commands]
    for _ in range(_DEPTH):
        fresh: list[tuple[str, str]] = []
        for folder, line in lines:
            for path, is_script in _named(folder, line, paths, read):
                if path in found:
                    continue
                found.add(path)
                text = _text(read(path)) if is_script else ""
                fresh += [(place, inner) for inner in _lines(text) for place in ("", posixpath.dirname(path))]
            fresh += [(posixpath.join(folder, below), inner) for below, inner in inner_shell(line)]
            fresh += _recipes(folder, line, read)
        lines = list(dict.fromkeys(fresh))[:_MOST_LINES]
    return found


def behind(command: str, read: Read) -> tuple[list[tuple[str, str]], list[str]]:
    """What a command comes to through package scripts, makefiles and inner shells, as base has them.

    Args:
        read: bytes of a path on base, None where there is none.

    Returns:
        The command lines with their directories, without the command itself; and all text that can set variables for
        them, the lines included.
    """
    lines: dict[tuple[str, str], None] = {}
    texts: dict[str, None] = {}
    fresh = [("", command)]
    for _ in range(_DEPTH):
        deeper: list[tuple[str, str]] = []
        for folder, line in fresh:
            deeper += [(posixpath.join(folder, below), inner) for below, inner in inner_shell(line)]
            deeper += _recipes(folder, line, read)
            for makefile in _makefiles(folder, line, read):
                texts |= dict.fromkeys(_text(read(path)) for path in (makefile, *_includes(makefile, read)))
        fresh = [place for place in dict.fromkeys(deeper) if place not in lines][:_MOST_LINES]
        lines |= dict.fromkeys(fresh)
    return list(lines), [*(line for _, line in lines), *texts]


def _named(folder: str, line: str, paths: Collection[str], read: Read) -> Iterator[tuple[str, bool]]:
    """Files one command line names: scripts it executes, then makefiles and what those include."""
    for path in executed_files(line):
        for candidate in dict.fromkeys((posixpath.normpath(posixpath.join(folder, path)), path)):
            if candidate in paths:
                yield candidate, True
                target = _text(read(candidate))
                if target.startswith("link to "):
                    yield posixpath.normpath(posixpath.join(posixpath.dirname(candidate), target[8:])), True
    for makefile in _makefiles(folder, line, read):
        yield makefile, False
        for included in _includes(makefile, read):
            yield included, False


def _makefiles(folder: str, line: str, read: Read) -> Iterator[str]:
    """The makefiles a command line makes use of."""
    for below, words in placed_commands(line):
        if posixpath.basename(words[0]) not in ("make", "gmake"):
            continue
        place = posixpath.join(folder, below)
        named: list[str] = []
        rest = iter(words[1:])
        for word in rest:
            if word in ("-C", "--directory"):
                place = posixpath.join(place, next(rest, ""))
            elif word in ("-f", "--file", "--makefile"):
                named.append(next(rest, ""))
            elif word.startswith(("--file=", "--makefile=", "--directory=")):
                option, _, value = word.partition("=")
                place, named = (
                    (posixpath.join(place, value), named) if option == "--directory" else (place, [*named, value])
                )
            elif word.startswith("-f") and len(word) > 2:
                named.append(word[2:])
        for name in named or _MAKEFILES:
            path = posixpath.normpath(posixpath.join(place, name))
            if named or read(path) is not None:
                yield path


def _includes(makefile: str, read: Read, depth: int = _DEPTH) -> Iterator[str]:
    """Files a makefile takes in; names it computes are not followed."""
    for line in _text(read(makefile)).splitlines() if depth else ():
        match = _INCLUDE.match(line.strip())
        for word in match[1].split("#")[0].split() if match else ():
            if "$" in word or "*" in word:
                continue
            plain = word.strip("'\"")
            # make looks from where it was started: the root, or the makefile's own directory
            for path in {posixpath.normpath(posixpath.join(posixpath.dirname(makefile), plain)), plain}:
                if path != makefile:
                    yield path
                    yield from _includes(path, read, depth - 1)


def _recipes(folder: str, line: str, read: Read) -> list[tuple[str, str]]:
    """Command lines behind a call of make or of a package script."""
    out: list[tuple[str, str]] = []
    targets = make_targets(line)
    for makefile in _makefiles(folder, line, read):
        text = "\n".join(_text(read(path)) for path in (makefile, *_includes(makefile, read)))
        out += [(posixpath.dirname(makefile), recipe) for recipe in _called(text, targets)]
    for below, words in placed_commands(line):
        if posixpath.basename(words[0]) in _NODE:
            place = posixpath.join(folder, below)
            out += [(place, text) for text in _scripts(words, _text(read(posixpath.normpath(f"{place}/package.json"
                    if place else "package.json"))))]  # fmt: skip
    return out


def _called(makefile: str, targets: list[str]) -> list[str]:
    """Recipe lines of the targets and of all they depend on; of the first target when none is named."""
    rules: list[tuple[list[str], list[str], list[str]]] = []
    for line in makefile.replace("\\\n", " ").splitlines():
        rule = _RULE.match(line)
        if line.startswith("\t") and rules:
            rules[-1][2].append(line.strip().lstrip("@-+"))
        elif rule:
            needs, _, inline = rule[2].partition(";")
            rules.append((rule[1].split(), needs.split(), [inline.strip()] if inline.strip() else []))
    first = next((names for names, _, _ in rules if not names[0].startswith(".")), [])
    wanted, out = set(targets or first), []
    for _ in rules:
        wanted |= {need for names, needs, _ in rules if wanted & set(names) for need in needs}
    for names, _, recipe in rules:
        # a name that is computed may be any
        if wanted & set(names) or any(c in name for name in names for c in "%$"):
            out += recipe
    return out


def _scripts(words: list[str], package: str) -> list[str]:
    """The package scripts a command runs, with what runs before and after them."""
    try:
        scripts = json.loads(package).get("scripts", {}) if package else {}
    except (ValueError, AttributeError, RecursionError):
        return []
    if not isinstance(scripts, dict):
        return []
    called = [_SHORT.get(w, w) for w in words[1:] if not w.startswith("-")]
    names = [w for w in called if w in scripts or w in _BUILT_IN]
    wanted = [f"{when}{name}" for name in names for when in ("pre", "", "post")]
    return [str(scripts[name]) for name in wanted if name in scripts]


def _text(data: bytes | None) -> str:
    return (data or b"")[:_LONGEST].decode("utf-8", "surrogateescape")


def _lines(text: str) -> list[str]:
    """Command lines of a shell script."""
    joined = text.replace("\\\n", " ")
    return [line.strip() for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]
