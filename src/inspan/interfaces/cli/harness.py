"""``inspan harness list`` and ``inspan harness install``."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click
import msgspec

from inspan.interfaces.cli import text
from inspan.spec.config import Configuration, load
from inspan.spec.paths import state

SCHEMA = "inspan.harnesses/1"


@click.group("harness", short_help="List or install harness programs.")
def harness_group() -> None:
    """List the harnesses Inspan knows, or install the program of one."""


@harness_group.command("list", short_help="List harnesses and whether their programs are here.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def list_harnesses(as_json: bool) -> int:
    """List every harness that can be named, with the program found for it."""
    rows = found_harnesses(load(None))
    if as_json:
        print(json.dumps({"schema": SCHEMA, "harnesses": rows}))
        return 0
    width = max(len(row["name"]) for row in rows)
    text.write(harness_line(row, width) for row in rows)
    return 0


@harness_group.command("install", short_help="Install the program of a harness.")
@click.argument("name")
@click.option("--version", help="Another version than the pinned one; Inspan does not know its digest.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def install_harness(name: str, version: str | None, as_json: bool) -> int:
    """Install the pinned program of harness NAME into Inspan's own prefix."""
    from inspan.harness.install import install

    def progress(step: str) -> None:
        text.write([[(text.safe(step), "dim")]], sys.stderr)

    done = install(name, state(), progress, version=version)
    if as_json:
        print(json.dumps({"schema": SCHEMA, "harnesses": [{"name": name, **msgspec.to_builtins(done)}]}))
    else:
        text.write([[(f"{name} {done.version or ''} ", "good"), (done.argv[0], "")]])
    return 0


def found_harnesses(config: Configuration) -> list[dict[str, Any]]:
    """Every harness that can be named: name, title, wires, and the program found (null without one)."""
    from inspan.harness.registry import harness, names

    rows = []
    for name in names(config.harnesses):
        one = harness(name, config.harnesses)
        found = one.locate(os.environ.get("PATH", os.defpath), str(state().harness))
        rows.append(
            {
                "name": name,
                "title": one.title,
                "wires": list(one.wires),
                "own_login_only": one.own_login_only,
                "program": found.argv[0] if found else None,
                "version": found.version if found else None,
                "source": found.source if found else None,
            }
        )
    return rows


def harness_line(row: dict[str, Any], width: int) -> text.Line:
    """One harness for people."""
    if row["program"] is None:
        return [(f"{row['name']:<{width}}  ", "bold"), ("not installed", "warn")]
    facts = " ".join(str(f) for f in (row["version"], f"({row['source']})", row["program"]) if f)
    return [(f"{row['name']:<{width}}  ", "bold"), (text.safe(facts), "good")]
