"""A check that counts by its exit status, on a change that touches tests: what the status owes to the tests' change.

Without per-test results a removed or loosened test leaves no trace in the status. So base's tests are put back and the
command runs once more: passes it then too, the change stands without what it did to the tests.
"""

from __future__ import annotations

import re
from typing import Literal

from inspan.gate.command import CommandRun, run_command
from inspan.gate.commands import simple_commands
from inspan.gate.context import GateContext, Trees
from inspan.gate.tests.conventions import is_test_file
from inspan.gate.tests.languages.contract import swap
from inspan.gate.tests.trees import Blob, stored, swapped, variant
from inspan.outcome.records import Violation
from inspan.spec.globs import Globs
from inspan.spec.job import Check

_NO_TESTS = re.compile(
    r"^(ruff|black|isort|flake8|pylint|pycodestyle|mypy|pyright|basedpyright|bandit|eslint|prettier|biome|tsc|stylelint|"
    r"golangci-lint|gofmt|staticcheck|shellcheck|hadolint|yamllint|pre-commit)$"
)
_NOISE = frozenset(("true", "cd", "echo", "test", "[", "export", "set"))
_NO_TESTS_WORD = re.compile(
    r"^(lint|lint[:_-]\S+|format|format[:_-]\S+|fmt|typecheck|type-check|types|vet|clippy|build|compile|docs?)$"
)
_CALLERS = re.compile(
    r"^(make|gmake|just|npm|pnpm|yarn|bun|cargo|go|tox|nox|uv|poetry|pdm|hatch|npx|python|python3|deno|mvn|gradle|gradlew)$"
)
_SHOWN = 8


def runs_tests(command: str) -> bool:
    """Whether a command may run tests; one that only reads, formats, compiles or builds the source does not."""
    return not all(_only_reads(words) for words in simple_commands(command)) or not simple_commands(command)


def _only_reads(words: list[str]) -> bool:
    name = words[0].rsplit("/", 1)[-1]
    if _NO_TESTS.match(name) or name in _NOISE:
        return True
    if not _CALLERS.match(name):
        return False
    called = [w for w in words[1:] if not w.startswith("-") and w not in ("run", "exec", "x")]
    return bool(called) and bool(_NO_TESTS.match(called[0]) or _NO_TESTS_WORD.match(called[0]))


def judge_exit(context: GateContext, both: Trees, check: Check, base: CommandRun, run: CommandRun) -> list[Violation]:
    """Judge one check that passes by its exit status alone; nothing is run when the change leaves the tests alone."""
    changes = _base_tests(context, both)
    if run.ended != "exit" or run.exit != 0 or not changes or not runs_tests(check.command):
        return []
    layer = context.setup_for_checks or context.setup

    def passes(start: str, replaced: dict[str, Blob | None]) -> bool:
        commit = variant(both.git, start, replaced)
        again = run_command(context, commit, check.command, runner=None, timeout=check.timeout, setup=layer)
        return again.ended == "exit" and again.exit == 0

    context.say(f"check {check.name}: base's tests on the result")
    if passes(context.result, changes):
        return []
    failed = base.ended == "exit" and base.exit != 0
    if failed and passes(context.base, _delivered_tests(both, changes)):
        return [
            _violation(changes, "reject", "changing the tests alone turned the check green", "the tests were wrong")
        ]
    text = "the check passes with the delivered tests and fails with base's"
    return [_violation(changes, "hold", text, "a behaviour change as asked")]


def _violation(changes: dict[str, Blob | None], level: Literal["reject", "hold"], text: str, honest: str) -> Violation:
    paths = sorted(changes)
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    detail = f"{text}: {', '.join(paths[:_SHOWN])}{more}"
    return Violation(path=paths[0], rule="test_edited", level=level, detail=detail, honest=honest)


def _base_tests(context: GateContext, both: Trees) -> dict[str, Blob | None]:
    """The replacements that put base's tests back into the result: test files, and tests inside of product files."""
    permitted = Globs(context.job.may_change)
    paths = [p for p in both.changed if is_test_file(p) and not (both.before(p) is None and permitted.match(p))]
    out = swapped(both.result, both.base, paths)
    for path in both.changed:
        mixed = None if path in out or is_test_file(path) else _mixed(path, both.after(path), both.before(path))
        if mixed is not None:
            out[path] = stored(both.git, mixed, both.result[path].mode)
    return out


def _delivered_tests(both: Trees, changes: dict[str, Blob | None]) -> dict[str, Blob | None]:
    """The replacements that put the delivered tests into base."""
    files = [p for p in changes if is_test_file(p)]
    out = swapped(both.base, both.result, files)
    for path in changes.keys() - set(files):
        mixed = _mixed(path, both.before(path), both.after(path))
        if mixed is not None:
            out[path] = stored(both.git, mixed, both.base[path].mode)
    return out


def _mixed(path: str, product: bytes | None, tests: bytes | None) -> bytes | None:
    """The product part of one version of a file with the in-source tests of the other; None when they do not differ."""
    if product is None or tests is None:
        return None
    mixed = swap(path, product, tests)
    return mixed if mixed != product else None
