"""A pytest plugin that writes one line per test outcome to a file outside the workspace.

It is copied under a name of its own for every run, so nothing in the tree can stand in for it. Outcomes come from the
runner's own reports: an expected failure and a passing expected failure are told apart from a skip and a pass.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

_KEY = "@key@"
_PATH = os.environ.pop("INSPAN_EVIDENCE", None)
_ROOT = os.path.realpath(os.environ.pop("INSPAN_ROOT", os.getcwd()))
_ONLY = frozenset(filter(None, os.environ.pop("INSPAN_ONLY", "").split("\n")))
_worst: dict[str, tuple[int, str]] = {}
_RANK = {"passed": 0, "skipped": 1, "xfailed": 1, "xpassed": 1, "failed": 2, "error": 3}


class _Writer:
    """Appends whole lines; nothing is kept in memory that a later crash could take along."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.prefix = ""

    def line(self, **fields: object) -> None:
        os.write(self.fd, json.dumps({"key": _KEY, **fields}, ensure_ascii=True).encode("ascii") + b"\n")


_writer = _Writer(_PATH) if _PATH else None
if _writer is not None:
    _writer.line(kind="loaded")


def _worker(config: Any) -> bool:
    return hasattr(config, "workerinput")


def pytest_configure(config: Any) -> None:
    """Open a session; only the controlling process of a distributed run speaks."""
    if _writer is not None and not _worker(config):
        root = os.path.relpath(os.path.realpath(config.rootpath), _ROOT)
        _writer.prefix = "" if root == "." else root + "/"
        _writer.line(kind="start", runner="pytest", version=pytest.__version__)
        config.option.maxfail = 0  # evidence of every test, whatever the first one does
        config.option.continue_on_collection_errors = True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Keep only the wanted tests where some are wanted."""
    if _ONLY:
        keep = [i for i in items if _named(i.nodeid).split("[", 1)[0] in _ONLY]
        config.hook.pytest_deselected(items=[i for i in items if i not in keep])
        items[:] = keep


def _named(nodeid: str) -> str:
    return f"{_writer.prefix if _writer else ''}{nodeid}"


def pytest_collectreport(report: Any) -> None:
    """A module that cannot be collected, or skips itself as a whole."""
    if _writer is not None and report.outcome != "passed" and report.nodeid:
        _writer.line(kind="collect", id=_named(report.nodeid), outcome=report.outcome, text=_crash(report))


def pytest_collection_finish(session: Any) -> None:
    """What will be run."""
    if _writer is not None and not _worker(session.config):
        for item in getattr(session, "items", ()):
            _writer.line(kind="item", id=_named(item.nodeid))


def _crash(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message if crash is not None else report.longrepr or "")[:400]


def _outcome(report: Any) -> str:
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed and report.when != "call":
        return "error"
    return str(report.outcome)


def pytest_runtest_logreport(report: Any) -> None:
    """One phase of one test; its worst phase is its outcome, written when the test is over."""
    if _writer is None or report.outcome == "rerun":
        return
    if report.when == "call" or report.outcome != "passed":
        outcome = _outcome(report)
        found = (_RANK.get(outcome, 3), outcome, _crash(report) if report.failed else "")
        if report.nodeid not in _worst or found[0] > _worst[report.nodeid][0]:
            _worst[report.nodeid] = found[:2]
            _writer.line(kind="phase", id=_named(report.nodeid), outcome=outcome, text=found[2])
    if report.when == "teardown":
        _, outcome = _worst.pop(report.nodeid, (3, "error"))
        _writer.line(kind="test", id=_named(report.nodeid), outcome=outcome)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: Any, exitstatus: object) -> None:
    """Close the session; a session without this line never counts."""
    if _writer is not None and not _worker(session.config):
        _writer.line(kind="finish", exit=int(exitstatus) if isinstance(exitstatus, int) else -1)
