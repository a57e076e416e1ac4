"""jest: a reporter of ours joins those the project configured, where jest reads its configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspan.gate.results import TestRun, read_lines
from inspan.gate.runners.contract import Arranged, Call, Family, Left, Request
from inspan.gate.runners.nodejs import arranged, called, option

_NOT_RUNNING = frozenset(("--listTests", "--showConfig", "--version", "--help", "--init", "--clearCache", "--watch"))
_HEAD = re.compile(r"^  ● (?!Console$|process\.exit)")
_SUMMARY = re.compile(r"^(Tests|Test Suites|Snapshots):\s+.*total$|^Jest: ")
_PLACE = re.compile(r"^\s+at (?!.*(node_modules|node:)).*:\d+:\d+\)?$")
_FEW, _LONGEST = 8, 200


def _find(call: Call) -> tuple[str, ...] | None:
    name, arguments = called(call.words)
    scripts = name in ("react-scripts", "craco") and "test" in arguments[:2]
    return () if (name == "jest" or scripts) and not _NOT_RUNNING & set(arguments) else None


def _arrange(request: Request, before: Arranged) -> Arranged:
    files = ("jest_preload.cjs", "jest_reporter.cjs")
    return arranged(request, before, option("--require", f"{request.shim_inside}/jest_preload.cjs"), files)


def _read(left: Left) -> TestRun:
    return read_lines(left.files.get("results-jest", b""), left.key)


def _digest(lines: list[str]) -> Iterator[str]:
    """Of each failure its name, what was expected and received, and the accused line; then the counts."""
    heads = [at for at, line in enumerate(lines) if _HEAD.match(line)]
    if not heads and not any(_SUMMARY.match(line) for line in lines):
        return
    seen: set[str] = set()
    for at in heads:
        if lines[at] in seen or len(seen) == _FEW:
            continue
        seen.add(lines[at])
        yield lines[at].strip()[:_LONGEST]
        yield from _told(lines[at + 1 : at + 60], 3 if "suite failed to run" in lines[at] else 8)
    yield from [line[:_LONGEST] for line in lines if _SUMMARY.match(line)][:4]


def _told(block: list[str], most: int) -> Iterator[str]:
    said = 0
    for line in block:
        if line.startswith("  ● ") or re.match(r"^(PASS|FAIL|Tests:|Test Suites:)", line):
            return
        if _PLACE.match(line):
            yield line.rstrip()[:_LONGEST]
            return
        if line.strip() and said < most and not re.match(r"^\s+\d+ \|", line):
            said += 1
            yield line.rstrip()[:_LONGEST]


FAMILY = Family(name="jest", find=_find, arrange=_arrange, read=_read, digest=_digest)
