"""Everything that is on disk, and removing what may go."""

from __future__ import annotations

import os
from collections.abc import Iterator

from inspan.interfaces.garbage import artifacts, attempts, layers
from inspan.interfaces.garbage.found import Found
from inspan.spec.paths import State
from inspan.spec.tables import GcTable
from inspan.store.artifacts import removing
from inspan.store.store import Store


class Collector:
    """One look at a state, and removing what it found. Use as a context."""

    def __init__(self, state: State, ages: GcTable, now: float, discard: frozenset[str] = frozenset()) -> None:
        """
        Args:
            state: where.
            ages: grace times and retention.
            now: seconds of the epoch.
            discard: ended jobs whose work a person wants gone although it is nowhere else.
        """
        self._state, self._ages, self._now, self._discard = state, ages, now, discard
        self._store: Store | None = None

    def __enter__(self) -> Collector:
        if self._state.database.exists():
            self._store = Store.open(self._state)
        return self

    def __exit__(self, *_: object) -> None:
        if self._store is not None:
            self._store.close()

    def survey(self) -> Iterator[Found]:
        """What is there, by class; workspaces first, since layers stand below them."""
        yield from attempts.survey(self._state, self._ages, self._now, self._discard)
        yield from layers.survey(self._state, self._ages, self._now)
        if self._store is not None:
            yield from artifacts.survey(self._state, self._ages, self._now)

    def remove(self, found: Found) -> str | None:
        """Remove what may go, after another look at it under its lock; its rows are marked once its files are gone.

        Returns:
            None when it is gone, else why it is still there.
        """
        top = found.name.split("/", 1)[0]
        if top != "artifacts" and not any(os.path.lexists(place) for place in found.places):
            return None  # another gc was first
        if top == "attempts":
            return attempts.collect(self._state, found, self._ages, self._now, self._discard)
        if top == "repos":
            return layers.collect(self._state, found, self._ages, self._now)
        with removing(self._state.artifacts):
            why = artifacts.collect(self._state, found, self._ages, self._now)
            if why is None and found.digest is not None and self._store is not None:
                self._store.mark_gone(found.digest)
        return why
