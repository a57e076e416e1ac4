"""Runs of a check on mixed trees: the product of one side with the tests of the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from inspan.gate.command import CommandRun, run_command
from inspan.gate.context import GateContext, Trees
from inspan.gate.results import TestRun
from inspan.gate.runners import Runner
from inspan.gate.tests.items import Items, Module
from inspan.gate.tests.languages.contract import parse
from inspan.gate.tests.languages.faults import Left, by_file, faults, without
from inspan.gate.tests.material import Material, placed
from inspan.gate.tests.probes import Planted
from inspan.gate.tests.trees import Blob, content, stored, variant
from inspan.spec.job import Check

_ROUNDS = 4
"""How often what does not compile is left out and the rest tried again."""


class Mixer(msgspec.Struct, frozen=True, kw_only=True):
    """Runs one check on mixed trees.

    Attributes:
        found: the tests of both sides.
        keep: paths whose version is never swapped.
        known: test ids that a run may be asked for.
    """

    context: GateContext
    both: Trees
    check: Check
    runner: Runner
    found: Material
    keep: Callable[[str], bool] | None = None
    known: frozenset[str] = frozenset()

    @property
    def paths(self) -> tuple[str, ...]:
        """The changed files whose tests are swapped."""
        return tuple(p for p in self.found.paths if self.keep is None or not self.keep(p))

    def run(self, start: str, *, swap: bool = True, planted: Iterable[Planted] = (), only: str = "") -> CommandRun:
        """Run the check on ``start`` (``base`` or ``result``) with the tests of the other side.

        In a compiled language, items that do not compile there are left out, and count as errors.

        Raises:
            GateError, SandboxError, WorkspaceError: the check could not be run.
        """
        ours = self.both.base if start == "base" else self.both.result
        changes = placed(self.both, self.found, start, self.keep) if swap else {}
        files = list(planted)
        for file in files:
            changes[file.path] = stored(self.both.git, file.data, ours.get(file.path, Blob("100644", "")).mode)
        self.context.say(f"check {self.check.name}: tests on {'base' if start == 'base' else 'the result'} again")
        run = self._once(start, changes, only)
        gone: set[str] = set()
        modules: dict[str, Module] = {}
        for _ in range(_ROUNDS):
            left = self._left(run, changes, modules)
            if not left:
                break
            for path, rest in left.items():
                gone |= rest.gone
                changes[path] = stored(self.both.git, rest.data, ours.get(path, Blob("100644", "")).mode)
            run = self._once(start, changes, only)
        return self._counted(run, gone, modules) if gone else run

    def _once(self, start: str, changes: dict[str, Blob | None], only: str) -> CommandRun:
        context = self.context
        origin = context.base if start == "base" else context.result
        commit = variant(self.both.git, origin, changes) if changes else origin
        layer = context.setup_for_checks or context.setup
        for again in (False, True):
            run = run_command(
                context,
                commit,
                self.check.command,
                runner=self.runner,
                timeout=self.check.timeout,
                setup=layer,
                only=only,
            )
            told = run.tests is not None and (run.tests.complete or run.tests.collect)
            if told or again or run.ended != "exit":
                break  # what a busy machine cut short is tried once more
        return run

    def _left(self, run: CommandRun, changes: Mapping[str, Blob | None], modules: dict[str, Module]) -> dict[str, Left]:
        """The files that were put in place, without what did not compile in them."""
        unbuilt = run.tests is not None and any(outcome == "failed" for outcome, _ in run.tests.collect.values())
        if not unbuilt or run.ended != "exit":
            return {}
        out: dict[str, Left] = {}
        here = {p: blob for p, blob in changes.items() if blob is not None}
        for path, found in by_file(faults(run.output), here).items():
            data = content(self.both.git, here[path])
            module = parse(path, data) if data is not None else None
            if data is None or module is None:
                continue
            modules.setdefault(path, module)
            rest = without(path, data, module, found)
            if rest is not None:
                out[path] = rest
        return out

    def _counted(self, run: CommandRun, gone: set[str], modules: Mapping[str, Module]) -> CommandRun:
        """The run with the items that were left out as errors."""
        tests = run.tests or TestRun()
        items = Items(modules.values())
        ids = {i for i in self.known if items.locate(i) in gone} | gone
        outcomes = dict(tests.outcomes) | dict.fromkeys(sorted(ids), "error")
        return msgspec.structs.replace(run, tests=msgspec.structs.replace(tests, outcomes=outcomes))
