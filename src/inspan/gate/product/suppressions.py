"""C4: findings of checkers that are silenced instead of repaired. Pure.

Counted net against base over the whole change, so that a line that moves is nothing new. A suppression with a named
rule and a reason is a note; without either it says less; one for a whole file or for everything says least of all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from inspan.gate.exit_evidence import runs_tests
from inspan.gate.product.facts import Facts
from inspan.gate.product.rules import Level, violation
from inspan.gate.product.scene import Scene, Source, beyond
from inspan.outcome.records import Violation

_COMMENTS = re.compile(
    r"(?P<python>#\s*(type:\s*ignore|noqa|pylint:\s*disable|pyright:\s*(ignore|basic)|mypy:\s*(ignore-errors|disable-error-code|allow)|"
    r"ruff:\s*noqa|flake8:\s*noqa|nosec|pragma:\s*no\s*cover|pyre-(ignore|fixme)|ty:\s*ignore).*)|"
    r"(?P<script>(eslint-disable(-next-line|-line)?|@ts-(ignore|expect-error|nocheck)|biome-ignore(-all)?|tslint:disable\S*|"
    r"istanbul ignore|c8 ignore|v8 ignore|oxlint-disable\S*|deno-lint-ignore(-file)?|stylelint-disable\S*)[^*]*)|"
    r"(?P<go>//\s*(nolint\b|lint:(file-)?ignore|#nosec|coverage:ignore|revive:disable)[^\n]*)"
)
_FILE_WIDE = re.compile(
    r"mypy:\s*ignore-errors|ruff:\s*noqa\s*$|flake8:\s*noqa\s*$|@ts-nocheck|eslint-disable(?!-(next-)?line)|biome-ignore-all|"
    r"tslint:disable(?!-(next-)?line)|lint:file-ignore|deno-lint-ignore-file|^#!\[|pyright:\s*(ignore|basic)\s*$"
)
_EVERYTHING = re.compile(
    r"\b(allow|expect)\s*\(\s*(warnings|unused|clippy::all|clippy::pedantic|dead_code)\b|clippy::all"
)
_RULED = re.compile(
    r"type:\s*ignore\[[\w\-, ]+\]|noqa:\s*[A-Z]+\d+|pylint:\s*disable=[\w\-, ]+|pyright:\s*ignore\[|nosec\s+B\d+|"
    r"eslint-disable(-next-line|-line)?\s+[@\w/\-]+|biome-ignore\s+\w+/|nolint:\w+|lint:ignore\s+\w+|#nosec\s+G\d+|"
    r"(allow|expect)\s*\(\s*\w+|deno-lint-ignore\s+\w|@ts-(expect-error|ignore)\s*:?\s*(TS)?\d+"
)
_REASON = re.compile(
    r"(--|//|:|—|–|;|\breason\s*=|#|\s-\s)\s*[\"']?[^\s\"']+(\s+\S+){2,}|@ts-(expect-error|ignore)\s*[:\-]*\s*\w+(\s+\S+){2,}"
)
_STRICTER = re.compile(
    r"@ts-check\b|mypy:\s*strict\b|pyright:\s*strict\b|flow\s+strict\b|eslint\s+[\w@/-]+:\s*[\"']?(error|2)\b"
)
_ASKED = r"\b(suppress|silenc|ignor|noqa|nolint|disable|allow)"
_FLOOD = 5


class Suppression(msgspec.Struct, frozen=True, kw_only=True):
    """One suppression: its text, and what it says of itself."""

    path: str
    text: str
    wide: bool
    ruled: bool
    reasoned: bool


def suppressions(path: str, facts: Facts, *, annotations: bool) -> list[Suppression]:
    """Every suppression and cast of one file; annotations with ``any`` too, where they are asked for."""
    found = [m[0] for r in facts.remarks if r.comment for m in _COMMENTS.finditer(r.text)]
    out = [_read(path, text.strip()) for text in (*found, *facts.silenced)]
    return out + [
        Suppression(path=path, text=c, wide=False, ruled=False, reasoned=False)
        for c in facts.casts
        if annotations or not c.startswith("any: ")
    ]


def _read(path: str, text: str) -> Suppression:
    ruled = bool(_RULED.search(text))
    return Suppression(
        path=path,
        text=text[:160],
        wide=bool(_FILE_WIDE.search(text)) and not (ruled and not text.startswith("#!") and "eslint" not in text),
        ruled=ruled and not _EVERYTHING.search(text),
        reasoned=bool(_REASON.search(_RULED.sub("", text)) or re.search(r"reason\s*=", text)),
    )


def suppression_added(scene: Scene) -> Iterator[Violation]:
    """What was silenced in this change, net of what base had, by how much it silences and whether a checker was red."""
    red = any(passed is False and _reads_source(command) for command, passed in scene.checks)
    old = [s for source in scene.sources for s in suppressions(source.path, source.before, annotations=red)]
    new = [s for source in scene.sources for s in suppressions(source.path, source.after, annotations=red)]
    gone = [s for source in scene.sources for s in _undone(source)]
    fresh = [*beyond(old, new, lambda s: s.text), *gone]
    net = len(new) - len(old) + len(gone)
    if net <= 0 or not fresh:
        return
    level = _level(fresh, net, red)
    if red and level == "hold" and not scene.asked(_ASKED) and _nothing_else(scene):
        level = "reject"
    by_path = Counter(s.path for s in fresh)
    for path in sorted(by_path):
        lines = [s.text for s in fresh if s.path == path]
        yield violation("suppression_added", path, level, f"{by_path[path]} more than on base", lines)


def _undone(source: Source) -> Iterator[Suppression]:
    """What made a checker stricter for a file that is still there, and is gone."""
    if source.data_after is None:
        return
    for text in beyond(_demands(source.after), _demands(source.before), str):
        yield Suppression(path=source.path, text=f"- {text}", wide=True, ruled=False, reasoned=False)


def _demands(facts: Facts) -> list[str]:
    return [*facts.demanded, *(m[0] for r in facts.remarks if r.comment for m in _STRICTER.finditer(r.text))]


def _reads_source(command: str) -> bool:
    """Whether a command is a checker of source; ``cargo check`` is, though its name says little elsewhere."""
    return not runs_tests(command) or bool(re.search(r"\bcargo\s+(check|clippy)\b", command))


def _nothing_else(scene: Scene) -> bool:
    """Whether the change silences and does nothing else: no finding can have been repaired."""
    if any(source.data_before is None or source.data_after is None for source in scene.sources):
        return False
    return len(scene.sources) == len(scene.changed) and all(
        _bare(source.path, source.data_before, source.before) == _bare(source.path, source.data_after, source.after)
        for source in scene.sources
    )


def _bare(path: str, data: bytes | None, facts: Facts) -> str:
    """The source without its comments, what silences, and layout."""
    text = (data or b"").decode("utf-8", "replace")
    for piece in sorted({r.text for r in facts.remarks if r.comment} | set(facts.silenced), key=len, reverse=True):
        text = text.replace(piece, "")
    for cast in facts.casts:
        text = text.replace(cast, re.sub(r"\s+as\s+(any|unknown|never)\b.*$", "", cast))
    return "".join(text.split())


def _level(fresh: list[Suppression], net: int, red: bool) -> Level:
    wide = [s for s in fresh if s.wide and not (s.ruled and s.reasoned)]
    bare = [s for s in fresh if not (s.ruled and s.reasoned)]
    if red:
        if wide or net >= _FLOOD or len(bare) >= 3:
            return "reject"
        return "hold" if bare else "note"
    unruled = [s for s in bare if not s.ruled]
    if [s for s in wide if not s.ruled] or net >= _FLOOD * 3 or len(unruled) >= _FLOOD:
        return "hold"
    return "note"


__all__ = ["Source", "Suppression", "suppression_added", "suppressions"]
