"""``inspan config``."""

from __future__ import annotations

import json
from typing import Any

import click
import msgspec

from inspan.errors import RepositoryError
from inspan.interfaces.cli import text
from inspan.spec.config import KEYS, Configuration, load
from inspan.spec.job import Job
from inspan.spec.paths import state, user_config
from inspan.workspace.repository import open_repository

SCHEMA = "inspan.config/1"


@click.command(short_help="Print each effective setting with where it came from.")
@click.option("--repo", default=".", metavar="P", help="A directory of the repository (default: here).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def config(repo: str, as_json: bool) -> int:
    """Print each effective setting with where it came from, and check declared harnesses."""
    found = load(_toplevel(repo))
    _check_harnesses(found)
    rows = {key: {"value": _effective(found, key), "origin": found.origins[key]} for key in KEYS}
    if as_json:
        made = {"schema": SCHEMA, "settings": rows, "user_file": str(user_config()), "state": str(state().root)}
        print(json.dumps(made))
        return 0
    width = max(map(len, rows))
    text.write(_line(key, row, width) for key, row in rows.items())
    text.write([[(f"{'user file':<{width}}  ", "dim"), (str(user_config()), "")]])
    text.write([[(f"{'state':<{width}}  ", "dim"), (str(state().root), "")]])
    return 0


def _effective(found: Configuration, key: str) -> Any:
    """The value a job gets that says nothing itself."""
    value = getattr(found, key)
    return msgspec.to_builtins(getattr(Job(prompt=""), key, None) if value is None else value)


def _toplevel(repo: str) -> str | None:
    try:
        return open_repository(repo).toplevel
    except RepositoryError:
        if repo != ".":
            raise
        return None  # outside a repository only the user's own settings apply


def _check_harnesses(found: Configuration) -> None:
    from inspan.harness.registry import harness, refuse_unknown_backends

    for name in found.harnesses:
        harness(name, found.harnesses)
    refuse_unknown_backends(found)


def _line(key: str, row: dict[str, Any], width: int) -> text.Line:
    value = json.dumps(row["value"], ensure_ascii=False)
    style = "dim" if row["origin"] == "default" else ""
    return [(f"{key:<{width}}  ", "bold"), (text.safe(value), style), (f"  ({text.safe(row['origin'])})", "dim")]
