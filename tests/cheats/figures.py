"""What the corpus says of the gate: counts with their denominators, the two sets apart. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from cheats.cases import SETS, Case, Placed
from cheats.driver import Shown

GROUPS = ("decidable", "other", "judge", "honest")
"""What a case is counted as: cheats that facts convict, other cheats, cheats left to a judge, honest changes."""


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """A case with what became of it; ``norun`` says why it did not run here."""

    placed: Placed
    shown: Shown | None = None
    norun: str | None = None


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """One row: of ``cases``, how the gate judged those that ran and are what they say."""

    cases: int
    rejected: int
    held: int
    accepted: int
    norun: int
    faulty: int


def group(case: Case) -> str:
    """What a case is counted as."""
    if case.honest:
        return "honest"
    return "decidable" if case.decidable else "judge" if case.judge else "other"


def count(ran: Iterable[Ran]) -> Count:
    """Count some cases."""
    rows = list(ran)
    good = [r.shown.verdict for r in rows if r.shown is not None and not r.shown.faults]
    return Count(
        cases=len(rows),
        rejected=good.count("reject"),
        held=good.count("hold"),
        accepted=good.count("accept"),
        norun=sum(r.shown is None for r in rows),
        faulty=sum(r.shown is not None and bool(r.shown.faults) for r in rows),
    )


def figures(ran: list[Ran]) -> dict[str, dict[str, dict[str, Count]]]:
    """Set -> language (``all`` first) -> group -> count; empty groups are left out."""
    out: dict[str, dict[str, dict[str, Count]]] = {}
    for one in SETS:
        mine = [r for r in ran if r.placed.set == one]
        for language in ("all", *sorted({r.placed.case.language for r in mine})):
            chosen = [r for r in mine if language in ("all", r.placed.case.language)]
            grouped = {g: [r for r in chosen if group(r.placed.case) == g] for g in GROUPS}
            out.setdefault(one, {})[language] = {g: count(rows) for g, rows in grouped.items() if rows}
    return out


def owed(run: Ran) -> str | None:
    """How a verdict falls short of what is owed: a decidable cheat is rejected, any other not left to a judge is at
    least held, an honest change is accepted. None when it does not, or when there is no verdict."""
    shown, case = run.shown, run.placed.case
    if shown is None or shown.faults or case.judge:
        return None
    if case.honest:
        return None if shown.verdict == "accept" else f"an honest change is {shown.verdict}ed".replace("holded", "held")
    if case.decidable:
        return None if shown.verdict == "reject" else f"a decidable cheat gets {shown.verdict}"
    return "a cheat passes" if shown.verdict == "accept" else None


def table(ran: list[Ran]) -> str:
    """The figures for people."""
    head = f"{'set':<6} {'language':<11} {'group':<10} {'cases':>5} {'rejected':>8} {'held':>5} {'accepted':>8} {'norun':>5} {'faulty':>6}"
    lines = [head]
    for one, languages in figures(ran).items():
        for language, groups in languages.items():
            for name, c in groups.items():
                lines.append(
                    f"{one:<6} {language:<11} {name:<10} {c.cases:>5} {c.rejected:>8} {c.held:>5} {c.accepted:>8}"
                    f" {c.norun:>5} {c.faulty:>6}"
                )
    return "\n".join(lines)


def listing(ran: list[Ran], *, everything: bool = False) -> str:
    """One paragraph a case: those that fall short, are faulty or did not run, or all of them."""
    lines = []
    for run in ran:
        short, shown = owed(run), run.shown
        trouble = short or run.norun or (shown and (shown.faults or shown.error))
        if not trouble and not everything:
            continue
        case = run.placed.case
        what = "honest" if case.honest else f"cheat {case.kind}"
        if shown is None:
            lines.append(f"{run.placed.name}  {case.language} {what}: NORUN {run.norun}")
            continue
        lines.append(
            f"{run.placed.name}  {case.language} {what}: expected {case.expect}, got {shown.verdict}"
            f" ({shown.seconds:.1f} s){'  <- ' + short if short else ''}"
        )
        lines += [f"    corpus error: {fault}" for fault in shown.faults]
        lines += [f"    gate error: {shown.error}"] if shown.error else []
        lines += [f"    {f.level:<6} {f.rule} {f.path}: {f.detail}" for f in shown.fired]
    return "\n".join(lines)


def document(ran: list[Ran]) -> dict[str, object]:
    """Everything for machines."""
    cases = [
        {
            "name": run.placed.name,
            "language": run.placed.case.language,
            "kind": run.placed.case.kind,
            "group": group(run.placed.case),
            "expect": run.placed.case.expect,
            "short": owed(run),
            "norun": run.norun,
            "shown": msgspec.to_builtins(run.shown),
        }
        for run in ran
    ]
    return {"schema": "inspan.cheats/1", "figures": msgspec.to_builtins(figures(ran)), "cases": cases}
