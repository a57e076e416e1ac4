"""The known families of runners, and what they do for a command. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from inspan.gate.commands import placed_commands
from inspan.gate.reach import Read, behind
from inspan.gate.results import TestRun, merged
from inspan.gate.runners import cargo, go, jest, junit, node, python, vitest
from inspan.gate.runners.checkers import complaints
from inspan.gate.runners.contract import Arranged, Call, Family, Left, Part, Request, Runner

FAMILIES: tuple[Family, ...] = (
    python.PYTEST,
    python.UNITTEST,
    jest.FAMILY,
    vitest.FAMILY,
    node.FAMILY,
    go.FAMILY,
    cargo.FAMILY,
    junit.FAMILY,
)
_NAMED = {family.name: family for family in FAMILIES}

_UNREACHABLE = re.compile(r"PYTEST_ADDOPTS|\benv\s+(-\S+\s+)*(-i\b|-\s|--ignore-environment)|PYTHONPATH=`")
"""Commands that would take our variables away again; they count by exit status."""


def detect(command: str, read: Read | None = None, *, report: str | None = None) -> Runner | None:
    """The known runners a command calls; None when it calls none, or one we cannot speak to.

    Args:
        command: a check's command line.
        read: bytes of a path on base. With it calls are followed through package scripts and makefiles, as base has
            them: what a worker writes never chooses how it is measured.
        report: path of the JUnit XML file that the command writes, where the user named one; it then decides.
    """
    if _UNREACHABLE.search(command):
        return None
    if report:
        return Runner(parts=(Part(family=junit.FAMILY.name, details=(report,)),))
    parts = _parts(command, "", FAMILIES)
    if read is not None:
        lines, texts = behind(command, read)
        followed = tuple(f for f in FAMILIES if not any(re.search(f.foiled, text) for text in texts))
        if lines and not any(_UNREACHABLE.search(text) for text in texts):
            parts = _joined(parts, *(_parts(line, place, followed) for place, line in lines))
        parts = tuple(part for part in parts if not _overridden(_NAMED[part.family], read))
    if not parts or len({part.family for part in parts}) < len(parts):
        return None  # two calls of one family that differ in what was noted: not to be arranged as one
    strong = tuple(part for part in parts if part.family != junit.FAMILY.name)
    if len([p for p in strong if p.family in ("pytest", "unittest")]) > 1:
        return None
    return Runner(parts=strong or parts)


def either(base: Runner | None, result: Runner | None) -> Runner | None:
    """What base's files call, and what the result's call beside it.

    A job may be allowed to move a project from one runner to another; without that permission the files that choose the
    runner are deciders, and their change is rejected whatever the tests say. What base calls is never left out.
    """
    added = tuple(part for part in (result.parts if result else ()) if part.family != junit.FAMILY.name)
    if base is None:
        return Runner(parts=added) if added else None
    parts = _joined(base.parts, added)
    families = {part.family for part in parts}
    mixed = len(families) < len(parts) or {"pytest", "unittest"} <= families or junit.FAMILY.name in families
    return base if mixed else Runner(parts=parts)


def _overridden(family: Family, read: Read) -> bool:
    """Whether the tree has settings that what the family adds would override."""
    texts = ((pattern, read(path) or b"") for path, pattern in family.settings)
    return any(re.search(pattern, data.decode("utf-8", "replace")) for pattern, data in texts)


def _parts(line: str, place: str, families: tuple[Family, ...]) -> tuple[Part, ...]:
    found = []
    for folder, words in placed_commands(line):
        call = Call(words=words, line=line, place=posixpath.join(place, folder))
        for family in families:
            details = family.find(call)
            if details is not None:
                found.append(Part(family=family.name, details=details))
                break
    return tuple(dict.fromkeys(found))


def _joined(*found: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(dict.fromkeys(part for parts in found for part in parts))


def arrange(
    runner: Runner,
    command: str,
    *,
    token: str,
    shim_inside: str,
    evidence_inside: str,
    root_inside: str,
    env: Mapping[str, str],
    only: str = "",
) -> Arranged:
    """Arrange one run of ``command`` in ``env``; the arguments are those of ``Request``."""
    arranged = Arranged(command=command, env=dict(env), key=token[12:])
    for part in runner.parts:
        request = Request(
            details=part.details,
            token=token,
            shim_inside=shim_inside,
            evidence_inside=evidence_inside,
            root_inside=root_inside,
            only=only,
        )
        arranged = _NAMED[part.family].arrange(request, arranged)
    return arranged


def read_results(runner: Runner, left: Left) -> TestRun:
    """What the run said about its tests, all families together."""
    return merged([_NAMED[part.family].read(left) for part in runner.parts])


def explained(runner: Runner | None, lines: list[str]) -> list[str]:
    """Lines of output that explain a failure: of the known runners first, then of whatever else wrote there."""
    ours = [_NAMED[part.family] for part in runner.parts] if runner is not None else []
    out: list[str] = []
    for family in dict.fromkeys((*ours, *FAMILIES)):
        out += family.digest(lines)
    out += complaints(lines)
    return list(dict.fromkeys(out))
