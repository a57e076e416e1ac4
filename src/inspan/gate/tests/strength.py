"""How much an assertion demands, and whether an edited test demands less. Pure, whatever the language.

The lattice, weaker only downwards: identity > equality > close-to, sorted or set equality > membership or pattern >
ordering or length > type > truthy or defined > does not raise > nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum

import msgspec


class Strength(IntEnum):
    """One step of the lattice."""

    NOTHING = 0
    RUNS = 1
    TRUTHY = 2
    TYPE = 3
    ORDER = 4
    MEMBER = 5
    CLOSE = 6
    EQUAL = 7
    IDENTITY = 8


class Assertion(msgspec.Struct, frozen=True, kw_only=True):
    """One assertion by role.

    Attributes:
        subject: what is looked at, as source.
        strength: how strongly.
        constants: literals in it, messages excluded where the language marks them.
        tolerance: how exactly, None without one.
        guarded: it stands under a condition.
        snapshot: what it expects is kept beside it, in a file or an argument that the runner can write.
        line, text: where, and as one line.
    """

    subject: str
    strength: Strength
    constants: frozenset[str] = frozenset()
    tolerance: float | None = None
    guarded: bool = False
    snapshot: bool = False
    line: int = 0
    text: str = ""


class Loosening(msgspec.Struct, frozen=True, kw_only=True):
    """How an edited item compares to what it was.

    Attributes:
        steps: the most steps any assertion fell on the lattice.
        nothing: the item asserts nothing that can fail any more, though it did.
        dropped: assertions that are gone and whose literals stand nowhere in the item any more.
        tolerance: the factor by which a tolerance grew, 0 where none did.
        guarded: assertions that stand under a condition now and did not.
        swallowed: assertions whose failure is caught or never waited for, and was not.
        moved: literals that the assertions expected and no longer do.
        kept: every literal of the old item, its inputs included, stands in the new one.
        elsewhere: it calls what it did not, and what that demands is not known.
        lines: the accused lines, old then new, as ``- text`` and ``+ text``.
    """

    steps: int = 0
    nothing: bool = False
    dropped: tuple[str, ...] = ()
    tolerance: float = 0.0
    guarded: bool = False
    swallowed: bool = False
    moved: bool = False
    kept: bool = True
    elsewhere: bool = False
    lines: tuple[str, ...] = ()

    @property
    def tame(self) -> bool:
        """Whether it demands as much as before."""
        return not (self.steps or self.nothing or self.dropped or self.tolerance or self.guarded or self.swallowed)


def _partner(old: Assertion, rest: list[Assertion]) -> Assertion | None:
    """The assertion an old one became: same subject first, then most literals in common, then the next in order."""
    same = [a for a in rest if a.subject == old.subject]
    if same:
        return max(same, key=lambda a: (len(a.constants & old.constants) if a.constants else 0, a.strength))
    alike = [a for a in rest if a.constants & old.constants]
    if alike:
        return max(alike, key=lambda a: len(a.constants & old.constants))
    return rest[0] if rest else None


_NOTHING = frozenset(("nil", "null", "None", "undefined"))


def _key(assertion: Assertion) -> tuple[object, ...]:
    same = (assertion.subject, assertion.strength, assertion.constants, assertion.tolerance)
    return (*same, assertion.guarded, assertion.snapshot)


def _grown(old: Assertion, new: Assertion) -> float:
    """The factor by which a tolerance grew; one named for the first time grows from nothing, for long."""
    if (
        new.strength > Strength.CLOSE
        or old.strength != new.strength
        or (new.tolerance or 0.0) <= (old.tolerance or 0.0)
    ):
        return 0.0
    return (new.tolerance or 0.0) / old.tolerance if old.tolerance else 1e9


def compare(old: Iterable[Assertion], new: Iterable[Assertion], constants: frozenset[str]) -> Loosening:
    """How much less the new assertions demand. ``constants``: all literals of the new item, its parameters included."""
    before, asked = list(old), list(new)
    rest = list(asked)
    could = any(a.strength > Strength.NOTHING for a in before)
    can = any(a.strength > Strength.RUNS for a in rest)
    nothing = could and not can and any(a.strength > Strength.RUNS for a in before)
    for assertion in list(before):  # what stayed as it was pairs with itself
        twin = next((a for a in rest if _key(a) == _key(assertion)), None)
        if twin is not None:
            before.remove(assertion)
            rest.remove(twin)
    out = Loosening(nothing=nothing)
    subjects = {a.subject for a in rest}
    for assertion in sorted(before, key=lambda a: (a.subject not in subjects, -a.strength)):
        if assertion.strength > Strength.NOTHING:
            out = _with(out, assertion, rest, constants, asked)
    return out


def _with(
    out: Loosening, old: Assertion, rest: list[Assertion], constants: frozenset[str], asked: list[Assertion]
) -> Loosening:
    """The comparison with one more old assertion, whose partner is taken from ``rest``; one that another one of the new
    assertions (``asked``) implies is not missed."""
    new = _partner(old, rest)
    replace = msgspec.structs.replace
    if new is None:
        kept = old.constants - _NOTHING
        implied = not kept and any(a.subject == old.subject and a.strength >= old.strength for a in asked)
        if old.strength > Strength.RUNS and not implied and (not kept or not kept <= constants):
            return replace(out, dropped=(*out.dropped, old.text), lines=(*out.lines, f"- {old.text}"))
        return out
    rest.remove(new)
    fall, grown = max(0, old.strength - new.strength), _grown(old, new)
    guarded = new.guarded and not old.guarded
    moved = bool(old.constants - new.constants)
    shown = fall or grown or guarded or moved
    return replace(
        out,
        steps=max(out.steps, fall),
        tolerance=max(out.tolerance, grown),
        guarded=out.guarded or guarded,
        swallowed=out.swallowed or (fall > 0 and new.strength <= Strength.RUNS < old.strength),
        moved=out.moved or moved,
        lines=(*out.lines, f"- {old.text}", f"+ {new.text}") if shown else out.lines,
    )


_ASSERTIVE = re.compile(r"^_*(assert|check|verify|expect|require|must|ensure|should)", re.IGNORECASE)


def assertive(name: str) -> bool:
    """Whether a function that is defined elsewhere is, by its name, there to fail a test."""
    return bool(_ASSERTIVE.match(name))
