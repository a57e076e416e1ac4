"""``--check [NAME=]CMD``: a name only where it looks like one, so that ``FOO=1 make test`` stays a command."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from inspan.errors import InvalidSpec
from inspan.spec.job import Check

NAME: Final = r"[a-z][a-z0-9_-]{0,30}"
_NAMED = re.compile(rf"({NAME})=(.*)", re.DOTALL)


def parse_checks(texts: Iterable[str], *, timeout: float | None = None) -> tuple[Check, ...]:
    """Checks from their command-line form. Unnamed ones are called ``check``, ``check2``, ``check3`` ...

    Raises:
        InvalidSpec: for an empty command.
    """
    named = [_split(text) for text in texts]
    taken = {name for name, _ in named if name}
    checks = []
    for name, command in named:
        if not command.strip():
            raise InvalidSpec(
                f"check {name or ''!r} has an empty command", where="--check", do="write --check 'unit=pytest -q'"
            )
        if name is None:
            name = next(n for n in _automatic() if n not in taken)
            taken.add(name)
        checks.append(Check(name=name, command=command) if timeout is None else _timed(name, command, timeout))
    return tuple(checks)


def _split(text: str) -> tuple[str | None, str]:
    found = _NAMED.fullmatch(text)
    return (found[1], found[2]) if found else (None, text)


def _timed(name: str, command: str, timeout: float) -> Check:
    return Check(name=name, command=command, timeout=timeout)


def _automatic() -> Iterable[str]:
    yield "check"
    number = 2
    while True:
        yield f"check{number}"
        number += 1
