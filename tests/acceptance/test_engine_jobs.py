"""Whole jobs through the durable engine: base, warnings, set-up, continuing, the checkout, secrets."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from inspan.spec.paths import state
from inspan.store import read
from support.driving import Driver, branch, job

LEVELS = ["none", "sandbox"]


def scenario(*commands: str, say: str = "Done.") -> str:
    steps = "".join(f"  - bash: {command!r}\n" for command in commands)
    return f"schema: inspan.rehearsal/1\nname: mine\nsteps:\n{steps}  - say: {say!r}\n"


def git(repo: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=repo, check=True, capture_output=True, text=True).stdout.strip()


def run(repo: Path, *commands: str, **fields: object) -> dict:
    return Driver({"checks": []} | job(repo, scenario(*commands), checks=[]) | fields).wait()


def check(command: str) -> list[dict[str, object]]:
    return [{"name": "it", "command": command}]


@pytest.mark.parametrize("level", LEVELS)
def test_uncommitted_work_is_named_and_not_taken_in(repository: Path, level: str) -> None:
    (repository / "README.md").write_text("edited\n")
    (repository / "new.txt").write_text("new\n")
    outcome = run(repository, "cat README.md > seen.txt; ls > names.txt", sandbox=level)
    patch = read.artifact(state(), outcome["artifacts"]["patch"]).decode()
    assert "+hello" in patch and "edited" not in patch and "new.txt" not in patch
    assert any("README.md" in w for w in outcome["warnings"]) and any("new.txt" in w for w in outcome["warnings"])
    assert (repository / "README.md").read_text() == "edited\n"


def test_dirty_takes_a_snapshot_and_names_what_it_left_out(repository: Path) -> None:
    (repository / "README.md").write_text("edited\n")
    (repository / ".env").write_text("KEY=1\n")
    outcome = run(repository, "cat README.md > seen.txt", dirty=True)
    patch = read.artifact(state(), outcome["artifacts"]["patch"]).decode()
    assert "+edited" in patch and outcome["change"]["base"] != git(repository, "rev-parse", "HEAD")
    assert any(".env" in w for w in outcome["warnings"])
    row = read.get_job(state(), outcome["job"])
    assert row is not None and row.base == outcome["change"]["base"]


@pytest.mark.parametrize("level", LEVELS)
def test_set_up_runs_once_and_agent_and_checks_stand_on_it(repository: Path, level: str) -> None:
    fields = {"setup": ["echo made > built.txt"], "checks": check("grep -q made built.txt"), "sandbox": level}
    first = run(repository, "cat built.txt > copy.txt", **fields)
    assert first["verdict"] == "accepted", first
    assert [f["path"] for f in first["change"]["files"]] == ["copy.txt"], "set-up's files are charged to nobody"
    second = run(repository, "cat built.txt > copy.txt", **fields)
    kinds = [[e.kind for e in read.events_since(state(), one["job"])] for one in (first, second)]
    assert ["setup" in k for k in kinds] == [True, False] and second["verdict"] == "accepted"


@pytest.mark.parametrize("level", LEVELS)
def test_a_set_up_that_edits_tracked_files_turns_no_check_green(repository: Path, level: str) -> None:
    fields = {"setup": ["echo repaired > README.md"], "sandbox": level}
    wrong = run(repository, "touch x", checks=check("grep -q repaired README.md"), **fields)
    assert (wrong["verdict"], wrong["reason"]) == ("rejected", "checks_failed"), wrong
    assert any("README.md" in w for w in wrong["warnings"])
    right = run(
        repository, "cat README.md > x", checks=check("grep -q hello README.md && grep -q repaired x"), **fields
    )
    assert right["verdict"] == "accepted", "control: the agent saw what set-up left, and the check the result"


@pytest.mark.parametrize("level", LEVELS)
def test_a_failed_set_up_ends_the_job_before_any_agent(repository: Path, level: str) -> None:
    outcome = run(repository, "touch x", setup=["echo what went wrong; exit 3"], sandbox=level)
    assert (outcome["verdict"], outcome["reason"]) == ("failed", "setup_failed")
    assert "what went wrong" in outcome["detail"] and read.attempts(state(), outcome["job"]) == []
    assert not list(state().root.glob("repos/*/setup/.new-*"))


@pytest.mark.parametrize("level", LEVELS)
def test_continuing_starts_from_the_earlier_result_and_charges_the_whole_change(repository: Path, level: str) -> None:
    first = run(repository, "echo one > one.txt; rm README.md", checks=check("test -f two.txt"), sandbox=level)
    assert first["reason"] == "checks_failed" and branch(repository, first["job"]) is None
    (repository / "later.txt").write_text("x")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "the base moves on")
    again = {"checks": check("test -f two.txt -a -f one.txt -a ! -e README.md"), "sandbox": level}
    second = run(repository, "cat one.txt > two.txt", continue_from=first["job"], **again)
    assert second["verdict"] == "accepted", second
    assert second["change"]["base"] == first["change"]["base"]
    assert sorted((f["path"], f["status"]) for f in second["change"]["files"]) == [
        ("README.md", "deleted"),
        ("one.txt", "added"),
        ("two.txt", "added"),
    ]
    row = read.get_job(state(), second["job"])
    assert row is not None and row.retry_of == first["job"]


def test_a_write_into_the_checkout_at_level_none_is_seen(repository: Path) -> None:
    outcome = run(repository, f"echo hacked >> {repository}/README.md; echo x > x.txt", sandbox="none")
    assert (outcome["verdict"], outcome["reason"]) == ("rejected", "checkout_changed")
    assert ("README.md", "checkout_changed") in {(v["path"], v["rule"]) for v in outcome["violations"]}
    assert branch(repository, outcome["job"]) is None


def test_the_checkout_cannot_be_reached_in_the_sandbox(repository: Path) -> None:
    before = {p: p.read_bytes() for p in repository.rglob("*") if p.is_file()}
    outcome = run(repository, f"echo hacked >> {repository}/README.md", deliver="none")
    assert [f["path"] for f in outcome["change"]["files"]] == ["README.md"], "it landed in the workspace and is charged"
    assert {p: p.read_bytes() for p in repository.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("level", LEVELS)
def test_settings_above_the_workspace_are_named_where_nothing_hides_them(repository: Path, level: str) -> None:
    names = ["CLAUDE.md", "AGENTS.md", ".env", ".claude", ".codex"]
    state().root.mkdir(parents=True)
    for name in names:
        (state().root / name).touch()
    outcome = run(repository, "true", sandbox=level)
    found = [w for w in outcome["warnings"] if "above the workspace" in w]
    assert [name for name in names if found and str(state().root / name) in found[0]] == (
        names if level == "none" else []
    )


def test_a_persons_work_elsewhere_in_the_repository_is_only_noted(repository: Path) -> None:
    tip = git(repository, "rev-parse", "HEAD")
    outcome = run(
        repository,
        f"git --git-dir={repository}/.git update-ref refs/heads/elsewhere {tip}; echo x > x.txt",
        sandbox="none",
    )
    noted = [(v["path"], v["level"]) for v in outcome["violations"]]
    assert ("refs/heads/elsewhere", "note") in noted and outcome["reason"] == "no_suite"


def test_a_credential_in_the_environment_is_never_written(repository: Path, monkeypatch) -> None:
    secret = "hunter2-" + "z" * 24
    monkeypatch.setenv("ANTHROPIC_API_KEY", secret)
    outcome = run(repository, f"echo {secret}; env > env.txt; printf '%s' {secret} > out.txt")
    kept = [
        p
        for p in state().root.rglob("*")
        if p.is_file() and "attempts" not in p.parts and secret.encode() in p.read_bytes()
    ]
    # The prompt and the scenario are the asker's own words: they hold it because this test wrote it there.
    assert [p.name for p in kept if p.parent.name != "objects" and not p.name.startswith("inspan.db")] == []
    patch = read.artifact(state(), outcome["artifacts"]["patch"])
    assert b"[redacted]" in patch and b"ANTHROPIC" not in patch


def test_patch_delivery_and_none(repository: Path) -> None:
    patched = run(repository, "echo x > x.txt", deliver="patch")
    assert patched["delivery"]["kind"] == "patch" and branch(repository, patched["job"]) is None
    subprocess.run(["git", "apply", "--check", patched["delivery"]["path"]], cwd=repository, check=True)
    nothing = run(repository, "echo x > x.txt", deliver="none")
    assert nothing["delivery"]["kind"] == "none" and branch(repository, nothing["job"]) is None


def test_a_branch_in_the_way_fails_the_delivery_and_keeps_the_work(repository: Path) -> None:
    git(repository, "branch", "inspan")  # a file where a directory is needed
    outcome = run(repository, "echo x > x.txt", checks=check("test -f x.txt"))
    assert (outcome["verdict"], outcome["reason"]) == ("failed", "delivery_failed")
    assert outcome["facets"]["delivery"] == "failed" and "patch" in outcome["artifacts"]
