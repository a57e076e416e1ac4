"""What acceptance tests share: the command as a user runs it, and what must hold of the machine afterwards."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import psutil

ROOT = Path(__file__).resolve().parents[2]
HARNESSES = Path(os.environ.get("INSPAN_TEST_HARNESS_DIR", ROOT / ".tools" / "harness"))
SANDBOX_UID = 61001


class Result(NamedTuple):
    """One finished command."""

    status: int
    document: dict[str, Any]
    stderr: str


def environment(**more: str) -> dict[str, str]:
    """The test's own environment (its conftest made the state private) with the interpreter's programs on PATH."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, **more}


def inspan(*args: str, env: dict[str, str] | None = None, timeout: float = 150) -> subprocess.CompletedProcess[str]:
    """One ``inspan`` command, in a pipe."""
    argv = [sys.executable, "-m", "inspan.interfaces.cli", *args]
    return subprocess.run(
        argv,
        env=env or environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def run(*args: str, env: dict[str, str] | None = None, timeout: float = 150) -> Result:
    """``inspan run ... --json``: its exit status and its one document."""
    done = inspan("run", *args, "--json", env=env, timeout=timeout)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        raise AssertionError(
            f"no single JSON document, status {done.returncode}\n{done.stdout}\n{done.stderr}"
        ) from None
    return Result(done.returncode, document, done.stderr)


def start(*args: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """``inspan run`` in the background."""
    argv = [sys.executable, "-m", "inspan.interfaces.cli", "run", *args, "--json"]
    return subprocess.Popen(
        argv,
        env=env or environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def make_repository(path: Path, files: dict[str, str]) -> Path:
    """A real repository with one commit on ``main``."""
    for name, content in files.items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
    for args in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run(["git", *args], cwd=path, check=True)
    return path


def checkout_digest(repo: Path) -> str:
    """Every byte of the checkout, and of ``.git`` but for what a delivery may add: objects and ``refs/heads/inspan``."""
    digest = hashlib.sha256()
    for path in sorted(repo.rglob("*")):
        name = str(path.relative_to(repo))
        if name.startswith((".git/objects", ".git/refs/heads/inspan", ".git/logs/refs/heads/inspan")):
            continue
        state = path.lstat()
        digest.update(f"{name}\0{state.st_mode}\0".encode())
        if path.is_symlink():
            digest.update(os.readlink(path).encode())
        elif path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def branches(repo: Path) -> list[str]:
    """Branches Inspan delivered."""
    out = subprocess.run(
        ["git", "for-each-ref", "--format=%(refname)", "refs/heads/inspan"],
        cwd=repo,
        capture_output=True,
        text=True,
        check=True,
    )
    return out.stdout.split()


def left_running(state: Path) -> list[str]:
    """Processes that belong to jobs of this state: by command line, by working directory, by environment."""
    found = []
    needle = str(state)
    for process in psutil.process_iter(["pid", "cmdline", "cwd"]):
        if process.pid == os.getpid():
            continue
        text = " ".join(process.info["cmdline"] or []) + " " + (process.info["cwd"] or "")
        try:
            text += (
                Path(f"/proc/{process.pid}/environ").read_bytes().decode(errors="replace") if needle not in text else ""
            )
        except OSError:
            pass
        if needle in text:
            found.append(f"{process.pid} {' '.join(process.info['cmdline'] or [])[:200]}")
    return found


def nothing_left(state: Path, patience: float = 5.0) -> list[str]:
    """``left_running`` once it has been given a moment to settle."""
    end = time.monotonic() + patience
    while (found := left_running(state)) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def interrupt(process: subprocess.Popen[str]) -> None:
    """What Ctrl-C does to the command."""
    process.send_signal(signal.SIGINT)
