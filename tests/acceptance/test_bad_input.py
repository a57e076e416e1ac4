"""Bad input: a clear error that says what was wrong, where it was found and what to do, and nothing is left behind."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from runs import checkout_digest, environment, inspan

from inspan.interfaces.cli.entry import run_command

REHEARSED = ["--backend", "bare@rehearsal/any", "--rehearse", "write-file"]


class Place:
    """A repository and its surroundings, for a row of the table to spoil."""

    def __init__(self, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.repo, self.dir = repo, repo.parent
        self.env = monkeypatch.setenv
        self.unset = monkeypatch.delenv

    def file(self, name: str, content: str | bytes) -> str:
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def config(self, text: str) -> None:
        Path(os.environ["INSPAN_CONFIG"]).write_text(text)

    def git(self, *args: str) -> str:
        target = self.dir / "other"
        target.mkdir(exist_ok=True)
        subprocess.run(["git", *args, "."], cwd=target, check=True)
        return str(target)


Row = Callable[[Place], list[str]]


def _newer_state(place: Place) -> list[str]:
    root = Path(os.environ["INSPAN_HOME"])
    root.mkdir(parents=True)
    with sqlite3.connect(root / "inspan.db") as connection:
        connection.execute("create table later (x)")
        connection.execute("pragma user_version = 9999")
    return ["x", *REHEARSED]


def _with(action: Callable[[Place], object], *arguments: str) -> Row:
    def row(place: Place) -> list[str]:
        action(place)
        return ["x", *REHEARSED, *arguments]

    return row


def _no_harness(place: Place) -> list[str]:
    folder = place.dir / "bin"
    folder.mkdir()
    (folder / "git").symlink_to(shutil.which("git") or "/usr/bin/git")
    place.env("PATH", str(folder))
    return ["x", "--backend", "codex@rehearsal/any", "--rehearse", "write-file"]


# name: (arguments, exit status, reason, a word that must appear)
TABLE: dict[str, tuple[Row, int, str | None, str]] = {
    "not a repository": (lambda p: ["x", *REHEARSED, "--repo", str(p.dir)], 2, None, "git repository"),
    "no such directory": (lambda p: ["x", *REHEARSED, "--repo", "nowhere"], 2, None, "no such directory"),
    "a file as repository": (lambda p: ["x", *REHEARSED, "--repo", p.file("f", "")], 2, None, "directory"),
    "no commits": (lambda p: ["x", *REHEARSED, "--repo", p.git("init", "-q")], 2, None, "commit"),
    "bare repository": (lambda p: ["x", *REHEARSED, "--repo", p.git("init", "-q", "--bare")], 2, None, "bare"),
    "unknown base": (lambda p: ["x", *REHEARSED, "--base", "no-such-branch"], 2, None, "no-such-branch"),
    "base like an option": (lambda p: ["x", *REHEARSED, "--base=--help"], 2, None, "--help"),
    "base and dirty": (lambda p: ["x", *REHEARSED, "--base", "HEAD", "--dirty"], 2, None, "contradict"),
    "no backend": (lambda p: ["x"], 2, None, "backend"),
    "no backend at all": (lambda p: ["x", "--backend", "claude-code"], 2, None, "harness@provider/model"),
    "unknown harness": (lambda p: ["x", "--backend", "claud-code@anthropic/m"], 2, None, "claude-code"),
    "unknown provider": (lambda p: ["x", "--backend", "bare@anthropc/m"], 2, None, "anthropic"),
    "missing harness": (_no_harness, 1, "harness_missing", "inspan harness install codex"),
    "missing credential": (
        lambda p: [p.unset("ANTHROPIC_API_KEY", raising=False) or "x", "--backend", "bare@anthropic/m"],
        1, "auth", "ANTHROPIC_API_KEY",
    ),
    "no common wire": (
        lambda p: [p.config("[providers.p]\nwires=['openai-responses']\nbase_url='http://127.0.0.1:1'\n") or "x",
                   "--backend", "claude-code@p/m"],
        1, "model_unavailable", "openai-responses",
    ),
    "rehearsal without a scenario": (lambda p: ["x", "--backend", "bare@rehearsal/m"], 2, None, "--rehearse"),
    "unknown scenario": (
        lambda p: ["x", "--backend", "bare@rehearsal/m", "--rehearse", "wriet-file"], 2, None, "write-file",
    ),
    "broken scenario file": (
        lambda p: ["x", "--backend", "bare@rehearsal/m", "--rehearse", p.file("s.yaml", "steps: [{wriet: 1}]")],
        2, None, "s.yaml",
    ),
    "no prompt": (lambda p: [*REHEARSED], 2, None, "prompt"),
    "empty prompt": (lambda p: ["  ", *REHEARSED], 2, None, "prompt is empty"),
    "missing prompt file": (lambda p: ["--prompt-file", "nothing.txt", *REHEARSED], 2, None, "nothing.txt"),
    "a directory as prompt file": (lambda p: ["--prompt-file", str(p.dir), *REHEARSED], 2, None, "directory"),
    "a prompt file that is no text": (
        lambda p: ["--prompt-file", p.file("p", b"\xff\xfe"), *REHEARSED], 2, None, "UTF-8",
    ),
    "bad glob": (lambda p: ["x", *REHEARSED, "--scope", "../src/**"], 2, None, "../src/**"),
    "bad glob to change": (lambda p: ["x", *REHEARSED, "--may-change", "["], 2, None, "bracket"),
    "two checks of a name": (lambda p: ["x", *REHEARSED, "--check", "a=x", "--check", "a=y"], 2, None, "'a'"),
    "unchecked with a check": (lambda p: ["x", *REHEARSED, "--check", "a=x", "--unchecked"], 2, None, "contradict"),
    "no time": (lambda p: ["x", *REHEARSED, "--timeout", "0"], 2, None, "timeout"),
    "unknown delivery": (lambda p: ["x", *REHEARSED, "--deliver", "merge"], 2, None, "merge"),
    "shared directory outside": (lambda p: ["x", *REHEARSED, "--share", "../lib"], 2, None, "../lib"),
    "unknown level": (lambda p: ["x", *REHEARSED, "--sandbox", "sandbx"], 2, None, "sandbox"),
    "a level of later": (lambda p: ["x", *REHEARSED, "--sandbox", "microvm"], 2, None, "microvm"),
    "a level below the minimum": (
        _with(lambda p: p.env("INSPAN_MIN_SANDBOX", "sandbox"), "--sandbox", "none"), 1, "sandbox_unavailable", "minimum",
    ),
    "broken user configuration": (_with(lambda p: p.config("= 3")), 2, None, "config.toml"),
    "unknown key": (_with(lambda p: p.config("tiemout = 3")), 2, None, "timeout"),
    "bad declared harness": (
        lambda p: [p.config("[harnesses.mine]\nargv=['x']\nwire='openai'\n") or "x", "--backend", "mine@rehearsal/m",
                   "--rehearse", "write-file"],
        2, None, "mine",
    ),
    "unknown variable": (_with(lambda p: p.env("INSPAN_BAKCEND", "x")), 2, None, "INSPAN_BACKEND"),
    "repository chooses a backend": (
        _with(lambda p: (p.repo / "inspan.toml").write_text("backend = 'bare@rehearsal/m'")), 2, None, "inspan.toml",
    ),
    "repository configuration is a link": (
        _with(lambda p: (p.repo / "inspan.toml").symlink_to("/etc/passwd")), 2, None, "symbolic link",
    ),
    "state is a file": (_with(lambda p: p.env("INSPAN_HOME", p.file("state-file", ""))), 2, None, "state-file"),
    "state cannot be made": (_with(lambda p: p.env("INSPAN_HOME", "/proc/inspan")), 2, None, "/proc/inspan"),
    "state of a newer version": (_newer_state, 2, "state_too_new", "newer"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_refused(
    name: str, repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make, status, reason, word = TABLE[name]
    monkeypatch.chdir(repository)
    arguments = make(Place(repository, monkeypatch))
    before = checkout_digest(repository)
    state = Path(os.environ["INSPAN_HOME"])
    existed = sorted(p.name for p in state.iterdir()) if state.is_dir() else None

    got = run_command(["run", *arguments, "--json"])
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert (got, document["exit_status"], document["reason"]) == (status, status, reason), document
    assert document["schema"] == "inspan.error/1"
    assert all(document[key] for key in ("what", "where", "do")), document
    assert word in " ".join((document["what"], document["where"], document["do"])), document
    assert "Traceback" not in captured.err and document["what"].split("\n")[0][:40] in captured.err

    assert checkout_digest(repository) == before
    left = sorted(p.name for p in state.iterdir()) if state.is_dir() else None
    ours = [n for n in left or [] if n not in (existed or []) and not n.startswith("inspan.db")]
    assert ours in ([], ["executors"]), "something was left behind"
    if "executors" in ours:
        assert [p for p in (state / "executors").iterdir() if p.suffix == ".lock"] == []


def test_the_control_is_accepted_and_leaves_something(repository: Path) -> None:
    """The same harness and scenario with nothing spoilt: the table's rows fail for their own reasons."""
    done = inspan("run", "x", *REHEARSED, "--repo", str(repository), "--unchecked", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "accepted"
    assert Path(os.environ["INSPAN_HOME"], "inspan.db").exists()


@pytest.mark.parametrize("name", ["not a repository", "missing credential", "no prompt"])
def test_refused_as_a_process(name: str, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make, status, reason, word = TABLE[name]
    monkeypatch.chdir(repository)
    done = inspan("run", *make(Place(repository, monkeypatch)), "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["reason"]) == (status, reason)
    assert word in done.stderr and "Traceback" not in done.stderr


def test_a_full_disk(repository: Path, tmp_path: Path) -> None:
    """The state on a file system that is too small: an error that says so, and no outcome that claims anything."""
    small = tmp_path / "small"
    small.mkdir()
    script = f'mount -t tmpfs -o size=48k none {small} && exec "$@"'
    probe = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("NORUN: a small file system cannot be mounted here")

    argv = [sys.executable, "-m", "inspan.interfaces.cli", "run", "x", *REHEARSED, "--repo", str(repository), "--json"]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", *argv],
        env=environment(INSPAN_HOME=str(small / "state")), capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, timeout=120,
    )  # fmt: skip
    document = json.loads(done.stdout)
    text = json.dumps(document).lower()
    assert done.returncode in (1, 2), done
    assert "full" in text or "space" in text, document
    assert "Traceback" not in done.stderr, done.stderr


def test_git_that_is_not_there_is_a_usage_error(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    done = inspan("run", "x", "--repo", str(repository), env=environment() | {"PATH": str(tmp_path / "bin")})
    assert done.returncode == 2 and "git is not installed" in done.stderr and "do: install git" in done.stderr


def test_a_state_that_is_a_file_is_said_by_the_reading_verbs_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = inspan("ps", env=environment(INSPAN_HOME=str(tmp_path / "file")))
    assert done.returncode == 2 and "not a directory" in done.stderr, done
    assert inspan("ps", env=environment(INSPAN_HOME=str(tmp_path / "none"))).returncode == 0, "control: no state yet"
