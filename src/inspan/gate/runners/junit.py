"""Any command that writes JUnit XML files: they are removed before the run and read after it.

The command writes them in the workspace, where the code under test can write as well: the weakest of the sources.
"""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from collections.abc import Iterator
from xml.etree import ElementTree

import msgspec

from inspan.gate.results import TestRun, merged, worst
from inspan.gate.runners.contract import Arranged, Call, Family, Left, Request

_OPTION = re.compile(
    r"^--(?:junitxml|junit-xml|junit-output|junitfile|log-junit|output-junit|xunit-output|junit)(?:=(.+))?$"
)
_OURS = re.compile(r"^report-\d+-")
_PLAIN = re.compile(r"^[\w./@+:-]+\.xml$")


def _find(call: Call) -> tuple[str, ...] | None:
    """Details: the path, relative to the root, that an option of the call names."""
    for word, following in zip(call.words, [*call.words[1:], ""], strict=True):
        option = _OPTION.match(word)
        path = (option[1] or following) if option else ""
        if _PLAIN.match(path):
            return (path if path.startswith("/") else posixpath.normpath(posixpath.join(call.place, path)),)
    return None


def _arrange(request: Request, before: Arranged) -> Arranged:
    (path,) = request.details
    command = request.source("report.sh").decode()
    pattern = "*".join(shlex.quote(piece) if piece else "" for piece in path.split("*"))
    for word, value in {"@report@": pattern, "@command@": before.command}.items():
        command = command.replace(word, value)
    return msgspec.structs.replace(before, command=command)


def _read(left: Left) -> TestRun:
    found = [data for name, data in left.files.items() if _OURS.match(name) and name.endswith(f"-{left.key}")]
    return merged([_report(data, left.root) for data in found]) if found else TestRun(source="report")


def _report(data: bytes, root: str) -> TestRun:
    """What one file says."""
    outcomes: dict[str, str] = {}
    texts: dict[str, str] = {}
    try:
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise ElementTree.ParseError("a document type is not read")
        for case in ElementTree.fromstring(data).iter("testcase"):  # noqa: S314 - no document type, so no entities
            test_id, outcome, text = _case(case, root)
            outcomes[test_id] = worst(outcome, outcomes.get(test_id))
            if text:
                texts[test_id] = text
    except (ElementTree.ParseError, ValueError, RecursionError):
        return TestRun(loaded=1, sessions=1, garbled=1, source="report")
    return TestRun(
        outcomes=outcomes,
        texts=texts,
        asserted=frozenset(i for i, outcome in outcomes.items() if outcome == "failed"),
        items=frozenset(outcomes),
        loaded=1,
        sessions=1,
        finished=1,
        source="report",
    )


def _case(case: ElementTree.Element, root: str) -> tuple[str, str, str]:
    """Id, outcome and first line of the failure of one ``testcase``."""
    where = case.get("file") or case.get("classname") or "?"
    if os.path.isabs(where):
        where = posixpath.relpath(where, root)
    test_id = f"{where}::{case.get('name') or '?'}"
    for word, outcome in (("error", "error"), ("failure", "failed"), ("skipped", "skipped")):
        found = case.find(word)
        if found is not None:
            said = (found.get("message") or found.text or "").strip()
            return test_id, outcome, "" if outcome == "skipped" else next(iter(said.splitlines()), word)[:400]
    return test_id, "passed", ""


def _digest(lines: list[str]) -> Iterator[str]:
    return iter(())


FAMILY = Family(name="junit", find=_find, arrange=_arrange, read=_read, digest=_digest)
