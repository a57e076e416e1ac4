"""A repository whose own files point out of it: what is shown inside is objects, and nothing else of the machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from gate_bench import Bench, git, repository
from inspan.errors import RepositoryError
from inspan.workspace.gate_repository import gate_git
from inspan.workspace.repository import open_repository
from inspan.workspace.stores import object_stores

LOOK = "find /run/inspan -name 'id_*' -exec cat {} + > seen.txt"


def seen(bench: Bench) -> str:
    changeset, _ = bench.change(LOOK)
    return gate_git(bench.state, bench.repo).run("cat-file", "blob", f"{changeset.result}:seen.txt").decode()


@pytest.fixture
def private(tmp_path: Path) -> Path:
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    (folder / "id_secret").write_text("the key\n")
    return folder


@pytest.mark.parametrize("how", ["alternates", "alternates of alternates", "objects is a link"])
def test_a_directory_that_is_no_object_store_is_not_shown(tmp_path: Path, private: Path, how: str) -> None:
    bench = Bench(tmp_path, {"a.txt": "x\n"}, "sandbox")
    objects = bench.checkout / ".git/objects"
    if how == "objects is a link":
        for entry in objects.iterdir():
            shutil.move(entry, private / entry.name)
        objects.rmdir()
        objects.symlink_to(private)
    elif how == "alternates":
        (objects / "info/alternates").write_text(f"{private}\n")
    else:
        (tmp_path / "middle/info").mkdir(parents=True)
        (tmp_path / "middle/info/alternates").write_text(f"{os.path.relpath(private, tmp_path / 'middle')}\n")
        (objects / "info/alternates").write_text(f"{tmp_path / 'middle'}\n")
    with pytest.raises(RepositoryError, match="id_secret"):
        pytest.fail(f"seen inside: {seen(bench)}")


def test_what_is_borrowed_from_another_repository_is_shown_and_works(tmp_path: Path) -> None:
    lender = repository(tmp_path / "lender", {"a.txt": "x\n"})
    git(lender, "gc", "-q")
    git(tmp_path, "clone", "-q", "--shared", str(lender), "borrower")
    (lender / ".git/objects/tmp_obj_left").write_text("")
    assert len(object_stores(open_repository(str(tmp_path / "borrower")))) == 2


@pytest.mark.parametrize(
    "name", [".git/info/exclude", ".git/shallow", ".git/objects/info/alternates", ".git/index", ".git"]
)
def test_a_pipe_in_the_git_directory_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    checkout = repository(tmp_path / "repo", {"a.txt": "x\n"})
    assert open_repository(str(checkout)).branch == "main"
    place = checkout / name
    if place.exists():
        place.rename(tmp_path / "aside")
    os.mkfifo(place)
    with pytest.raises(RepositoryError, match="no file"):
        open_repository(str(checkout))
