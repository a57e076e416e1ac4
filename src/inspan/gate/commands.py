"""What a check command calls, read from its text. Pure, and only ever used to be *more* careful.

A command line is split at shell operators into simple commands; each keeps its words. What cannot be parsed has no
known runner and executes no known file.
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
    """Files of the tree that the command runs as a check script: shell scripts, and programs with a checking name."""
    for words in simple_commands(command):
        candidates = [words[0]]
        if _INTERPRETERS.match(posixpath.basename(words[0])):
            candidates = [w for w in words[1:] if not w.startswith("-")][:1]
        elif words[0] in (".", "source"):
            candidates = words[1:2]
        for word in candidates:
            path = posixpath.normpath(word)
            stem = posixpath.splitext(posixpath.basename(path))[0].lower()
            if path.endswith((".sh", ".bash")) or _CHECKISH.search(stem):
                yield path


def make_targets(command: str) -> list[str]:
    """Targets asked of make or just by this command."""
    out: list[str] = []
    for words in simple_commands(command):
        if posixpath.basename(words[0]) in ("make", "gmake", "just"):
            out += [w for w in words[1:] if not w.startswith("-") and "=" not in w]
    return out
