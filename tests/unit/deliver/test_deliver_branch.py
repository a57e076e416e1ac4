"""Delivery: one branch or one file, and nothing else of the user's repository moves."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from gate_bench import git, repository
from inspan.deliver.branch import Delivery, deliver_branch
from inspan.deliver.patch import deliver_patch
from inspan.errors import DeliveryError
from inspan.gate.tests.trees import files, stored, variant
from inspan.outcome.reasons import Verdict
from inspan.outcome.records import Change
from inspan.spec.paths import State
from inspan.workspace.build import ensure_gate
from inspan.workspace.gate_repository import gate_git
from inspan.workspace.repository import open_repository

RECEIPT = "sha256:" + "a" * 64


class Site:
    def __init__(self, root: Path, **options: str) -> None:
        self.state = State(root / "state")
        self.checkout = repository(root / "repo", {"a.py": "one\n", "dir/b.py": "two\n"})
        self.open()

    def open(self) -> None:
        self.repo = open_repository(str(self.checkout))
        ensure_gate(self.state, self.repo)
        self.gate = gate_git(self.state, self.repo)

    def delivery(self, **other) -> Delivery:
        blob = stored(self.gate, b"changed\n")
        result = variant(self.gate, self.repo.head, {"a.py": blob, 'dir/new "ü\n.py': blob, "dir/b.py": None})
        fields = {
            "job": "j1", "verdict": Verdict.ACCEPTED, "reason": "verified", "receipt": RECEIPT, "verified_receipt": RECEIPT,
            "change": Change(base=self.repo.head, result=result), "title": "fix  the\nbug", "when": 1_700_000_000,
        }  # fmt: skip
        return Delivery(**fields | other)

    def everything(self) -> dict[str, bytes]:
        """Every file of checkout and repository but objects, and the ref that is delivered."""
        out = {}
        for path in sorted(self.checkout.rglob("*")):
            name = str(path.relative_to(self.checkout))
            if path.is_file() and not name.startswith(
                (".git/objects", ".git/refs/heads/inspan", ".git/logs/refs/heads/inspan")
            ):
                out[name] = path.read_bytes()
        return out


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def test_a_branch_is_made_and_nothing_else_moves(site):
    (site.checkout / "a.py").write_text("work in progress\n")
    (site.checkout / "c.py").write_text("staged\n")
    git(site.checkout, "add", "c.py")
    hook = site.checkout / ".git/hooks/reference-transaction"
    hook.write_text("#!/bin/sh\ntouch hook-ran\nexit 1\n")
    hook.chmod(0o755)
    git(site.checkout, "config", "user.name", "a person")
    git(site.checkout, "config", "commit.gpgSign", "true")
    before = site.everything()
    made = deliver_branch(site.state, site.repo, site.delivery(summary="I did it\nwell", rehearsal="write-file"))
    assert site.everything() == before
    hook.unlink()
    assert made.ref == "refs/heads/inspan/j1" and git(site.checkout, "rev-parse", made.ref) == made.commit
    assert git(site.checkout, "rev-parse", f"{made.commit}^") == site.repo.head
    assert git(site.checkout, "show", f"{made.ref}:a.py") == "changed"
    assert git(site.checkout, "diff", "--name-only", "-z", "main", made.ref) == 'a.py\0dir/b.py\0dir/new "ü\n.py\0'
    text = git(site.checkout, "log", "-1", "--format=%an <%ae>%n%B", made.ref)
    assert text.startswith("Inspan <inspan@localhost>\n[rehearsal] fix the bug\n") and "> I did it\n> well" in text
    trailers = git(site.checkout, "log", "-1", "--format=%(trailers)", made.ref).splitlines()
    assert [t for t in trailers if t] == [
        "Inspan-Job: j1", "Inspan-Verdict: accepted", f"Inspan-Receipt: {RECEIPT}", "Inspan-Rehearsal: write-file",
    ]  # fmt: skip
    assert (
        "error"
        not in subprocess.run(["git", "fsck", "--strict"], cwd=site.checkout, capture_output=True, text=True).stderr
    )


def test_delivering_again_finds_the_same_branch_and_never_moves_one(site):
    first = deliver_branch(site.state, site.repo, site.delivery())
    assert deliver_branch(site.state, site.repo, site.delivery()) == first
    git(site.checkout, "update-ref", "refs/heads/inspan/j1", site.repo.head)
    with pytest.raises(DeliveryError, match="holds something else"):
        deliver_branch(site.state, site.repo, site.delivery())
    assert git(site.checkout, "rev-parse", "refs/heads/inspan/j1") == site.repo.head


def test_a_branch_in_the_way_is_named(site):
    git(site.checkout, "branch", "inspan")
    with pytest.raises(DeliveryError, match="could not be created"):
        deliver_branch(site.state, site.repo, site.delivery())


@pytest.mark.parametrize(
    "other",
    [
        {"verdict": Verdict.REJECTED}, {"verdict": Verdict.FAILED}, {"verdict": Verdict.CANCELLED},
        {"verdict": Verdict.NO_CHANGE}, {"verdict": Verdict.PARKED}, {"verified_receipt": "sha256:" + "b" * 64},
        {"receipt": "", "verified_receipt": ""}, {"job": "a..b"},
    ],
)  # fmt: skip
def test_what_must_not_be_delivered_is_not(site, other):
    with pytest.raises(DeliveryError):
        deliver_branch(site.state, site.repo, site.delivery(**other))
    assert git(site.checkout, "for-each-ref", "refs/heads/inspan") == ""
    if "job" not in other:  # any name is the name of a file
        with pytest.raises(DeliveryError):
            deliver_patch(site.state, site.repo, site.delivery(**other))
    assert not list(site.state.attempts.glob("*.patch"))


def test_an_empty_change_is_not_delivered(site):
    empty = msgspec.structs.replace(site.delivery(), change=Change(base=site.repo.head, result=site.repo.head))
    with pytest.raises(DeliveryError, match="no change"):
        deliver_branch(site.state, site.repo, empty)
    with pytest.raises(DeliveryError, match="no change"):
        deliver_patch(site.state, site.repo, empty)


def test_from_a_linked_worktree_the_branch_lands_in_the_common_repository(site, tmp_path):
    git(site.checkout, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    site.checkout, main = tmp_path / "side", site.checkout
    site.open()
    made = deliver_branch(site.state, site.repo, site.delivery())
    assert (
        git(main, "rev-parse", made.ref) == made.commit
        and git(tmp_path / "side", "rev-parse", "HEAD") == site.repo.head
    )


def test_a_base_only_the_gate_has_is_delivered_along(site):
    blob = stored(site.gate, b"uncommitted\n")
    snapshot = variant(site.gate, site.repo.head, {"dirty.py": blob})
    result = variant(site.gate, snapshot, {"a.py": blob})
    made = deliver_branch(site.state, site.repo, site.delivery(change=Change(base=snapshot, result=result)))
    assert git(site.checkout, "show", f"{made.ref}^:dirty.py") == "uncommitted"
    git(site.checkout, "fsck", "--strict")


def test_as_root_in_somebody_elses_repository_everything_stays_theirs(site):
    if os.geteuid() != 0:
        pytest.skip("NORUN: needs root")
    subprocess.run(["chown", "-R", "12345:12345", site.checkout], check=True)
    site.open()
    deliver_branch(site.state, site.repo, site.delivery())
    assert not [p for p in (site.checkout / ".git").rglob("*") if p.lstat().st_uid != 12345]


def test_sha256(tmp_path):
    checkout = tmp_path / "repo"
    checkout.mkdir()
    git(checkout, "init", "-q", "-b", "main", "--object-format=sha256")
    site = Site(tmp_path)
    made = deliver_branch(site.state, site.repo, site.delivery())
    assert len(made.commit) == 64 and git(site.checkout, "rev-parse", made.ref) == made.commit


def test_a_patch_applies(site):
    delivery = site.delivery()
    made = deliver_patch(site.state, site.repo, delivery)
    assert deliver_patch(site.state, site.repo, delivery) == made
    git(site.checkout, "apply", made.path)
    assert (site.checkout / "a.py").read_text() == "changed\n" and not (site.checkout / "dir/b.py").exists()


def test_variants_replace_remove_and_turn_files_into_directories(site):
    blob = stored(site.gate, b"x\n")
    commit = variant(site.gate, site.repo.head, {"a.py": None, "a.py/inner": blob, "dir/b.py": None, "dir": blob})
    assert set(files(site.gate, commit)) == {"a.py/inner", "dir"}
    assert site.gate.run("for-each-ref") == b""
