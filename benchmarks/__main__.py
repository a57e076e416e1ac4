"""``python -m benchmarks NAME [--json]``."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys

NAMES = ("workspace", "gate", "dispatch", "cli", "isolation")
"""Every benchmark; each is a module of this package whose ``measure()`` gives its document."""


def present(name: str) -> bool:
    """Whether the module of a benchmark is there."""
    return importlib.util.find_spec(f"benchmarks.{name}") is not None


def main(arguments: list[str]) -> int:
    """Run one benchmark and print its document, as JSON or as lines for people."""
    parser = argparse.ArgumentParser(prog="bench", description="Measure Inspan beside its peers.")
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    asked = parser.parse_args(arguments)
    if not present(asked.name):
        there = [name for name in NAMES if present(name)]
        print(f"bench: {asked.name} is not part of this checkout; there are: {', '.join(there)}", file=sys.stderr)
        return 2
    document = importlib.import_module(f"benchmarks.{asked.name}").measure()
    if asked.json:
        print(json.dumps(document, indent=2, sort_keys=True))
        return 0
    for part in ("figures", "peers"):
        for name, value in document[part].items():
            print(f"{part[:-1]:>6}  {name:<36} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
