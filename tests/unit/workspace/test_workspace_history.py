"""The history inside a workspace: all that the base reaches, nothing else, and cheap for a next base."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gate_bench import GIT, git, repository, write
from inspan.spec.paths import State
from inspan.workspace import history
from inspan.workspace.build import ensure_gate, ensure_pristine
from inspan.workspace.layout import Owner, pristine_dir, pristine_name
from inspan.workspace.repository import Repository, open_repository

SELF = Owner(uid=os.geteuid(), gid=os.getegid())


@pytest.fixture
def place(tmp_path: Path) -> tuple[State, Path]:
    state = State(tmp_path / "state")
    state.attempts.mkdir(parents=True)
    return state, repository(tmp_path / "repo", {"a.txt": "one\n", "d/b.txt": "two\n"})


def commit(checkout: Path, files: dict[str, str], message: str) -> str:
    write(checkout, files)
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", message)
    return git(checkout, "rev-parse", "HEAD")


def prepared(state: State, checkout: Path, base: str) -> tuple[Repository, Path]:
    repo = open_repository(str(checkout))
    ensure_gate(state, repo)
    ensure_pristine(state, repo, base, SELF)
    return repo, pristine_dir(state, repo, pristine_name(base, SELF)) / "objects"


def objects(store: Path, tmp_path: Path) -> set[str]:
    """Every object a repository finds that borrows from this store alone."""
    bare = tmp_path / "reader.git"
    if not bare.exists():
        git(tmp_path, "init", "-q", "--bare", str(bare))
    (bare / "objects/info/alternates").write_text(f"{store}\n")
    asked = ["git", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]
    done = subprocess.run(asked, cwd=bare, env=GIT, check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def reached(checkout: Path, commit: str) -> set[str]:
    return {line.split()[0] for line in git(checkout, "rev-list", "--objects", commit).splitlines()}


def test_all_that_the_base_reaches_and_nothing_else(place: tuple[State, Path], tmp_path: Path) -> None:
    state, checkout = place
    first = git(checkout, "rev-parse", "HEAD")
    base = commit(checkout, {"a.txt": "more\n"}, "second")
    later = commit(checkout, {"a.txt": "solution\n"}, "later")
    git(checkout, "checkout", "-q", "-b", "other", first)
    other = commit(checkout, {"c.txt": "elsewhere\n"}, "other")
    git(checkout, "commit", "-q", "--amend", "-m", "amended")
    git(checkout, "tag", "-a", "-m", "t", "v1")
    git(checkout, "checkout", "-q", "main")
    git(checkout, "gc", "-q")
    repo, store = prepared(state, checkout, base)
    seen = objects(store, tmp_path)
    assert seen == reached(checkout, base)
    assert not {later, other, git(checkout, "rev-parse", "v1"), git(checkout, "rev-parse", "HEAD:a.txt")} & seen
    # the control: borrowed from the user's own store, all of it is there
    assert {later, other} < objects(Path(repo.common_dir) / "objects", tmp_path)


def test_a_next_base_brings_only_what_is_new(place: tuple[State, Path], tmp_path: Path) -> None:
    state, checkout = place
    first = git(checkout, "rev-parse", "HEAD")
    _, old = prepared(state, checkout, first)
    base = commit(checkout, {"a.txt": "more\n"}, "second")
    _, new = prepared(state, checkout, base)
    assert objects(new, tmp_path) == reached(checkout, base)
    shared = {p.name for p in (old / "pack").iterdir()} & {p.name for p in (new / "pack").iterdir()}
    assert shared and all((old / "pack" / n).stat().st_ino == (new / "pack" / n).stat().st_ino for n in shared)
    assert len(list((new / "pack").glob("*.pack"))) == 2


def test_an_older_base_and_a_side_branch_see_nothing_of_the_younger(place: tuple[State, Path], tmp_path: Path) -> None:
    state, checkout = place
    first = git(checkout, "rev-parse", "HEAD")
    younger = commit(checkout, {"a.txt": "more\n"}, "second")
    prepared(state, checkout, younger)
    _, store = prepared(state, checkout, first)
    assert objects(store, tmp_path) == reached(checkout, first)
    git(checkout, "checkout", "-q", "-b", "side", first)
    side = commit(checkout, {"s.txt": "side\n"}, "side")
    _, store = prepared(state, checkout, side)
    assert objects(store, tmp_path) == reached(checkout, side) and younger not in objects(store, tmp_path)


def test_packs_do_not_pile_up(place: tuple[State, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state, checkout = place
    monkeypatch.setattr(history, "MAX_PACKS", 3)
    most = 0
    for n in range(6):
        base = commit(checkout, {"a.txt": f"{n}\n"}, f"{n}")
        _, store = prepared(state, checkout, base)
        most = max(most, len(list((store / "pack").glob("*.pack"))))
    assert most == 3
    assert objects(store, tmp_path) == reached(checkout, base)


def test_a_layer_that_showed_everything_is_made_again(place: tuple[State, Path], tmp_path: Path) -> None:
    state, checkout = place
    base = git(checkout, "rev-parse", "HEAD")
    repo, store = prepared(state, checkout, base)
    meta = store.parent / "meta.json"
    meta.write_text(meta.read_text().replace(str(store), f"{repo.git_dir}/objects"))
    (store / "mark").touch()
    prepared(state, checkout, base)
    assert str(store) in meta.read_text() and not (store / "mark").exists()
