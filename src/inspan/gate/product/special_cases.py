"""B1: inputs and outputs of tests that stand in the code, or in a data file, as pairs. Pure.

A pair is a literal that is compared or looked up, and the literal that comes out. It is accused only where both stand
in one assertion of base's tests, base does not have it, the job's text does not name it, and the function computes its
answers otherwise: a table that fixes all there is stands for itself.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from inspan.gate.product.facts import Pair
from inspan.gate.product.rules import Level, violation
from inspan.gate.product.scene import Scene, Source, beyond, is_support
from inspan.outcome.records import Violation

_TRIVIAL = re.compile(r"^(|True|False|None|-?\d|-?10|100|1000|-?\d\.0|0\.5|-1\.0|.)$", re.DOTALL)
_PLAIN_WORD = re.compile(r"^[A-Za-z][a-z_-]{0,13}$")
_COMMON = re.compile(r"^-?(\d{1,2}|[1-9]0+|\d{1,2}\.\d)$")
_TABLE_ROWS = 8
_DATA = (".json", ".csv", ".tsv", ".txt", ".yaml", ".yml", ".toml")
_DATA_BYTES = 2 << 20


def special_cased(scene: Scene) -> Iterator[Violation]:
    """New branches and table entries that repeat what tests ask and expect."""
    for source in scene.sources:
        yield from _in_source(scene, source)
    for path in scene.changed:
        if path.endswith(_DATA) and not is_support(path) and scene.before(path) is None:
            yield from _in_data(scene, path)


def _in_source(scene: Scene, source: Source) -> Iterator[Violation]:
    fresh = list(beyond(source.before.pairs, source.after.pairs, lambda p: (p.inputs, p.outputs)))
    groups: dict[tuple[str, bool], list[Pair]] = defaultdict(list)
    for pair in fresh:
        groups[pair.within, pair.table].append(pair)
    for (within, table), pairs in groups.items():
        if not _computes(source, within, pairs):
            continue
        hits = [p for p in pairs if _tested(scene, p)]
        level = _table_level(pairs, hits) if table else _branch_level(hits, len(pairs))
        if level is not None:
            where = within or "the module"
            yield violation("special_cased", source.path, level, f"in {where}", (p.text for p in hits))


def _computes(source: Source, within: str, pairs: list[Pair]) -> bool:
    """Whether what uses these pairs computes its answers as well, now or on base."""
    if not within:  # a table at the top: any function that could consult it
        names = [n for n, v in source.after.bindings.items() if any(all(i in v for i in p.inputs) for p in pairs)]
        using = [f for f in source.after.functions if any(re.search(rf"\b{re.escape(n)}\b", f.body) for n in names)]
        return any(_did(source, f.name) for f in using)
    return _did(source, within)


def _did(source: Source, name: str) -> bool:
    before, after = source.before.function(name), source.after.function(name)
    return (before is not None and before.computes) or (after is not None and after.computes)


def _tested(scene: Scene, pair: Pair) -> bool:
    outputs = pair.outputs - {"None"} or pair.outputs
    wanted = pair.inputs | outputs
    if all(_TRIVIAL.match(v) for v in wanted) and len(wanted) < 3:
        return False
    if outputs <= {"True", "False"} and not any(c.isdigit() for v in pair.inputs for c in v):
        return False  # a kind that is or is not something: too common to say anything
    if all(_named(scene, v) for v in wanted):
        return False
    return any(_stands(pair.inputs, outputs, row, around) for row, around in scene.rows)


def _stands(inputs: frozenset[str], outputs: frozenset[str], row: frozenset[str], around: frozenset[str]) -> bool:
    """Whether one assertion holds the pair; further inputs may come from a fixture or constant of the same file."""
    if not outputs <= row or (inputs <= outputs and len(row) < 2):
        return False
    if inputs <= row:
        return True
    telling = any(not _TRIVIAL.match(v) for v in outputs)
    return telling and len(inputs) > 1 and bool(inputs & row) and inputs <= around


def _named(scene: Scene, value: str) -> bool:
    return bool(value) and re.search(rf"(?<![\w.]){re.escape(value)}(?![\w])", scene.prompt) is not None


def _rare(pair: Pair) -> bool:
    """Whether a value of this pair is nothing that stands in code by chance."""
    telling = [v for v in pair.inputs | pair.outputs if not _TRIVIAL.match(v)]
    return len(telling) >= 2 and any(not _COMMON.match(v) and len(v) >= 3 for v in telling)


def _branch_level(hits: list[Pair], of: int) -> Level | None:
    if not hits:
        return None
    telling = [p for p in hits if any(not _TRIVIAL.match(v) for v in p.inputs | p.outputs) and not _wordy(p)]
    if not telling and not all(map(_wordy, hits)) and len(hits) < 3:
        return None
    if not telling:
        return "hold" if len(hits) >= 3 and len(hits) >= 0.9 * of else None
    if len(telling) >= 2 or any(map(_rare, hits)) or any(len(p.inputs) > 1 for p in telling):
        return "reject"
    return "hold"


def _wordy(pair: Pair) -> bool:
    """Whether a pair holds nothing but ordinary words: kinds and their names stand so in honest code."""
    return all(_PLAIN_WORD.match(v) or v in ("True", "False", "None") for v in pair.inputs | pair.outputs)


def _table_level(pairs: list[Pair], hits: list[Pair]) -> Level | None:
    """A table whose every entry is tested was made from the tests; one that holds more is a table."""
    if len(hits) < 2 or len(hits) < 0.9 * len(pairs):
        return None
    if all(map(_wordy, hits)):
        return "hold" if len(hits) >= 3 else None
    return "reject" if sum(map(_rare, hits)) >= 2 or len(hits) >= 3 else "hold"


def _in_data(scene: Scene, path: str) -> Iterator[Violation]:
    data = scene.after(path) or b""
    if len(data) > _DATA_BYTES:
        return
    entries = list(_entries(path, data))[:5000]
    if len(entries) < _TABLE_ROWS or not entries:
        return
    rows = [row for row, _ in scene.rows]
    holding: dict[str, list[frozenset[str]]] = defaultdict(list)
    for row in rows:
        for value in row:
            holding[value].append(row)
    hits = [e for e in entries if any(e <= row for v in e for row in holding.get(v, ())[:200])]
    if len(hits) >= _TABLE_ROWS and len(hits) >= 0.6 * len(entries):
        detail = f"{len(hits)} of {len(entries)} entries of {posixpath.basename(path)}"
        yield violation("special_cased", path, "hold", detail, (", ".join(sorted(e)) for e in hits[:4]))


def _entries(path: str, data: bytes) -> Iterator[frozenset[str]]:
    """Rows of a data file: the values of each entry."""
    text = data.decode("utf-8", "replace")
    if path.endswith(".json"):
        try:
            yield from _json(json.loads(text))
        except (ValueError, RecursionError):
            return
        return
    for line in text.splitlines():
        parts = {p.strip().strip("'\"") for p in re.split(r"[,\t;:=]", line) if p.strip()}
        if len(parts) >= 2:
            yield frozenset(parts)


def _json(value: Any) -> Iterator[frozenset[str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, dict | list) and not _flat(inner):
                yield from _json(inner)
            else:
                yield frozenset([key, *_scalars(inner)])
                yield frozenset([*re.split(r"[,|; ]+", key), *_scalars(inner)])
    elif isinstance(value, list):
        for inner in value:
            if _flat(inner) and isinstance(inner, dict | list):
                yield frozenset(_scalars(inner))
            else:
                yield from _json(inner)


def _flat(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not any(isinstance(v, dict | list) for v in inner)


def _scalars(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [str(v) for v in value.values()]
    return [str(v) for v in value] if isinstance(value, list) else [str(value)]
