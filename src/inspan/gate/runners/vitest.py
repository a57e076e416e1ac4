"""vitest: a reporter of ours joins those asked for; its output keeps the default one."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from inspan.gate.results import TestRun, read_lines
from inspan.gate.runners.contract import Arranged, Call, Family, Left, Request
from inspan.gate.runners.nodejs import arranged, called, option

_REPORTER = "node_modules/inspan-evidence/vitest_reporter.mjs"
"""Where its reporter stands in the shim: vitest 3 leaves to node only what lies below a directory of that name."""
_OTHER = frozenset(("bench", "list", "init", "complete", "typecheck"))
_HEAD = re.compile(r"^ (FAIL|❯)  ?\S")
_PLACE = re.compile(r"^ ❯ \S+:\d+:\d+$")
_SUMMARY = re.compile(r"^\s*(Test Files|Tests|Snapshots|Errors|Type Errors)\s+.*\d")
_LONGEST = 200


def _find(call: Call) -> tuple[str, ...] | None:
    name, arguments = called(call.words)
    return () if name == "vitest" and not _OTHER & set(arguments[:1]) else None


def _arrange(request: Request, before: Arranged) -> Arranged:
    options = option("--require", f"{request.shim_inside}/vitest_preload.cjs")
    after = arranged(request, before, options, ("vitest_preload.cjs",))
    preload = after.files["vitest_preload.cjs"].replace(b"@reporter@", _REPORTER.encode())
    files = {**after.files, "vitest_preload.cjs": preload, _REPORTER: request.source("vitest_reporter.mjs")}
    return msgspec.structs.replace(after, files=files)


def _read(left: Left) -> TestRun:
    return read_lines(left.files.get("results-vitest", b""), left.key)


def _digest(lines: list[str]) -> Iterator[str]:
    """Of each failure its name, the error with what was expected, and the place; then the counts."""
    if not any(_SUMMARY.match(line) for line in lines):
        return
    inside, said = False, 0
    for line in lines:
        if _SUMMARY.match(line):
            inside = False
        elif line.startswith(" FAIL  "):
            inside, said = True, 0
            yield line.strip()[:_LONGEST]
        elif inside and _PLACE.match(line):
            inside = False
            yield line.rstrip()[:_LONGEST]
        elif inside and line.strip() and said < 8 and "⎯" not in line:
            said += 1
            yield line.rstrip()[:_LONGEST]
    yield from [line.strip()[:_LONGEST] for line in lines if _SUMMARY.match(line)][:4]


FAMILY = Family(name="vitest", find=_find, arrange=_arrange, read=_read, digest=_digest)
