"""The collector classifies before it removes, and work that is nowhere else stays."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inspan.interfaces.garbage import collect, survey
from inspan.outcome.reasons import REASONS
from inspan.outcome.records import BackendRecord, Change, Facets, FileChange, Outcome
from inspan.spec.job import Job
from inspan.spec.paths import State
from inspan.store.records import NewJob
from inspan.store.store import Store

FILES = (FileChange(path="a", status="added"),)


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path / "state")


@pytest.fixture
def store(state: State) -> Iterator[Store]:
    opened = Store.open(state)
    yield opened
    opened.close()


@pytest.fixture
def make(state: State, store: Store) -> Callable[..., Path]:
    """An attempt with a workspace, of a job in some state."""

    def made(
        job: str, *, reason: str | None = "verified", change: Change | None = None, patch: bytes | None = None
    ) -> Path:
        new = NewJob(id=job, spec=Job(prompt="x"), repo="/r", base="b", backend="a@b/c", resolved={}, executor="e")
        store.insert_job(new)
        paths = state.attempt(f"{job}.a1")
        (paths.workspace / "deep").mkdir(parents=True)
        (paths.workspace / "deep" / "work.txt").write_text("w" * 5000)
        paths.home.mkdir()
        paths.lock.touch()
        artifacts = {"patch": store.keep(job, "patch", patch)} if patch is not None else {}
        if reason is not None:
            row = REASONS[reason]
            store.record_outcome(
                Outcome(
                    job=job, verdict=row.verdict, reason=reason, reasons=(reason,), required_action=row.action,
                    facets=Facets(), backend=BackendRecord(harness="a", provider="b", model="c"), change=change,
                    artifacts=artifacts,
                )
            )  # fmt: skip
        return paths.root

    return made


WORKED = Change(base="b", result="r", files=FILES)


def test_classes_and_removal(state: State, make: Callable[..., Path]) -> None:
    ended = make("jended", change=WORKED, patch=b"diff")
    nothing = make("jnothing", reason="text_only", change=Change(base="b", result="b"))
    running = make("jrunning", reason=None)
    uncollected = make("juncollected", reason="gate_error", change=Change(base="b"))
    unpatched = make("junpatched", reason="deadline", change=WORKED)
    orphan = state.attempts / "jnobody.a1"
    (orphan / "ws").mkdir(parents=True)
    odd = state.attempts / "odd name"
    (odd / "ws").mkdir(parents=True)
    found = {left.attempt: left for left in survey(state)}
    assert {name: left.kind for name, left in found.items()} == {
        "jended.a1": "ended", "jnothing.a1": "ended", "jrunning.a1": "active", "juncollected.a1": "unkept",
        "junpatched.a1": "unkept", "jnobody.a1": "orphan", "odd name": "orphan",
    }  # fmt: skip
    assert found["jended.a1"].bytes >= 5000
    assert all(not left.places for left in found.values() if left.kind != "ended")
    for left in found.values():
        assert collect(state, left) is (left.kind == "ended")
    for root in (ended, nothing):
        assert not (root / "ws").exists() and not (root / "home").exists() and (root / "lock").exists()
    for root in (running, uncollected, unpatched, orphan, odd):
        assert (root / "ws").exists()
    assert {left.attempt for left in survey(state)} == set(found) - {"jended.a1", "jnothing.a1"}


def test_a_held_lock_keeps_it(state: State, make: Callable[..., Path]) -> None:
    root = make("jheld", change=WORKED, patch=b"diff")
    before = survey(state)
    assert [left.kind for left in before] == ["ended"]  # the control: without the lock it would go
    descriptor = os.open(root / "lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert [left.kind for left in survey(state)] == ["active"]
    assert not collect(state, before[0])
    assert (root / "ws" / "deep" / "work.txt").exists()
    os.close(descriptor)
    assert collect(state, before[0])


def test_a_damaged_patch_counts_as_not_kept(state: State, make: Callable[..., Path]) -> None:
    make("jdamaged", change=WORKED, patch=b"diff")
    for path in state.artifacts.rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"other")
    assert [left.kind for left in survey(state)] == ["unkept"]


def test_links_out_of_the_workspace_are_not_followed(state: State, make: Callable[..., Path], tmp_path: Path) -> None:
    root = make("jlinks", change=WORKED, patch=b"diff")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("p")
    (root / "ws" / "link").symlink_to(outside)
    (root / "home").rmdir()
    (root / "home").symlink_to(outside)
    for left in survey(state):
        assert collect(state, left)
    assert (outside / "precious").read_text() == "p" and not os.path.lexists(root / "home")


def test_no_state_is_nothing_to_do(state: State) -> None:
    assert survey(state) == []
