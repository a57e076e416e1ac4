"""Every detector of the product's side, run over one change. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from inspan.gate.product import (
    dependencies,
    ends,
    impostors,
    leftovers,
    memory,
    sensing,
    special_cases,
    suppressions,
    texts,
)
from inspan.gate.product.scene import Scene
from inspan.outcome.records import Violation

Detector = Callable[[Scene], Iterable[Violation]]

DETECTORS: tuple[Detector, ...] = (
    special_cases.special_cased,
    impostors.equality_overridden,
    impostors.patched,
    impostors.runner_touched,
    impostors.skip_from_product,
    sensing.test_sensed,
    sensing.oracle_read,
    ends.early_exit,
    ends.error_swallowed,
    leftovers.stub_left,
    leftovers.fake_data,
    leftovers.behaviour_removed,
    leftovers.unreadable_source,
    memory.state_remembered,
    memory.timing_gamed,
    suppressions.suppression_added,
    dependencies.dependency_moved,
    dependencies.shadowed_dependency,
    dependencies.tool_shadowed,
    texts.hidden_text,
    texts.reviewer_text,
)


def detected(scene: Scene) -> Iterator[Violation]:
    """What the detectors see. A permitted path (``may_change``) is never more than a note."""
    for detector in DETECTORS:
        for seen in detector(scene):
            yield _permitted(scene, seen)


def _permitted(scene: Scene, seen: Violation) -> Violation:
    if seen.level == "note" or not scene.permitted.match(seen.path):
        return seen
    return Violation(
        path=seen.path, rule=seen.rule, level="note", lines=seen.lines, honest=None,
        detail=f"{seen.detail} (permitted by the job)",
    )  # fmt: skip
