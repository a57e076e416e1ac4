"""A result as a patch file a person applies with ``git apply``."""

from __future__ import annotations

from pathlib import Path

from inspan.deliver.branch import Delivery, verified
from inspan.errors import DeliveryError
from inspan.files import write_whole
from inspan.outcome.records import DeliveryRecord
from inspan.spec.paths import State
from inspan.workspace.changeset import patch
from inspan.workspace.repository import Repository


def deliver_patch(state: State, repo: Repository, delivery: Delivery) -> DeliveryRecord:
    """Write ``<state>/attempts/<job>.patch`` and name it. Delivering the same job again writes the same file.

    Raises:
        DeliveryError: the verdict does not allow it, the receipt does not verify, there is nothing to deliver, or the
            file cannot be written.
    """
    result = verified(delivery)
    text = patch(state, repo, delivery.change.base, result)
    target: Path = state.attempts / f"{delivery.job}.patch"
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(target, text)
    except OSError as error:
        raise DeliveryError(f"the patch cannot be written: {error.strerror}", where=str(target)) from error
    return DeliveryRecord(kind="patch", path=str(target), commit=result)
