"""Workspaces of ended jobs: classified by what is on disk, removed on proof, and never the only copy of work."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.leavings import Leavings

from inspan.interfaces.garbage.attempts import collect, survey
from inspan.interfaces.garbage.found import Found
from inspan.interfaces.garbage.survey import Collector
from inspan.spec.paths import State
from inspan.spec.tables import GcTable
from inspan.workspace.remove import ASIDE, remove_tree, set_aside

AGES = GcTable()
LATER = AGES.workspaces + 60
LONG_AFTER = AGES.artifacts + 60


@pytest.fixture(params=["overlay", "clone"])
def left(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Leavings]:
    made = Leavings(tmp_path, kind=request.param)
    yield made
    made.store.close()


def look(left: Leavings, after: float = LATER) -> dict[str, Found]:
    return {found.name.removeprefix("attempts/"): found for found in survey(left.state, AGES, time.time() + after)}


def sweep(left: Leavings, after: float = LATER) -> dict[str, str | None]:
    now = time.time() + after
    return {f.name: collect(left.state, f, AGES, now) for f in survey(left.state, AGES, now) if f.goes}


@pytest.mark.parametrize("depth", [1100, pytest.param(4500, marks=pytest.mark.long)])
def test_no_depth_of_a_tree_stops_it(left: Leavings, depth: int) -> None:
    plan, here = left.job("jdeep", {}), os.getcwd()
    os.chdir(plan.home)
    try:
        for _ in range(depth):  # a program's scratch home, which is no part of a result
            os.mkdir("d")
            os.chdir("d")
        os.chdir(here)
        assert look(left)["jdeep.a1"].bytes > 0
        assert sweep(left) == {"attempts/jdeep.a1": None}
    finally:
        os.chdir(here)
        remove_tree(Path(plan.home))  # whoever tidies up after the tests could not


def test_every_class_by_what_is_on_disk(left: Leavings) -> None:
    left.job("jkept", {"new.txt": "work\n"})
    left.job("jnothing", {}, reason="text_only")
    left.job("jrunning", {"new.txt": "work\n"}, ended=False)
    left.job("junpatched", {"new.txt": "other work\n"}, patched=False, reason="deadline")
    left.job("jmerged", {"merged.txt": "work\n"})
    dirty = left.job("jdirty", {"merged.txt": "work\n"})
    later = left.job("jlater", {"kept.txt": "work\n"})
    (left.checkout / "merged.txt").write_text("work\n")
    left.git("add", "merged.txt")
    left.git("commit", "-qm", "squashed by hand, as another commit")
    left.write(later, {"afterwards.txt": "written after the job had ended\n"})
    left.write(dirty, {"more.txt": "as well\n"})
    odd = left.state.attempts / "odd name"
    (odd / "ws").mkdir(parents=True)
    found = look(left)
    assert {name: f.kind for name, f in found.items()} == {
        "jkept.a1": "kept", "jnothing.a1": "merged-clean", "jrunning.a1": "active", "junpatched.a1": "unkept",
        "jmerged.a1": "merged-clean", "jdirty.a1": "merged-dirty", "jlater.a1": "unkept", "odd name": "orphan",
    }  # fmt: skip
    assert "afterwards.txt" in found["jlater.a1"].why and "more.txt" in found["jdirty.a1"].why
    assert {name for name, f in found.items() if f.goes} == {"jkept.a1", "jnothing.a1", "jmerged.a1"}
    assert all(f.places and f.bytes for f in found.values() if f.goes)
    assert sweep(left) == {f"attempts/{n}.a1": None for n in ("jkept", "jmerged", "jnothing")}
    for job in ("jkept", "jnothing", "jmerged"):
        assert not left.paths(job).workspace.exists() and not left.paths(job).home.exists()
        assert left.paths(job).request.exists()  # its journals have their own time
    for job in ("jrunning", "junpatched", "jdirty", "jlater"):
        assert left.paths(job).workspace.exists() and left.paths(job).home.exists()


def test_a_delivered_commit_in_a_branch_is_merged_and_our_own_branch_is_none(left: Leavings) -> None:
    left.job("jbranch", {"a.txt": "a\n"}, delivery=left.delivered("jbranch"))
    assert look(left)["jbranch.a1"].kind == "merged-clean"  # the control: base itself is in main
    commit = left.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "x")
    left.git("update-ref", "refs/heads/inspan/jown", commit)
    record = left.delivered("jother")
    left.job(
        "jown", {"b.txt": "b\n"}, delivery=type(record)(kind="branch", ref="refs/heads/inspan/jown", commit=commit)
    )
    left.git("update-ref", "refs/remotes/origin/inspan/jown", commit)  # pushed to be looked at, and not merged
    assert look(left)["jown.a1"].kind == "kept"
    left.git("merge", "-q", "--ff-only", "inspan/jown")
    assert look(left)["jown.a1"].kind == "merged-clean"


def test_grace_times(left: Leavings) -> None:
    left.job("jfresh", {"new.txt": "work\n"})
    assert not look(left, after=0)["jfresh.a1"].goes
    assert "of 1 hour" in look(left, after=0)["jfresh.a1"].why
    assert look(left)["jfresh.a1"].goes  # the control


def test_a_held_lock_keeps_it(left: Leavings) -> None:
    left.job("jheld", {"new.txt": "work\n"})
    before = look(left)["jheld.a1"]
    assert before.goes  # the control: without the lock it would go
    descriptor = os.open(left.paths("jheld").lock, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert look(left)["jheld.a1"].kind == "active"
    assert collect(left.state, before, AGES, time.time() + LATER) == "somebody works on it"
    assert left.paths("jheld").workspace.exists()
    os.close(descriptor)
    assert collect(left.state, before, AGES, time.time() + LATER) is None


def test_what_changed_since_the_survey_is_looked_at_again(left: Leavings) -> None:
    plan = left.job("jraced", {"new.txt": "work\n"})
    before = look(left)["jraced.a1"]
    left.write(plan, {"late.txt": "late\n"})
    assert "late.txt" in (collect(left.state, before, AGES, time.time() + LATER) or "")
    assert left.paths("jraced").workspace.exists()


def test_a_damaged_patch_counts_as_not_kept(left: Leavings) -> None:
    left.job("jdamaged", {"new.txt": "work\n"})
    for path in left.state.artifacts.rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"other")
    assert look(left)["jdamaged.a1"].kind == "unkept"


def test_links_out_of_the_workspace_are_not_followed(left: Leavings, tmp_path: Path) -> None:
    left.job("jlinks", {})
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("p")
    home = left.paths("jlinks").home
    (home / "link").symlink_to(outside)
    assert sweep(left) == {"attempts/jlinks.a1": None}
    assert (outside / "precious").read_text() == "p" and not os.path.lexists(home)


def test_a_removal_that_was_cut_off_is_gone_on_with(left: Leavings) -> None:
    left.job("jhalf", {"new.txt": "work\n"})
    moved = set_aside(left.paths("jhalf").workspace)
    assert {f.kind for f in survey(left.state, AGES, time.time() + LATER)} == {"scratch", "kept"}
    assert set(sweep(left).values()) == {None}
    assert not moved.exists() and not left.paths("jhalf").home.exists()


def test_only_a_persons_word_discards_work_that_is_nowhere_else(left: Leavings) -> None:
    left.job("junwanted", {"new.txt": "work\n"}, patched=False, reason="deadline")
    left.job("jwanted", {"other.txt": "work\n"}, patched=False, reason="deadline")
    left.job("jstill", {"other.txt": "work\n"}, ended=False)
    now, named = time.time() + LATER, frozenset({"junwanted", "jstill"})
    assert not [f for f in survey(left.state, AGES, now) if f.goes]
    found = [f for f in survey(left.state, AGES, now, named) if f.goes]
    assert [f.name for f in found] == ["attempts/junwanted.a1"] and "nowhere else" in found[0].why
    assert collect(left.state, found[0], AGES, now) is not None  # not without the word
    assert collect(left.state, found[0], AGES, now, named) is None
    assert not left.paths("junwanted").workspace.exists() and left.paths("jwanted").workspace.exists()


def test_orphans_go_only_when_nobody_worked_in_them(left: Leavings) -> None:
    plan = left.workspace("jnobody")
    untouched = look(left, after=AGES.orphans + 60)["jnobody.a1"]
    assert untouched.kind == "orphan"
    assert untouched.goes is (left.kind == "overlay")  # in a complete copy nobody can tell at a glance
    assert not look(left)["jnobody.a1"].goes
    left.write(plan, {"new.txt": "somebody's work\n"})
    worked = look(left, after=AGES.orphans + 60)["jnobody.a1"]
    assert not worked.goes and str(left.paths("jnobody").workspace) in worked.why


def test_journals_have_their_time(left: Leavings) -> None:
    left.job("jold", {"new.txt": "work\n"})
    sweep(left)
    assert {f.kind: f.goes for f in look(left).values()} == {"journal": False}
    assert sweep(left, after=LONG_AFTER) == {"attempts/jold.a1": None}
    assert not left.paths("jold").root.exists()


def test_nothing_below_which_something_is_mounted(left: Leavings, monkeypatch: pytest.MonkeyPatch) -> None:
    left.job("jmounted", {})
    monkeypatch.setattr("inspan.interfaces.garbage.attempts.mounted", lambda places: places[0])
    assert look(left)["jmounted.a1"].kind == "active"


def test_no_state_is_nothing_to_do(tmp_path: Path) -> None:
    assert survey(State(tmp_path), AGES, time.time()) == []


def test_a_killed_removal_never_leaves_a_partial_workspace(left: Leavings, monkeypatch: pytest.MonkeyPatch) -> None:
    left.job("jcut", {"new.txt": "work\n"})

    def cut(_: Path) -> None:
        raise OSError(5, "cut off")

    monkeypatch.setattr("inspan.interfaces.garbage.found.remove_tree", cut)
    now = time.time() + LATER
    found = look(left)["jcut.a1"]
    assert "cut off" in (collect(left.state, found, AGES, now) or "")
    assert not left.paths("jcut").workspace.exists()  # it has another name already
    monkeypatch.undo()
    assert set(sweep(left).values()) == {None}
    assert not list(left.paths("jcut").root.glob(f"{ASIDE}*"))


def test_what_another_gc_took_meanwhile_is_gone(left: Leavings) -> None:
    left.job("jboth", {"new.txt": "work\n"})
    left.store.artifacts.put(b"nobody's")
    now = time.time() + AGES.artifacts + 60
    with Collector(left.state, AGES, now) as one, Collector(left.state, AGES, now) as other:
        both = [f for turn in range(2) for f in other.survey() if f.goes and one.remove(f) is None]
        assert {f.name.split("/")[0] for f in both} == {"attempts", "artifacts", "repos"}
        assert [other.remove(f) for f in both] == [None] * len(both)
