"""What is printed when a command cannot do what was asked: what, where, do; with ``--json`` one document as well."""

from __future__ import annotations

import json
import sys
import traceback
from typing import Any

import click

from inspan.errors import InspanError, UsageError
from inspan.interfaces.cli.exits import USAGE
from inspan.interfaces.cli.text import safe, write
from inspan.redact import Redactor

SCHEMA = "inspan.error/1"


def document(error: InspanError) -> dict[str, Any]:
    """An error as one JSON document. ``reason`` is null for a request that was wrong and would end in no outcome."""
    named = error.exit_status != USAGE or error.reason != InspanError.reason
    return {
        "schema": SCHEMA,
        "error": type(error).__name__,
        "what": error.what,
        "where": error.where,
        "do": error.do,
        "reason": error.reason if named else None,
        "exit_status": error.exit_status,
    }


def refuse(error: InspanError, *, as_json: bool) -> int:
    """Print ``error`` and return the exit status."""
    hide = Redactor()
    lines = [[("inspan: ", "bad"), (safe(hide.text(error.what)), "bold")]]
    for label, text in (("where", error.where), ("do", error.do)):
        if text:
            lines.append([(f"  {label}: ", "dim"), (safe(hide.text(text)), "")])
    write(lines, sys.stderr)
    if as_json:
        print(hide.text(json.dumps(document(error))), flush=True)
    return error.exit_status


def usage_error(error: click.UsageError) -> InspanError:
    """A mistake on the command line that click found, in our own terms."""
    where = error.ctx.command_path if error.ctx else "inspan"
    wrapped = UsageError(error.format_message(), where=f"command line of {where}", do=f"see {where} --help")
    wrapped.exit_status = USAGE
    return wrapped


def internal_error(error: BaseException) -> InspanError:
    """A defect of Inspan's own. The traceback goes to standard error, without secrets."""
    trace = "".join(traceback.format_exception(error))
    print(Redactor().text(trace), file=sys.stderr)
    return InspanError(f"an internal error: {type(error).__name__}: {error}", do="report it with the lines above")
