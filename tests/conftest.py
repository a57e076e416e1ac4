"""What every test shares: a private state directory, and NORUN counted instead of silently skipped."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _private_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test ever touches the user's own state or configuration."""
    home = tmp_path_factory.mktemp("inspan-state")
    monkeypatch.setenv("INSPAN_HOME", str(home / "state"))
    monkeypatch.setenv("INSPAN_CONFIG", str(home / "config.toml"))
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "tester")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "tester@example.invalid")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small real repository with one commit on ``main``."""
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "README.md").write_text("hello\n")
    for args in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run(["git", *args], cwd=repo, check=True)
    return repo


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many checks could not run and why; a skip without a NORUN reason is named as such."""
    reasons: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = text.removeprefix("Skipped: ")
        if not reason.startswith("NORUN"):
            reason = f"skipped without a NORUN reason: {reason}"
        reasons[reason] = reasons.get(reason, 0) + 1
    ran = sum(len(terminalreporter.stats.get(k, [])) for k in ("passed", "failed", "error"))
    terminalreporter.write_line(f"NORUN: {sum(reasons.values())} of {ran + sum(reasons.values())} checks could not run")
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"  {count} x {reason}")
