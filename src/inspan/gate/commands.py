"""What a check command calls, read from its text. Pure, and only ever used to be *more* careful.

A command line is split at shell operators into simple commands; each keeps its words. What cannot be parsed has no
known runner and executes no known file. What a command reaches through a makefile, a package script or a shell script
is in ``reach``.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator

_OPERATORS = frozenset(";&|()<>\n")
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")
_PYTHON = re.compile(r"^(python|python3|pypy3?)(\.\d+)*$")
_INTERPRETERS = re.compile(r"^(sh|bash|dash|zsh|ksh|node|deno|bun|ruby|perl|python|python3|pypy3?)(\.\d+)*$")
_SHELLS = re.compile(r"^(sh|bash|dash|zsh|ksh)$")
_WITH_VALUE = frozenset(("-W", "-X", "-r", "--require", "--import", "--loader"))
_RUN_PREFIXES = frozenset(("uv", "poetry", "pdm", "hatch", "pipenv", "rye", "bundle", "npm", "pnpm", "yarn"))
_WRAPPERS = frozenset(("env", "time", "nice", "nohup", "exec", "command", "timeout", "xvfb-run"))
_CHECKISH = re.compile(r"(^|[_.-])(check|checks|verify|test|tests|lint|gate|ci|validate|grade|score|judge)([_.-]|s?$)")


def simple_commands(command: str) -> list[list[str]]:
    """The simple commands of a shell line, each as words without leading assignments and wrappers."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    out: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word and set(word) <= _OPERATORS:
                out.append([])
            else:
                out[-1].append(word)
    except ValueError:
        return []
    return [stripped for words in out if (stripped := _stripped(words))]


def _stripped(words: list[str]) -> list[str]:
    rest = list(words)
    while rest and (_ASSIGNMENT.match(rest[0]) or rest[0] in _WRAPPERS):
        wrapper = rest.pop(0)
        while wrapper in _WRAPPERS and rest and (rest[0].startswith("-") or re.fullmatch(r"[\d.]+[smhd]?", rest[0])):
            rest.pop(0)
    return rest


def is_python(word: str) -> bool:
    """Whether this word names a Python interpreter."""
    return bool(_PYTHON.match(posixpath.basename(word)))


def python_module(words: list[str]) -> str | None:
    """The module of ``python -m MODULE``; None for another form and for an interpreter that ignores the environment."""
    if not words or not is_python(words[0]):
        return None
    rest = iter(words[1:])
    for word in rest:
        if word == "-m":
            return next(rest, None)
        if word in ("-W", "-X"):
            next(rest, None)
        elif not word.startswith("-") or re.match(r"^-\w*[IE]", word):
            return None
    return None


def executed_files(command: str) -> Iterator[str]:
    """Files of the tree that the command runs as a check script: shell scripts, programs called by their path, and
    what an interpreter is given when it has a checking name (``python src/app.py`` runs the product).

    A ``cd`` is followed as far as it is a plain directory of the tree.
    """
    for folder, words in placed_commands(command):
        for word in _executed(words):
            path = posixpath.normpath(posixpath.join(folder, word))
            stem = posixpath.splitext(posixpath.basename(path))[0].lower()
            shell = bool(_SHELLS.match(posixpath.basename(words[0]))) or words[0] in (".", "source")
            direct = word == words[0] and "/" in word
            if shell or direct or path.endswith((".sh", ".bash")) or _CHECKISH.search(stem):
                yield path


def placed_commands(command: str) -> Iterator[tuple[str, list[str]]]:
    """Each simple command with the directory of the tree it runs in, ``""`` for the root."""
    folder = ""
    for words in simple_commands(command):
        if words[0] in ("cd", "pushd") and len(words) > 1:
            folder = posixpath.normpath(posixpath.join(folder, words[-1]))
            folder = "" if folder == "." else folder
        else:
            yield folder, words


def _executed(words: list[str]) -> list[str]:
    """The words of one simple command that may be the file it executes."""
    name = posixpath.basename(words[0])
    if name in _RUN_PREFIXES and words[1:2] == ["run"]:
        rest = [w for w in words[2:] if not w.startswith("-")]
        return _executed(words[words.index(rest[0], 2) :]) if rest else []
    if words[0] in (".", "source"):
        return words[1:2]
    if not _INTERPRETERS.match(name):
        return words[:1]
    rest = words[1:]
    while rest and rest[0].startswith(("-", "+")):
        option = rest.pop(0)
        if option in ("-c", "-m", "-e", "--eval", "-p"):
            return []
        if option in _WITH_VALUE or (_SHELLS.match(name) and re.fullmatch(r"[-+]\w*[oO]", option)):
            del rest[:1]
    return rest[:1]


def inner_shell(command: str) -> Iterator[tuple[str, str]]:
    """The command lines handed to another shell by ``sh -c``, each with its directory."""
    for folder, words in placed_commands(command):
        if _SHELLS.match(posixpath.basename(words[0])):
            at = next((n for n, w in enumerate(words[1:], 1) if re.fullmatch(r"-\w*c", w)), None)
            if at is not None and len(words) > at + 1:
                yield folder, words[at + 1]


def make_targets(command: str) -> list[str]:
    """Targets asked of make or just by this command."""
    out: list[str] = []
    for words in simple_commands(command):
        if posixpath.basename(words[0]) in ("make", "gmake", "just"):
            out += [w for w in words[1:] if not w.startswith("-") and "=" not in w]
    return out
