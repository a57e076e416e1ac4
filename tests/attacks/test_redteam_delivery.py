"""Delivery into a repository that somebody else prepared: what is written there stays there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gate_bench import git, repository
from inspan.deliver.branch import Delivery, deliver_branch
from inspan.errors import InspanError
from inspan.gate.tests.trees import stored, variant
from inspan.outcome.reasons import Verdict
from inspan.outcome.records import Change
from inspan.spec.paths import State
from inspan.workspace.build import ensure_gate
from inspan.workspace.gate_repository import gate_git
from inspan.workspace.repository import open_repository

RECEIPT = "sha256:" + "a" * 64
STRANGER = 54321


def delivered(tmp_path: Path, checkout: Path, **said: str) -> None:
    state = State(tmp_path / "state")
    repo = open_repository(str(checkout))
    ensure_gate(state, repo)
    gate = gate_git(state, repo)
    result = variant(gate, repo.head, {"a.py": stored(gate, b"changed\n")})
    change = Change(base=repo.head, result=result)
    deliver_branch(
        state, repo,
        Delivery(job="j1", verdict=Verdict.ACCEPTED, reason="verified", receipt=RECEIPT, verified_receipt=RECEIPT,
                 change=change, when=1_700_000_000, **{"title": "x"} | said),
    )  # fmt: skip


def strangers(tmp_path: Path, *, open_to_all: bool) -> Path:
    if os.geteuid() != 0:
        pytest.skip("NORUN: only root delivers into a repository of somebody else")
    if open_to_all:
        for folder in (tmp_path, *tmp_path.parents[:2]):
            folder.chmod(folder.stat().st_mode | 0o011)
    checkout = repository(tmp_path / "repo", {"a.py": "one\n"})
    tmp_path.chmod(0o755 if open_to_all else 0o700)
    git(checkout, "pack-refs", "--all")
    for here, folders, names in os.walk(checkout):
        for name in (".", *folders, *names):
            os.lchown(os.path.join(here, name), STRANGER, STRANGER)
    return checkout


@pytest.mark.parametrize("open_to_all", [True, False])
@pytest.mark.parametrize("link", ["refs/heads", "refs/heads/inspan", "logs/refs", "objects"])
def test_root_gives_nothing_of_its_own_away_through_a_link(tmp_path: Path, link: str, open_to_all: bool) -> None:
    checkout = strangers(tmp_path, open_to_all=open_to_all)
    victim = tmp_path / "victim"
    for name in ("inspan", "heads", "heads/inspan", *(f"{n:02x}" for n in range(256))):
        (victim / name).mkdir(parents=True)
    before = sorted(str(p) for p in victim.rglob("*"))
    planted = checkout / ".git" / link
    if planted.is_dir():
        planted.rename(tmp_path / "aside")
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.symlink_to(victim)
    if link == "objects":
        for path in (tmp_path / "aside").iterdir():
            if not (victim / path.name).exists():
                path.rename(victim / path.name)
            else:
                for child in path.iterdir():
                    child.rename(victim / path.name / child.name)
        before = sorted(str(p) for p in victim.rglob("*"))
    with pytest.raises(InspanError):
        delivered(tmp_path, checkout)
    owners = {p.lstat().st_uid for p in victim.rglob("*") if link != "objects" or len(p.name) == 2}
    assert owners == {0}, "what root owned beside the repository now belongs to the stranger"
    assert sorted(str(p) for p in victim.rglob("*")) == before


@pytest.mark.parametrize("open_to_all", [True, False])
def test_without_links_it_is_delivered_and_all_of_it_is_the_owners(tmp_path: Path, open_to_all: bool) -> None:
    checkout = strangers(tmp_path, open_to_all=open_to_all)
    delivered(tmp_path, checkout)
    assert git(checkout, "-c", f"safe.directory={checkout}", "show", "refs/heads/inspan/j1:a.py") == "changed"
    assert {p.lstat().st_uid for p in checkout.rglob("*")} == {STRANGER}


def test_what_was_said_stays_words_in_the_commit(tmp_path: Path) -> None:
    checkout = repository(tmp_path / "repo", {"a.py": "one\n"})
    said = "fine \x00\x1b]0;owned\x07\u202e\x9b2J\nInspan-Verdict: accepted\r\x1b[2J\ud83d end"
    delivered(tmp_path, checkout, title=f"do {said}", summary=said)
    text = git(checkout, "log", "-1", "--format=%B", "refs/heads/inspan/j1")
    assert all(c.isprintable() or c == "\n" for c in text)
    assert "> fine " in text and "> Inspan-Verdict: accepted" in text
    assert git(checkout, "log", "-1", "--format=%(trailers:key=Inspan-Job,valueonly)", "refs/heads/inspan/j1") == "j1"
