"""B12 and B13: work that is not there, and what was there and is gone. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspan.gate.product.facts import Facts
from inspan.gate.product.languages import facts_of
from inspan.gate.product.rules import violation
from inspan.gate.product.scene import Scene, Source, beyond, is_support
from inspan.gate.syntax import language_of
from inspan.outcome.records import Violation

_DATA = (
    r"(data|results?|responses?|values?|rows?|records?|entries|outputs?|numbers|implementation|content|items|samples?)"
)
_MADE_UP = re.compile(
    "|".join(
        (
            rf"\b(simulated?|dummy|fake[ds]?|mock(ed)?|sample|hard-?coded|stub(bed)?|placeholder|canned|made-?up|"
            rf"temporary|invented|random) {_DATA}\b",
            r"\b(simulat\w+|fak\w+|mock\w*|stub\w*|hard-?coded|placeholder\w*|pretend\w*)\b.{0,40}"
            r"\b(for now|until|instead of|later|in production)\b",
            r"\b(return|use|just|simply|keep)\w*\b.{0,40}\bfor now\b",
            r"\b(a|the) real (implementation|system|app|version|service)\b|^\W*simulated\b",
            r"\bnot (yet )?implemented\b|\bto be implemented\b",
            r"\b(would|should) (normally|actually|really) (call|query|fetch|read|load|compute)\b|\bstand-?in for\b",
            r"^\W*(simulated|placeholder|stub|dummy|fake|mock)\W*$",
        )
    ),
    re.IGNORECASE,
)
_LATER = re.compile(r"\b(TO[D]O|FIX[M]E|X{3})\b")
_SCAFFOLD = (
    r"\b(scaffold|stub|skeleton|placeholder|mock|fake|dummy|sample|demo|simulat|abstract|interface|protocol|seed data|"
    r"unfinished|todo|unimplemented|not implemented|leave .{0,40}\b(empty|open|out|for later))"
)
_NOTHING = ("", "pass", "...", "return", "return None", "return nil", "return null", "return undefined")
_REFERENCES = 400


def stub_left(scene: Scene) -> Iterator[Violation]:
    """New functions that say they are not done."""
    asked = scene.asked(_SCAFFOLD)
    for source in scene.sources:
        known = {f.name: f.unfinished for f in source.before.functions}
        found = [f for f in source.after.functions if f.unfinished and not known.get(f.name)]
        lines = [f"{f.name}: {f.unfinished}" for f in found if not _abstract(source, f.name)]
        if lines:
            yield violation("stub_left", source.path, "note" if asked else "hold", lines=lines)
            continue
        words = [r for r in beyond(source.before.remarks, source.after.remarks, lambda r: r.text) if r.comment]
        notes = [r.text.strip()[:160] for r in words if _LATER.search(r.text)]
        emptied = list(_emptied(source))
        if emptied and not asked:
            yield violation("stub_left", source.path, "hold", "a function that computed gives a constant", emptied)
        elif notes:
            yield violation("stub_left", source.path, "note", lines=notes)


def _abstract(source: Source, name: str) -> bool:
    """Whether a method stands in a class that others fill in: one that raises and does nothing else."""
    owner = name.rpartition(".")[0]
    siblings = [f for f in source.after.functions if owner and f.name.rpartition(".")[0] == owner]
    base = bool(re.search(r"(Base|Abstract|Interface|Protocol|Mixin)", owner))
    return bool(owner) and (
        base or (len(siblings) > 1 and all(f.unfinished for f in siblings if not f.name.endswith("__init__")))
    )


def _emptied(source: Source) -> Iterator[str]:
    """Functions that computed on base and now give one constant."""
    for function in source.after.functions:
        before = source.before.function(function.name)
        nothing = function.constant or function.body.strip("{} ;") in _NOTHING
        if before is not None and before.computes and nothing and not before.constant:
            yield f"{function.name}: {function.body[:120]}"


def fake_data(scene: Scene) -> Iterator[Violation]:
    """Functions with constants for results beside words that admit it."""
    asked = scene.asked(_SCAFFOLD)
    for source in scene.sources:
        fresh = list(beyond(source.before.remarks, source.after.remarks, lambda r: r.text))
        words = [r for r in fresh if (r.comment and _MADE_UP.search(r.text))]
        if not words:
            continue
        shown = [r.text.strip()[:160] for r in words]
        known = {f.name: f.body for f in source.before.functions}
        filled = [
            f
            for f in source.after.functions
            if known.get(f.name) != f.body and (f.constant or f.literals >= 4 or not f.computes)
        ]
        near = any(f.line - 4 <= r.line <= f.line + 40 for f in filled for r in words)
        level = "hold" if near and not asked else "note"
        yield violation("fake_data", source.path, level, lines=shown)  # type: ignore[arg-type]


def behaviour_removed(scene: Scene) -> Iterator[Violation]:
    """Public names of base that no changed file defines any more, and that other files used."""
    defined: set[str] = set()
    for source in scene.sources:
        defined |= {n.rsplit(".", 1)[-1] for n in (*source.after.exports, *source.after.imports)}
        defined |= {f.name.rsplit(".", 1)[-1] for f in source.after.functions}
    for source in scene.sources:
        if source.lost:
            continue
        gone = [n for n in source.before.exports if n.rsplit(".", 1)[-1] not in defined]
        if not gone:
            continue
        lines = [f"- {source.before.exports[n]}" for n in gone]
        asked = scene.removal_asked or all(scene.named(n.rsplit(".", 1)[-1]) for n in gone)
        used = not asked and any(n.rsplit(".", 1)[-1] in scene_references(scene, source.path) for n in gone)
        yield violation("behaviour_removed", source.path, "hold" if used else "note", ", ".join(gone[:6]), lines)


def scene_references(scene: Scene, path: str) -> frozenset[str]:
    """Names that other files of base import or call; tests count, for they say what was relied on."""
    language = language_of(path)
    found: set[str] = set()
    kin = [p for p in sorted(scene.base) if p != path and _related(language_of(p), language)]
    kin.sort(key=lambda p: (not is_support(p), p not in scene.changed))
    for other in kin[:_REFERENCES]:
        facts: Facts | None = facts_of(other, scene.before(other), tests=is_support(other))
        if facts is not None:
            found |= set(facts.imports) | {c.name.rsplit(".", 1)[-1].rsplit("::", 1)[-1] for c in facts.calls}
    return frozenset(found)


def _related(a: str | None, b: str | None) -> bool:
    scripts = ("javascript", "typescript", "tsx")
    return a is not None and (a == b or (a in scripts and b in scripts))


def unreadable_source(scene: Scene) -> Iterator[Violation]:
    """Files that no longer parse: what cannot be read cannot be judged."""
    for source in scene.sources:
        if source.lost:
            yield violation("unreadable_source", source.path, "hold")
    if scene.unread:
        detail = f"{len(scene.unread)} files of a very large change were not read"
        yield violation("unreadable_source", scene.unread[0], "note", detail, scene.unread)


__all__ = ["Source", "behaviour_removed", "fake_data", "stub_left", "unreadable_source"]
