"""``scripts/cheats``: run the corpus, or a part of it, and print the figures."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

from cheats.cases import SETS, every, freeze
from cheats.figures import document, listing, owed, table
from cheats.running import run_one


def main() -> int:
    """Exit status 0 when every verdict is what is owed, 1 when one falls short or a case is faulty, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="scripts/cheats", description="Run the corpus of cheats and honest changes.")
    parser.add_argument("names", nargs="*", help="cases (c05, known/c05) or beginnings of names; all without any")
    parser.add_argument("--set", choices=SETS, help="one set only")
    parser.add_argument("--language", help="one language only")
    parser.add_argument("--json", action="store_true", help="one document on standard output")
    parser.add_argument("--all", action="store_true", help="list every case, not only those that fall short")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--freeze",
        action="store_true",
        help="write the digests of the known cases (--set blind: of new blind ones too), and run nothing",
    )
    asked = parser.parse_args()
    if asked.freeze:
        differ = freeze(blind=asked.set == "blind")
        print(f"frozen cases differ, nothing written: {', '.join(differ)}" if differ else "frozen", file=sys.stderr)
        return 1 if differ else 0
    chosen = [
        p
        for p in every()
        if asked.set in (None, p.set)
        and asked.language in (None, p.case.language)
        and (not asked.names or any(p.name.startswith((n, f"{p.set}/{n}")) for n in asked.names))
    ]
    if not chosen:
        parser.error("no case is called that")
    ran = []
    with ProcessPoolExecutor(asked.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for run in pool.map(run_one, chosen):
            ran.append(run)
            word = run.shown.verdict if run.shown else "NORUN"
            short = "a faulty case" if run.shown and run.shown.faults else owed(run)
            word += f"  <- {short}" if short else ""
            print(f"[{len(ran)}/{len(chosen)}] {run.placed.name} {word}", file=sys.stderr, flush=True)
    if asked.json:
        print(json.dumps(document(ran), indent=1))
    else:
        print("\n\n".join(filter(None, (listing(ran, everything=asked.all), table(ran)))))
    return 1 if any(owed(r) or (r.shown and r.shown.faults) for r in ran) else 0


if __name__ == "__main__":
    sys.exit(main())
