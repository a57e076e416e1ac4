"""A result as a patch file a person applies with ``git apply``."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from inspan.errors import DeliveryError
from inspan.outcome.records import Change, DeliveryRecord
from inspan.spec.paths import State
from inspan.workspace.changeset import patch
from inspan.workspace.repository import Repository


def deliver_patch(state: State, repo: Repository, job: str, change: Change) -> DeliveryRecord:
    """Write ``<state>/attempts/<job>.patch`` and name it. Delivering the same job again writes the same file.

    Raises:
        DeliveryError: there is nothing to deliver, or the file cannot be written.
    """
    if change.result is None or change.result == change.base:
        raise DeliveryError("there is no change to deliver", where=job)
    text = patch(state, repo, change.base, change.result)
    target: Path = state.attempts / f"{job}.patch"
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd, scratch = tempfile.mkstemp(dir=target.parent)
        with os.fdopen(fd, "wb") as out:
            out.write(text)
        os.rename(scratch, target)
    except OSError as error:
        raise DeliveryError(f"the patch cannot be written: {error.strerror}", where=str(target)) from error
    return DeliveryRecord(kind="patch", path=str(target), commit=change.result)
