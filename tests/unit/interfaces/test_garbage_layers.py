"""Layers go by last use, never from below a workspace or another layer, and a use that races a removal wins."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import workspace_kit as kit
from tests.support.leavings import Leavings

from inspan.errors import InspanError
from inspan.interfaces.garbage.found import Found, without_grace
from inspan.interfaces.garbage.layers import collect, survey
from inspan.spec.tables import GcTable
from inspan.workspace.build import discard, freeze_setup, plan_setup
from inspan.workspace.layout import pristine_dir, pristine_name
from inspan.workspace.pristine import ensure_pristine
from inspan.workspace.setup import find_setup, setup_scratch
from inspan.workspace.use import last_use, note_use, take_away

AGES = GcTable()
LATER = AGES.layers + 60


@pytest.fixture
def left(tmp_path: Path) -> Iterator[Leavings]:
    made = Leavings(tmp_path)
    yield made
    made.store.close()


def look(left: Leavings, after: float = LATER) -> dict[str, Found]:
    return {f.name.split("/", 2)[2]: f for f in survey(left.state, AGES, time.time() + after)}


def layer(left: Leavings, base: str | None = None) -> Path:
    return pristine_dir(left.state, left.repo, pristine_name(base or left.base, kit.SELF))


def sweep(left: Leavings, after: float = LATER) -> dict[str, str | None]:
    now = time.time() + after
    return {f.name.split("/", 2)[2]: collect(left.state, f, AGES, now) for f in survey(left.state, AGES, now) if f.goes}


def test_a_pristine_layer_goes_when_it_was_not_used_for_long(left: Leavings) -> None:
    ensure_pristine(left.state, left.repo, left.base, kit.SELF)
    name = f"pristine/{layer(left).name}"
    assert not look(left, after=LATER - 3600)[name].goes
    assert look(left)[name].goes and look(left)[name].bytes > 0
    assert sweep(left) == {name: None}
    assert not layer(left).exists()
    assert ensure_pristine(left.state, left.repo, left.base, kit.SELF)  # and it is made again when it is wanted
    assert (layer(left) / "tree/README.md").read_text() == "hello\n"


def test_using_a_layer_renews_it_and_all_below(left: Leavings) -> None:
    ensure_pristine(left.state, left.repo, left.base, kit.SELF)
    (left.checkout / "second.txt").write_text("2\n")
    left.git("add", "-A")
    left.git("commit", "-qm", "second")
    second = left.git("rev-parse", "HEAD")
    stack = ensure_pristine(left.state, left.repo, second, kit.SELF)
    if len(stack) < 2:
        pytest.skip("NORUN: this file system makes no difference layers")
    long_ago = time.time() - LATER
    for place in (layer(left), layer(left, second)):
        os.utime(place / "meta.json", (long_ago, long_ago))
    assert {f.goes for f in look(left, after=0).values()} == {True}  # the control
    ensure_pristine(left.state, left.repo, second, kit.SELF)
    assert {f.goes for f in look(left, after=0).values()} == {False}
    os.utime(layer(left) / "meta.json", (long_ago, long_ago))
    assert not look(left, after=0)[f"pristine/{layer(left).name}"].goes  # what was used lately stands on it


def test_nothing_is_taken_from_below_a_workspace(left: Leavings) -> None:
    plan = left.job("jlong", {"new.txt": "work\n"}, ended=False)
    name = f"pristine/{layer(left).name}"
    assert not look(left)[name].goes and "stands on it" in look(left)[name].why
    discard(left.state, plan)
    left.end("jlong", None, {})
    assert look(left)[name].goes  # the control


def test_nothing_is_taken_that_a_job_noted_which_has_not_ended(left: Leavings) -> None:
    """Without any grace time, while set-up runs on a base, or before the job has said what its workspace stands on."""
    discard(left.state, left.job("jset", ended=False))
    name, at_once, now = f"pristine/{layer(left).name}", without_grace(AGES), time.time() + 60

    def found() -> Found:
        return next(f for f in survey(left.state, at_once, now) if f.name.endswith(name))

    assert not found().goes and "jset" in found().why
    forced = Found(kind="pristine", name=str(layer(left).relative_to(left.state.root)), why="", goes=True)
    assert "jset" in (collect(left.state, forced, at_once, now) or "")
    noted = last_use(layer(left)) or 0.0
    os.utime(layer(left) / "meta.json", (noted - 3600, noted - 3600))
    assert found().goes  # it was not used since that job began
    note_use(layer(left))
    left.end("jset", None, {})
    assert found().goes


def test_a_setup_layer_goes_by_last_use(left: Leavings) -> None:
    plan = plan_setup(left.state, left.repo, left.base, "k1", kind="overlay", owner=kit.SELF, level="sandbox")
    left.write(plan, {"node_modules/x/index.js": "x\n"})
    freeze_setup(left.state, left.repo, left.base, "k1", plan)
    assert look(left)["setup/k1"].goes and not look(left, after=0)["setup/k1"].goes
    long_ago = time.time() - LATER
    os.utime(left.state.repo(left.repo.key) / "setup/k1/meta.json", (long_ago, long_ago))
    assert look(left, after=0)["setup/k1"].goes
    assert find_setup(left.state, left.repo, "k1") is not None
    assert not look(left, after=0)["setup/k1"].goes  # finding it is using it
    sweep(left)
    assert find_setup(left.state, left.repo, "k1") is None


def test_what_builders_left_goes_and_a_running_setup_stays(left: Leavings) -> None:
    ensure_pristine(left.state, left.repo, left.base, kit.SELF)
    home = left.state.repo(left.repo.key)
    (home / "pristine/.new-dead/tree").mkdir(parents=True)
    (home / "pristine/.going-dead/tree").mkdir(parents=True)
    running = setup_scratch(left.state, left.repo, "k2")
    dead = setup_scratch(left.state, left.repo, "k3")
    left.workspace("jsetup")
    left.paths("jsetup").setup_note.write_text(f'{{"directory": "{running}/ws"}}')
    hour = AGES.workspaces + 60
    assert sweep(left, after=0) == {"pristine/.going-dead": None}
    assert sweep(left, after=hour) == {"pristine/.new-dead": None, f"setup/{dead.name}": None}
    assert running.exists() and not dead.exists()
    left.paths("jsetup").setup_note.unlink()
    assert sweep(left, after=hour) == {f"setup/{running.name}": None}  # the control


def test_a_use_before_the_rename_puts_the_layer_back(left: Leavings, monkeypatch: pytest.MonkeyPatch) -> None:
    ensure_pristine(left.state, left.repo, left.base, kit.SELF)
    place, before = layer(left), time.time() + 3600
    import inspan.workspace.use as use

    real = use.set_aside

    def used_in_between(path: Path) -> Path:
        os.utime(path / "meta.json", (before + 1, before + 1))
        return real(path)

    monkeypatch.setattr(use, "set_aside", used_in_between)
    assert not take_away(place, before=before)
    assert (place / "tree/README.md").exists() and not list(place.parent.glob(".going-*"))
    monkeypatch.undo()
    os.utime(place / "meta.json")
    assert take_away(place, before=before)  # the control
    assert last_use(place) is None
    note_use(place)  # a layer that is not there is nothing to note
    assert not place.exists()


def test_users_and_a_remover_side_by_side(left: Leavings) -> None:
    """However often layers are taken away meanwhile, who is given one finds all of it or, too late, none of it."""
    stop, seen, late = threading.Event(), [0], [0]
    failures: list[BaseException] = []

    def use() -> None:
        try:
            while not stop.is_set() and seen[0] < 40:
                try:
                    top = ensure_pristine(left.state, left.repo, left.base, kit.SELF)[0]
                    assert (Path(top) / "README.md").read_text() == "hello\n"
                    seen[0] += 1
                except (FileNotFoundError, InspanError):
                    late[0] += (
                        1  # a layer may go half a second after its use, which is sooner than a busy machine reads
                    )
        except BaseException as error:
            failures.append(error)

    user = threading.Thread(target=use)
    user.start()
    try:
        while user.is_alive() and not failures:
            now = time.time() + AGES.layers - 0.5  # what was not used for half a second
            for found in survey(left.state, AGES, now):
                if found.goes:
                    collect(left.state, found, AGES, now)
    finally:
        stop.set()
        user.join(60)
    assert failures == [] and seen[0] > late[0]
