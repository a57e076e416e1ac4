"""Stub harnesses through the real command line: declared in the user's configuration as a user declares one.

A stub plays a list of steps (``inspan.testing.stub_harness``); all jobs of a test stand on one repository and one state.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit
from attempts import STUB, python
from runs import Result, branches, checkout_digest, inspan, interrupt, make_repository, nothing_left, start

LEVELS = ("none", "sandbox")
START = {"print": {"type": "start"}}
DONE = {"print": {"type": "end", "ok": True, "message": "done"}}
FOREVER = {"sleep": "forever"}
CALC = "def add(a, b):\n    return a - b\n"
EDIT = {"write": {"path": "calc.py", "content": "def add(a, b):\n    return a + b\n"}}
FIXED = ("--check", "fixed=grep -q 'a + b' calc.py")
"""A check that fails on base and passes on what ``EDIT`` leaves."""

Steps = Sequence[Mapping[str, Any]]


class Job(NamedTuple):
    """One job to run: the steps its stub plays, flags of ``inspan run``, keys of ``[harnesses.NAME]``."""

    steps: Steps
    flags: Sequence[str] = ()
    keys: Mapping[str, Any] = {}
    prompt: str | None = "do it"


class Stubs:
    """A repository, an Inspan state and the stub harnesses declared so far, at one level.

    Attributes:
        repo: the user's checkout.
        home: the state directory.
        touched: set by a test whose stub reaches the checkout itself, which level ``none`` cannot keep it from.
    """

    def __init__(self, directory: Path, level: str) -> None:
        self.dir, self.level = directory, level
        self.home, self.config = Path(os.environ["INSPAN_HOME"]), Path(os.environ["INSPAN_CONFIG"])
        self.repo = make_repository(directory / "repo", {"calc.py": CALC, "README.md": "hello\n"})
        self.touched = False
        self.program = directory / "stub_harness.py"
        shutil.copyfile(STUB, self.program)
        self.program.chmod(0o644)
        self.settled()

    def commit(self, files: Mapping[str, str], links: Mapping[str, str] = {}) -> None:
        """A new commit on top, with files and symbolic links."""
        for name, target in links.items():
            (self.repo / name).symlink_to(target)
        make_repository(self.repo, dict(files))
        self.settled()

    def configure(self, key: str, value: Any) -> None:
        """Set one top-level key of the user's configuration."""
        document = tomlkit.parse(self.config.read_text()) if self.config.exists() else tomlkit.document()
        document[key] = value
        self.config.write_text(tomlkit.dumps(document))

    def declare(self, name: str, steps: Steps, **keys: Any) -> None:
        """Declare a harness ``name`` that plays ``steps`` and says ``jsonl`` by default."""
        script = self.dir / f"{name}.json"
        script.write_text(json.dumps(steps))
        script.chmod(0o644)
        table = {"argv": [python(), str(self.program), str(script)], "wire": "anthropic", "prompt": "stdin"}
        table |= {"output": "jsonl", "liveness": "events"} | keys
        document = tomlkit.parse(self.config.read_text()) if self.config.exists() else tomlkit.document()
        document.setdefault("harnesses", tomlkit.table())[name] = table
        self.config.write_text(tomlkit.dumps(document))

    def arguments(self, name: str, *flags: str) -> list[str]:
        """Flags of ``inspan run`` for the harness ``name``: here, at this level, with no model behind it."""
        backend = ("--backend", f"{name}@rehearsal/any", "--rehearse", "text-only", "--sandbox", self.level)
        return ["--repo", str(self.repo), *backend, "--timeout", "120", *flags]

    def together(self, env: dict[str, str] | None = None, **jobs: Job) -> dict[str, Result]:
        """Run jobs side by side, two at a time, each by a command of its own."""
        for name, job in jobs.items():
            self.declare(name, job.steps, **job.keys)
        results: dict[str, Result] = {}
        names = list(jobs)
        for pair in (names[n : n + 2] for n in range(0, len(names), 2)):
            running = {n: self.start(n, jobs[n], env) for n in pair}
            for name, process in running.items():
                out, err = process.communicate(timeout=150)
                results[name] = Result(process.returncode, json.loads(out), err)
                assert results[name].document["reason"] not in ("internal_error", "gate_error"), (
                    results[name].document,
                    err,
                )
        return results

    def start(self, name: str, job: Job, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """Start a job of a declared harness in the background."""
        prompt = [] if job.prompt is None else [job.prompt]
        return start(*prompt, *self.arguments(name, *job.flags), env=env)

    def run(self, steps: Steps, *flags: str, env: dict[str, str] | None = None, **keys: Any) -> Result:
        """Run one job."""
        return self.together(env, stub=Job(steps, flags, keys))["stub"]

    def cancelled(self, steps: Steps) -> Result:
        """Run one job whose steps edit ``calc.py``, and cancel it once that is done."""
        self.declare("stub", steps)
        process = start("do it", *self.arguments("stub"))
        until = time.monotonic() + 60
        while not any(EDIT["write"]["content"] == p.read_text() for p in self.home.glob("attempts/*/ws/**/calc.py")):
            assert process.poll() is None and time.monotonic() < until, process.communicate()
            time.sleep(0.05)
        interrupt(process)
        out, err = process.communicate(timeout=60)
        return Result(process.returncode, json.loads(out), err)

    def settled(self) -> None:
        """The checkout as it is now is how it has to be at the end."""
        self._before = checkout_digest(self.repo)

    def left(self) -> list[str]:
        """Processes that belong to this test's jobs, after a moment to settle."""
        return nothing_left(self.home) + nothing_left(self.dir)

    def branches(self) -> list[str]:
        """Branches that were delivered."""
        return branches(self.repo)

    def git(self, *words: str) -> str:
        """git in the user's checkout."""
        return subprocess.run(["git", *words], cwd=self.repo, check=True, capture_output=True, text=True).stdout.strip()

    def close(self) -> None:
        """What holds after every job: the checkout is as it was, and nothing runs."""
        assert self.left() == []
        assert self.touched or checkout_digest(self.repo) == self._before, "the user's checkout was touched"


def ended(result: Result) -> tuple[int, str, str]:
    """Exit status, verdict and reason."""
    return result.status, result.document["verdict"], result.document["reason"]


def files(result: Result) -> list[str]:
    """Paths of the change."""
    return [file["path"] for file in result.document["change"]["files"]]


def rejects(result: Result) -> set[tuple[str, str]]:
    """(path, rule) of what counts against the change."""
    return {(v["path"], v["rule"]) for v in result.document["violations"] if v["level"] == "reject"}


def patch(result: Result) -> str:
    """What ``inspan diff`` prints of the job."""
    return inspan("diff", result.document["job"]).stdout


def transcript(result: Result) -> str:
    """What ``inspan logs`` prints of the job."""
    return inspan("logs", result.document["job"]).stdout


def artifact(stubs: Stubs, result: Result, kind: str) -> bytes:
    """A kept artifact of the job."""
    from inspan.spec.paths import State
    from inspan.store.read import artifact as stored

    return stored(State(stubs.home), result.document["artifacts"][kind])
