"""node:test: a reporter of ours beside the one that writes to the command's output."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from inspan.gate.results import TestRun, read_lines
from inspan.gate.runners.contract import Arranged, Call, Family, Left, Request
from inspan.gate.runners.nodejs import arranged, option

_NODE = re.compile(r"^(node|nodejs|tsx)$")
_HEAD = re.compile(r"^(?:\s*not ok \d+ - |\s*✖ )(?!failing tests)")
_SUMMARY = re.compile(r"^(?:# |ℹ )(tests|pass|fail|cancelled|skipped|todo) \d+$")
_NOISE = re.compile(
    r"^\s*(at .*(node:|node_modules|<anonymous>\)$)|duration_ms|---|\.\.\.|[{}]|"
    r"(type|generatedMessage|code|operator): )"
)
_LONGEST = 200


def _find(call: Call) -> tuple[str, ...] | None:
    """Details: whether the call names reporters, and whether it names where they write."""
    rest = list(call.words)
    if posixpath.basename(rest[0]) in ("npx", "cross-env", "c8") and len(rest) > 1:
        at = next((n for n, w in enumerate(rest[1:], 1) if _NODE.match(posixpath.basename(w))), 0)
        rest = rest[at:]
    if not _NODE.match(posixpath.basename(rest[0])) or "--test" not in rest or "--watch" in rest:
        return None
    reported = any(word.startswith("--test-reporter") for word in rest)
    placed = any(word.startswith("--test-reporter-destination") for word in rest)
    return ("reported" if reported else "", "placed" if placed else "")


def _arrange(request: Request, before: Arranged) -> Arranged:
    # Reporters and destinations pair up in order, ours first; a call's lone reporter has its destination implied.
    ours = (
        option("--test-reporter", f"{request.shim_inside}/node_reporter.mjs") + " --test-reporter-destination=/dev/null"
    )
    reported, placed = request.details
    if not reported:
        ours += " --test-reporter=spec --test-reporter-destination=stdout"
    elif not placed:
        ours += " --test-reporter-destination=stdout"
    return arranged(request, before, ours, ("node_reporter.mjs",))


def _read(left: Left) -> TestRun:
    return read_lines(left.files.get("results-node", b""), left.key)


def _digest(lines: list[str]) -> Iterator[str]:
    """Of each failure its name, error and place, as the spec or tap reporter writes them; then the counts."""
    if not any(_SUMMARY.match(line) for line in lines):
        return
    tail = next((at for at, line in enumerate(lines) if line.startswith("✖ failing tests")), 0)
    inside, said = False, 0
    for line in lines[tail:]:
        if _HEAD.match(line) or re.match(r"^test at \S+:\d+:\d+$", line):
            inside, said = True, 0 if line.startswith("test at") else said
            yield line.strip()[:_LONGEST]
        elif inside and line.strip() and said < 7 and not _NOISE.match(line):
            said += 1
            yield line.rstrip()[:_LONGEST]
        elif not line.strip():
            inside = inside and said < 7
    yield from [line[:_LONGEST] for line in lines if _SUMMARY.match(line) and not line.endswith(" 0")]


FAMILY = Family(name="node", find=_find, arrange=_arrange, read=_read, digest=_digest)
