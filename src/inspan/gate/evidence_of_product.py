"""What the product's side of a change shows, whatever its checks say: the detectors run over the gate's own trees."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from inspan.gate.context import GateContext, Trees, installed
from inspan.gate.product.detectors import detected
from inspan.gate.product.scene import Scene
from inspan.outcome.records import CheckResult, Violation


def judge_product(context: GateContext, both: Trees, results: Iterable[CheckResult]) -> list[Violation]:
    """Judge the product's side of the change; nothing is run.

    Args:
        results: what the checks did, for what was red on base.
    """
    if context.result == context.base:
        return []
    context.say("the change itself")
    scene = Scene(
        prompt=context.job.prompt,
        changed=both.changed,
        before=cache(both.before),
        after=cache(both.after),
        base=both.base,
        result=both.result,
        executable=(p for p, blob in both.result.items() if blob.mode == "100755"),
        permitted=context.job.may_change,
        checks=[(r.command, {"passed": True, "failed": False}.get(r.base or "")) for r in results],
        installed=installed(context),
    )
    return list(detected(scene))
