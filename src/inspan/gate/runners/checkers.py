"""Digests of programs that only read the source: tsc, eslint, ruff and mypy. Recognised by the form of their lines.

Findings are shown errors first, one line each with its place; a complaint made many times is shown once, counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

_TSC = re.compile(
    r"^(?P<path>\S.*?)(?:\((?P<line>\d+),(?P<column>\d+)\):|:(?P<line2>\d+):(?P<column2>\d+) -) "
    r"(?P<level>error|warning) (?P<code>TS\d+): (?P<text>.*)$"
)
_TSC_PLAIN = re.compile(r"^(?P<level>error) (?P<code>TS\d+): (?P<text>.*)$")
_ESLINT_FILE = re.compile(r"^(/|[A-Za-z]:\\|\.{0,2}\w)\S*\.\w+$")
_ESLINT = re.compile(
    r"^\s+(?P<line>\d+):(?P<column>\d+)\s+(?P<level>error|warning)\s+(?P<text>.*?)(?:\s{2,}(?P<code>[@\w][\w@/.-]*))?$"
)
_RUFF_HEAD = re.compile(r"^(?P<code>[A-Z]+\d+|invalid-syntax):?(?: \[\*\])? (?P<text>.+)$")
_RUFF_PLACE = re.compile(r"^\s*--> (?P<path>\S.*?):(?P<line>\d+):(?P<column>\d+)$")
_RUFF = re.compile(
    r"^(?P<path>\S.*?):(?P<line>\d+):(?P<column>\d+): (?P<code>[A-Z]+\d+|invalid-syntax):?(?: \[\*\])? (?P<text>.*)$"
)
_REFORMAT = re.compile(r"^Would reformat: (?P<path>\S.*)$")
_MYPY = re.compile(
    r"^(?P<path>\S.*?\.pyi?):(?P<line>\d+)(?::(?P<column>\d+))?(?::\d+:\d+)?: (?P<level>error|warning): "
    r"(?P<text>.*?)(?:\s+\[(?P<code>[a-z][a-z0-9-]+)\])?\s*$"
)
_SHOWN, _LONGEST = 20, 200


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One complaint with its place."""

    place: str
    level: str
    text: str
    code: str


def _finding(match: re.Match[str], path: str = "", **given: str) -> Finding:
    found = {k: v for k, v in match.groupdict().items() if v} | given
    line, column = found.get("line") or found.get("line2"), found.get("column") or found.get("column2")
    place = ":".join(filter(None, (found.get("path") or path, line, column)))
    return Finding(
        place=place, level=found.get("level", "error"), text=found.get("text", ""), code=found.get("code", "")
    )


def _tsc(lines: list[str]) -> Iterator[Finding]:
    for line in lines:
        match = _TSC.match(line) or _TSC_PLAIN.match(line)
        if match:
            yield _finding(match)


def _eslint(lines: list[str]) -> Iterator[Finding]:
    path = ""
    for line in lines:
        match = _ESLINT.match(line)
        if match and path:
            yield _finding(match, path)
        elif not line.startswith(" "):
            path = line.strip() if _ESLINT_FILE.match(line) else ""


def _ruff(lines: list[str]) -> Iterator[Finding]:
    for line, following in zip(lines, [*lines, ""][1:], strict=True):
        head, place = _RUFF_HEAD.match(line), _RUFF_PLACE.match(following)
        concise, reformat = _RUFF.match(line), _REFORMAT.match(line)
        if head and place:
            yield _finding(place, text=head["text"], code=head["code"])
        elif concise:
            yield _finding(concise)
        elif reformat:
            yield _finding(reformat, text="would be reformatted")


def _mypy(lines: list[str]) -> Iterator[Finding]:
    for line in lines:
        match = _MYPY.match(line)
        if match:
            yield _finding(match)


_READERS: tuple[Callable[[list[str]], Iterator[Finding]], ...] = (_tsc, _eslint, _ruff, _mypy)


def complaints(lines: list[str]) -> Iterator[str]:
    """Every checker's findings in the output, errors first, repetitions of one complaint counted."""
    for read in _READERS:
        found = list(dict.fromkeys(read(lines)))
        alike: dict[tuple[str, str, str], list[Finding]] = {}
        for finding in sorted(found, key=lambda f: f.level != "error"):
            alike.setdefault((finding.level, finding.code, finding.text), []).append(finding)
        for shown, same in list(alike.items())[:_SHOWN]:
            yield _line(*shown, same)
        if len(alike) > _SHOWN:
            yield f"... and {len(alike) - _SHOWN} more kinds of complaint; {len(found)} in all"


def _line(level: str, code: str, text: str, same: list[Finding]) -> str:
    places = ", ".join(f.place for f in same[1:3])
    more = f" (also {places}{f' and {len(same) - 3} more' if len(same) > 3 else ''})" if places else ""
    word = "" if level == "error" else f"{level}: "
    head = f"{same[0].place}: " if same[0].place else ""
    return f"{head}{word}{text[:_LONGEST]}{f' [{code}]' if code else ''}{more}"
