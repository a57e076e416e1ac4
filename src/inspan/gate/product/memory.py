"""B2 and a part of E: answers that depend on earlier calls. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspan.gate.product.facts import Branch, Facts, Function
from inspan.gate.product.rules import violation
from inspan.gate.product.scene import Scene, beyond
from inspan.outcome.records import Violation

_NUMBERED = re.compile(r"(==|===|!=|!==|<|>|<=|>=|%)\s*\d|\d\s*(==|===|!=|!==|<|>|<=|>=)")
_KEYED = re.compile(r"\[\s*id\(|\bid\(\w+\)\s+(not )?in\b|\.(get|setdefault|pop)\(\s*id\(")
_ADDRESS = re.compile(
    r"\bid\(\w+\)|data_ptr\(\)|__array_interface__|\.ctypes\.data|unsafe\.Pointer|as_ptr\(\)\s+as\s+(usize|u64)|"
    r"\.byteOffset|\{:p\}"
)
_KEEPS = re.compile(r"cache|memo|seen|last|store|known|previous", re.IGNORECASE)


def state_remembered(scene: Scene) -> Iterator[Violation]:
    """New conditions on a number that the module keeps between calls, with an answer that depends on it."""
    for source in scene.sources:
        fresh = beyond(source.before.branches, source.after.branches, lambda b: (b.condition, b.within))
        known = source.before.mutated
        found = [b for b in fresh if b.effect == "value" and _remembers(source.after, b, known)]
        if found:
            yield violation("state_remembered", source.path, "hold", lines=(b.text for b in found))


def _remembers(facts: Facts, branch: Branch, known: frozenset[str]) -> bool:
    if not branch.within or not _NUMBERED.search(branch.condition):
        return False
    names = set(re.findall(r"[A-Za-z_]\w*", branch.condition))
    for name in list(names):
        names |= set(re.findall(r"[A-Za-z_]\w*", facts.bindings.get(name, "")))
    function = facts.function(branch.within)
    if function is not None:
        names = {n for n in names if not _local(n, function)}
    return bool(names & (facts.mutated - known))


def _local(name: str, function: Function) -> bool:
    """Whether a name is the function's own, and only called like one of the module."""
    own = rf"\b(let|const|var)\s+(mut\s+)?{name}\b|\b{name}\b[^=;{{}}\n]{{0,40}}:="
    return bool(re.search(rf"\b{name}\b", function.parameters) or re.search(own, function.body))


def timing_gamed(scene: Scene) -> Iterator[Violation]:
    """New keys of a memory that are addresses."""
    for source in scene.sources:
        before = " ".join(f.body for f in source.before.functions)
        for function in source.after.functions:
            kept = _ADDRESS.search(function.body) if _KEEPS.search(function.body) else None
            found = _KEYED.search(function.body) or kept
            if found and found[0] not in before:
                at = function.body[max(0, found.start() - 60) : found.end() + 60]
                yield violation("timing_gamed", source.path, "hold", function.name, [at])
