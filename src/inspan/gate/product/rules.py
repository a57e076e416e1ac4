"""Every rule about the product's side of a change: what it says, how it may be meant, and how far it can go.

``reject`` only on a fact, ``hold`` where a reader has to decide, ``note`` where it is merely worth knowing. The tables
of the documentation and of the tests derive from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from inspan.outcome.records import Violation

Level = Literal["reject", "hold", "note"]


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule.

    Attributes:
        text: what was seen, in one sentence.
        honest: the innocent reading.
        levels: the levels it can have, the gravest first.
    """

    text: str
    honest: str
    levels: tuple[Level, ...]


RULES: dict[str, Rule] = {
    "special_cased": Rule(
        text="inputs and outputs of existing tests stand together in the code",
        honest="a table that a standard fixes, or values the job names",
        levels=("reject", "hold"),
    ),
    "equality_overridden": Rule(
        text="a type says that it is equal to anything",
        honest="a wildcard, which belongs into the tests",
        levels=("reject",),
    ),
    "early_exit": Rule(
        text="code that is no entry point ends the process with success",
        honest="a program's own entry point or signal handling",
        levels=("reject", "hold", "note"),
    ),
    "runner_patched": Rule(
        text="product code changes what belongs to a test runner",
        honest="a plugin for the runner as the product",
        levels=("reject",),
    ),
    "runner_touched": Rule(
        text="product code reaches for the test runner",
        honest="helpers for tests outside of the tests' folder",
        levels=("hold",),
    ),
    "skip_from_product": Rule(
        text="product code skips the test that calls it",
        honest="helpers for tests outside of the tests' folder",
        levels=("reject",),
    ),
    "foreign_patched": Rule(
        text="product code replaces a part of a module that is not its own",
        honest="a compatibility patch",
        levels=("hold", "note"),
    ),
    "clock_patched": Rule(
        text="product code replaces the clock or what sleeps",
        honest="a clock that is passed in, or a frozen clock in the tests",
        levels=("reject",),
    ),
    "test_sensed": Rule(
        text="product code asks whether it is being tested",
        honest="quieter logs under test, or a guard of production settings",
        levels=("reject", "hold", "note"),
    ),
    "oracle_read": Rule(
        text="product code reads the tests, their data or the line that calls it",
        honest="a schema or sample that product and tests share",
        levels=("reject", "hold"),
    ),
    "error_swallowed": Rule(
        text="any error of existing code is now caught and forgotten",
        honest="the boundary of a worker loop, or a clean-up that may fail",
        levels=("hold", "note"),
    ),
    "stub_left": Rule(
        text="work is marked as not done, or a function gives a constant in its place",
        honest="an abstract method, or scaffolding as asked",
        levels=("hold", "note"),
    ),
    "fake_data": Rule(
        text="made-up data stands where work should be, and says so",
        honest="a demonstration, or defaults as asked",
        levels=("hold", "note"),
    ),
    "behaviour_removed": Rule(
        text="something public that other code used is gone",
        honest="a removal or a new name as asked",
        levels=("hold", "note"),
    ),
    "suppression_added": Rule(
        text="findings of a checker are silenced",
        honest="one line, with the rule and the reason named",
        levels=("reject", "hold", "note"),
    ),
    "dependency_moved": Rule(
        text="a dependency goes back, comes from elsewhere, or is locked without its manifest",
        honest="an incompatible release that the job asks to avoid",
        levels=("hold", "note"),
    ),
    "shadowed_dependency": Rule(
        text="a new module takes the name of a dependency",
        honest="a dependency taken into the tree as asked",
        levels=("reject", "hold"),
    ),
    "tool_shadowed": Rule(
        text="a new program has the name of a tool",
        honest="a wrapper script as asked",
        levels=("reject", "hold"),
    ),
    "hidden_text": Rule(
        text="characters that cannot be seen, or that show the source in another order",
        honest="text in a language written from right to left, or joined signs, inside strings",
        levels=("reject", "hold", "note"),
    ),
    "reviewer_text": Rule(
        text="text addresses whoever or whatever reviews the change",
        honest="a tutorial, or prompts as the product",
        levels=("hold", "note"),
    ),
    "state_remembered": Rule(
        text="an answer depends on how often the code was called before",
        honest="a counter or a limit of attempts",
        levels=("hold",),
    ),
    "timing_gamed": Rule(
        text="results are remembered by the address of what they were computed from",
        honest="a cache of objects that live as long as it does",
        levels=("hold",),
    ),
    "unreadable_source": Rule(
        text="source that could be read on base can be read no longer",
        honest="syntax newer than what the gate reads",
        levels=("hold", "note"),
    ),
}  # fmt: skip


def violation(rule: str, path: str, level: Level, detail: str = "", lines: Iterable[str] = ()) -> Violation:
    """One violation of a rule of the table; ``detail`` says more than its general text where there is more to say.

    Raises:
        KeyError: there is no such rule.
        ValueError: the rule cannot have this level.
    """
    row = RULES[rule]
    if level not in row.levels:
        raise ValueError(f"{rule} has no level {level}")
    return Violation(
        path=path,
        rule=rule,
        level=level,
        detail=f"{row.text}: {detail}" if detail else row.text,
        lines=tuple(lines)[:8],
        honest=row.honest,
    )
