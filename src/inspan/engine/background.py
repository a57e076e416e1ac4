"""Drivers in processes of their own: ``--detach``, and whoever ends what another driver left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import msgspec

from inspan import errors
from inspan.errors import InspanError, StateError
from inspan.spec.job import Job
from inspan.spec.paths import State

_MODULE = "inspan.engine.detached"


def detach(job: Job, *, state: State, retry_of: str | None = None) -> str:
    """Start a driver for ``job`` in a session of its own and return the job's id once it is stored.

    Args:
        job: validated, with configured values filled in.
        state: the state directory.
        retry_of: the job this one repeats.

    Raises:
        InspanError: what ``inspan.engine.driver.drive`` raises before it stores anything.
    """
    request = json.dumps({"job": msgspec.to_builtins(job), "retry_of": retry_of}).encode()
    child = _spawn(state, "run", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None
    with child.stdin, child.stdout:
        child.stdin.write(request)
        child.stdin.close()
        line = child.stdout.readline()
    try:
        answer: dict[str, Any] = json.loads(line)
    except ValueError:
        raise StateError("The detached driver ended before it stored the job.", do="Run it without --detach.") from None
    if "job" in answer:
        return str(answer["job"])
    raise rebuilt(answer["error"])


def settle_later(state: State, after: str | None = None) -> None:
    """Start a driver that ends what dead drivers left, once the driver ``after`` is gone. Returns at once."""
    _spawn(state, "settle", *([after] if after else []), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def described(error: InspanError) -> dict[str, str | None]:
    """An error as a document."""
    parts = {"what": error.what, "where": error.where, "do": error.do, "reason": error.reason}
    return {"type": type(error).__name__, **parts}


def rebuilt(document: dict[str, Any]) -> InspanError:
    """The error of a document that ``described`` made."""
    kind = getattr(errors, str(document["type"]), InspanError)
    made: InspanError = kind(document["what"], where=document["where"], do=document["do"], reason=document["reason"])
    return made


def _spawn(state: State, *arguments: str, stdin: int, stdout: int) -> subprocess.Popen[bytes]:
    # -P: nothing in the caller's directory may shadow a module of ours
    return subprocess.Popen(
        [sys.executable, "-P", "-m", _MODULE, *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "INSPAN_HOME": os.fspath(state.root)},
        start_new_session=True,
    )
