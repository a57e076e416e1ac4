"""What Inspan itself adds to a job: a job whose harness does nothing, start to outcome."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.timing import command_ms, interleaved, machine, median

ROUNDS = 7
CONFIG = """
[harnesses.noop]
argv = ["/bin/sh", "-c", "exit 0"]
prompt = "stdin"
wire = "openai-chat"
output = "text"
terminal = false
"""


def _repository(root: Path) -> Path:
    repo = root / "repo"
    repo.mkdir()
    (repo / "a.txt").write_text("a\n")
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.invalid"]
    for args in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run([*git, *args], cwd=repo, check=True)
    return repo


def _job_ms(repo: Path, env: dict[str, str]) -> float:
    """One ``inspan run``; rejected as ``no_activity``, the right verdict for a harness that does nothing."""
    argv = [sys.executable, "-m", "inspan.interfaces.cli", "run", "nothing", "--repo", str(repo)]
    argv += ["--backend", "noop@rehearsal/none", "--rehearse", "text-only", "--json"]
    start = time.perf_counter()
    done = subprocess.run(argv, env=env, capture_output=True, check=False)
    elapsed = (time.perf_counter() - start) * 1000
    if done.returncode != 3 or b"no_activity" not in done.stdout:
        raise RuntimeError(f"status {done.returncode}: {(done.stdout + done.stderr)[-600:].decode(errors='replace')}")
    return elapsed


def measure() -> dict[str, object]:
    """``noop_ms_cold`` (fresh state) and ``noop_ms_warm`` (the base exists), beside ``import dbos`` and a worktree."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        repo = _repository(root)
        (root / "config.toml").write_text(CONFIG)
        count = iter(range(10**6))

        def env(state: str) -> dict[str, str]:
            return {**os.environ, "INSPAN_HOME": str(root / state), "INSPAN_CONFIG": str(root / "config.toml")}

        def worktree() -> float:
            path = str(root / f"wt{next(count)}")
            added = command_ms(["git", "-C", str(repo), "worktree", "add", "-q", "--detach", path])
            return added + command_ms(["git", "-C", str(repo), "worktree", "remove", "--force", path])

        _job_ms(repo, env("warm"))
        kept = interleaved(
            {
                "noop_ms_cold": lambda: _job_ms(repo, env(f"cold{next(count)}")),
                "noop_ms_warm": lambda: _job_ms(repo, env("warm")),
                "import_dbos_ms": lambda: command_ms([sys.executable, "-c", "import dbos"]),
                "git_worktree_add_remove_ms": worktree,
            },
            ROUNDS,
        )
    medians = {name: median(values) for name, values in kept.items()}
    return {
        "figures": {name: medians[name] for name in ("noop_ms_cold", "noop_ms_warm")},
        "peers": {name: medians[name] for name in ("import_dbos_ms", "git_worktree_add_remove_ms")},
        "machine": machine(),
        "method": f"whole commands, median of {ROUNDS} interleaved rounds; the harness is `sh -c 'exit 0'`",
    }
