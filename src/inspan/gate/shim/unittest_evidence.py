"""Stands in for ``python -m unittest``: the same program with a result that writes one line per test outcome."""

from __future__ import annotations

import json
import os
import sys
import unittest
from typing import Any

_KEY = "@key@"
_ONLY = frozenset(filter(None, os.environ.pop("INSPAN_ONLY", "").split("\n")))
_PATH = os.environ.pop("INSPAN_EVIDENCE", None)
_ROOT = os.path.realpath(os.environ.pop("INSPAN_ROOT", os.getcwd()))
_fd = os.open(_PATH, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600) if _PATH else None


def _line(**fields: object) -> None:
    if _fd is not None:
        os.write(_fd, json.dumps({"key": _KEY, **fields}, ensure_ascii=True).encode("ascii") + b"\n")


_line(kind="loaded")


def _named(test: Any) -> str:
    """``path::Class::method`` where the module's file is known, else the runner's own id."""
    name = str(test.id())
    module = sys.modules.get(type(test).__module__)
    path = getattr(module, "__file__", None)
    parts = name.split(".")
    if not path or len(parts) < 2:
        return name
    return (
        f"{os.path.relpath(os.path.realpath(path), _ROOT)}::{type(test).__qualname__.replace('.', '::')}::{parts[-1]}"
    )


_FAILED = "unittest.loader._FailedTest."


def _unloaded(test: Any) -> str | None:
    """The file, relative to where discovery began, of a module that could not be loaded; None for a real test."""
    name = str(test.id())
    return f"{name.removeprefix(_FAILED).replace('.', '/')}.py" if name.startswith(_FAILED) else None


class EvidenceResult(unittest.TextTestResult):
    """Writes the outcome of a test when it stops: the worst of its sub-tests and phases."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._outcome = "passed"
        self._text = ""

    def _saw(self, test: Any, outcome: str, error: Any = None) -> None:
        text = f"{error[0].__name__}: {error[1]}"[:400] if error else ""
        if not isinstance(test, unittest.TestCase):  # a set-up of a class or module that failed has no stopTest
            _line(kind="collect", id=str(test.id()), outcome="failed" if outcome != "skipped" else outcome, text=text)
        self._outcome, self._text = outcome, text

    def startTest(self, test: Any) -> None:
        self._outcome, self._text = "passed", ""
        if _unloaded(test) is None:
            _line(kind="item", id=_named(test))
        super().startTest(test)

    def stopTest(self, test: Any) -> None:
        unloaded = _unloaded(test)
        if unloaded is not None:
            _line(kind="collect", id=unloaded, outcome="failed", text=self._text)
            super().stopTest(test)
            return
        if self._text:
            _line(kind="phase", id=_named(test), outcome=self._outcome, text=self._text)
        _line(kind="test", id=_named(test), outcome=self._outcome)
        super().stopTest(test)

    def addFailure(self, test: Any, err: Any) -> None:
        self._saw(test, "failed", err)
        super().addFailure(test, err)

    def addError(self, test: Any, err: Any) -> None:
        self._saw(test, "error", err)
        super().addError(test, err)

    def addSkip(self, test: Any, reason: str) -> None:
        self._saw(test, "skipped")
        super().addSkip(test, reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self._saw(test, "xfailed")
        super().addExpectedFailure(test, err)

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._saw(test, "xpassed")
        super().addUnexpectedSuccess(test)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._saw(test, "failed" if issubclass(err[0], test.failureException) else "error", err)
        super().addSubTest(test, subtest, err)


class EvidenceRunner(unittest.TextTestRunner):
    """The text runner with that result."""

    resultclass = EvidenceResult

    def run(self, test: Any) -> Any:
        self.failfast = False  # evidence of every test, whatever the first one does
        if _ONLY:
            test = unittest.TestSuite(t for t in _flat(test) if _named(t) in _ONLY)
        _line(kind="start", runner="unittest", version=sys.version.split()[0])
        result = super().run(test)
        _line(kind="finish", exit=0 if result.wasSuccessful() else 1)
        return result


def _flat(suite: Any) -> Any:
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from _flat(part)
        else:
            yield part


if __name__ == "__main__":
    sys.argv[0] = f"{os.path.basename(sys.executable)} -m unittest"
    unittest.main(module=None, testRunner=EvidenceRunner)
