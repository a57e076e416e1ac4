"""``inspan init``."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec

from inspan.interfaces.cli import text
from inspan.workspace.repository import open_repository

SCHEMA = "inspan.init/1"


@click.command(short_help="Find the repository's checks and write inspan.toml.")
@click.option("--repo", default=".", metavar="P", help="A directory of the repository (default: here).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def init(repo: str, as_json: bool) -> int:
    """Find the repository's checks and set-up commands from its files and write them to inspan.toml.

    Nothing is executed, and an existing inspan.toml is never changed.
    """
    from inspan.spec.discover import discover, write

    root = Path(open_repository(repo).toplevel)
    found = discover(root)
    path = write(root, found)
    if as_json:
        print(json.dumps({"schema": SCHEMA, "path": str(path), **msgspec.to_builtins(found)}))
        return 0
    lines: list[text.Line] = [[("wrote ", "good"), (text.safe(str(path)), "bold")]]
    for check in found.checks:
        lines.append(
            [("  check       ", "dim"), (f"{check.name} = {check.command}", ""), (f"  ({check.because})", "dim")]
        )
    for one in found.setup:
        serves = f"serves commits with the same {', '.join(one.reads)}" if one.reads else "made for every commit"
        lines.append([("  set-up      ", "dim"), (one.command, ""), (f"  ({one.because}; {serves}; proposed)", "dim")])
    if not found.checks:
        lines.append([("  no check was found; write one into the file's [checks]", "warn")])
    text.write(lines)
    return 0
