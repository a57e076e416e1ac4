"""Repositories as people have them, through ``inspan run`` in the sandbox: the branch that arrives is what git itself
takes for sound, holds the change and nothing else, and the checkout is as it was.

One run per kind. What an attempt sees and may change on each of them is in ``test_workspace_repositories``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from runs import checkout_digest, inspan, nothing_left, run
from workspace_kit import sample, sh

from inspan.sandbox.levels import probe

ADD_SUBMODULE = "git -c protocol.file.allow=always submodule --quiet add"


class Kind(NamedTuple):
    """One repository.

    Attributes:
        repo: the checkout.
        sees: a shell command that holds of base and result alike; the required check adds that the new file is there.
        digests: directories that must stay as they are.
        warns: what a warning must name.
    """

    repo: Path
    sees: str = "true"
    digests: tuple[Path, ...] = ()
    warns: str = ""


def plain(tmp_path: Path) -> Kind:
    return Kind(sample(tmp_path / "plain"))


def shallow(tmp_path: Path) -> Kind:
    origin = sample(tmp_path / "origin")
    sh("for i in 1 2 3; do echo $i >> README.md; git commit -qam c$i; done", origin)
    sh(f"git clone -q --depth 1 file://{origin} shallow", tmp_path)
    assert (tmp_path / "shallow/.git/shallow").exists()
    return Kind(tmp_path / "shallow", "git log --oneline | grep -q c3 && grep -q 3 README.md")


def partial(tmp_path: Path) -> Kind:
    origin = sample(tmp_path / "origin")
    sh("git config uploadpack.allowFilter true; echo 1 >> src/app.py; git commit -qam c1", origin)
    sh(f"git clone -q --filter=blob:none file://{origin} partial", tmp_path)
    assert "?" in sh("git rev-list --objects --missing=print HEAD", tmp_path / "partial"), "the clone is not partial"
    return Kind(tmp_path / "partial", "grep -q '^1' src/app.py")


def linked_worktree(tmp_path: Path) -> Kind:
    main = sample(tmp_path / "main")
    sh(
        "git worktree add -q ../linked -b feature && cd ../linked && echo f > f.txt && git add -A && git commit -qm f",
        main,
    )
    return Kind(tmp_path / "linked", "test -f f.txt", (main,))


def submodule(tmp_path: Path) -> Kind:
    library, path = sample(tmp_path / "library"), sample(tmp_path / "with-submodules")
    remove = "git submodule --quiet deinit -f gone && rm -rf .git/modules/gone"
    sh(f"{ADD_SUBMODULE} {library} lib && {ADD_SUBMODULE} {library} gone && git commit -qm subs && {remove}", path)
    return Kind(path, "grep -q return lib/src/app.py", warns="gone")


def lfs(tmp_path: Path) -> Kind:
    path, content = sample(tmp_path / "lfs"), os.urandom(5000)
    oid = hashlib.sha256(content).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n"
    (path / "big.bin").write_text(pointer)
    (path / "absent.bin").write_text(pointer.replace(oid, "0" * 64))
    (path / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    sh("git add -A && git commit -qm lfs", path)
    store = path / ".git/lfs/objects" / oid[:2] / oid[2:4]
    store.mkdir(parents=True)
    (store / oid).write_bytes(content)
    (path / "big.bin").write_bytes(content)  # as git-lfs leaves it: to git without the filter a modified file
    sh(
        "git config filter.lfs.clean 'cat >/dev/null; git cat-file blob HEAD:big.bin' && git update-index -q --refresh",
        path,
    )
    return Kind(path, f"[ $(sha256sum < big.bin | cut -d' ' -f1) = {oid} ]", warns="absent.bin")


def another_owner(tmp_path: Path) -> Kind:
    if os.geteuid() != 0:
        pytest.skip("NORUN: needs to be started as root")
    path = sample(tmp_path / "theirs")
    sh("chown -R 4242:4242 .", path)
    control = subprocess.run(["git", "status"], cwd=path, capture_output=True, check=False)
    assert b"dubious ownership" in control.stderr, "git does not mind, so this shows nothing"
    return Kind(path)


def sha256(tmp_path: Path) -> Kind:
    return Kind(
        sample(tmp_path / "sha256", options="--object-format=sha256"), "test $(git rev-parse HEAD | wc -c) = 65"
    )


def line_endings(tmp_path: Path) -> Kind:
    path = sample(tmp_path / "crlf")
    sh(
        "printf '* text=auto eol=crlf\\n' > .gitattributes && printf 'a\\nb\\n' > x.txt && git add -A && git commit -qm attrs",
        path,
    )
    sh("rm x.txt README.md && git checkout -- . && grep -q $'\\r' x.txt", path)
    return Kind(path, "! grep -q $(printf '\\r') x.txt")


ODD = ["di r\n\"q\"/new\nline", "a b", 'q"uote', "ap'os", "päth/ünï 日本", ":(top)x", "back\\slash", "*", "[x]", "#h", "tab\t"]  # fmt: skip


def odd_names(tmp_path: Path) -> Kind:
    path = sample(tmp_path / "odd 'names' \"é\"")
    for name in ODD:
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("base\n")
    sh("git add -A && git commit -qm names", path)
    return Kind(path, 'test -f "päth/ünï 日本" && test -f "[x]"')


KINDS: tuple[Callable[[Path], Kind], ...] = (
    plain, shallow, partial, linked_worktree, submodule, lfs, another_owner, sha256, line_endings, odd_names,
)  # fmt: skip


@pytest.fixture(autouse=True)
def _confined(tmp_path: Path) -> None:
    proof = probe("sandbox", str(tmp_path))
    if not proof.available:
        pytest.skip(f"NORUN: no sandbox here: {proof.detail}")


def git(repo: Path, *args: str) -> str:
    argv = ["git", "--no-optional-locks", "-c", "safe.directory=*", "-c", "core.quotePath=false", *args]
    done = subprocess.run(argv, cwd=repo, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (args, done)
    return done.stdout


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_a_job_on_it_is_accepted_and_its_branch_is_right(make: Callable[[Path], Kind], tmp_path: Path) -> None:
    kind = make(tmp_path)
    repo, watched = kind.repo, (kind.repo, *kind.digests)
    before, head, status = (
        [checkout_digest(p) for p in watched],
        git(repo, "rev-parse", "HEAD"),
        git(repo, "status", "-s"),
    )
    result = run(
        "create hello.txt", "--repo", str(repo), "--backend", "bare@rehearsal/any", "--rehearse", "write-file",
        "--check", f"sees={kind.sees} && test -f hello.txt", "--sandbox", "sandbox",
    )  # fmt: skip
    outcome = result.document
    assert (result.status, outcome["verdict"], outcome["reason"]) == (0, "accepted", "verified"), result
    assert [f["path"] for f in outcome["change"]["files"]] == ["hello.txt"]
    assert [checkout_digest(p) for p in watched] == before, "the user's checkout was touched"
    assert (git(repo, "rev-parse", "HEAD"), git(repo, "status", "-s")) == (head, status)
    assert any(kind.warns in warning for warning in outcome["warnings"]) if kind.warns else outcome["warnings"] == []
    _branch_is_right(repo, outcome, head.strip())
    assert nothing_left(Path(os.environ["INSPAN_HOME"])) == []


def _branch_is_right(repo: Path, outcome: dict, head: str) -> None:
    branch = f"inspan/{outcome['job']}"
    assert git(repo, "rev-parse", f"{branch}^") == head + "\n"
    assert git(repo, "diff", "--name-status", head, branch) == "A\thello.txt\n"
    assert git(repo, "show", f"{branch}:hello.txt").strip()
    assert git(repo, "fsck", "--no-dangling", "--no-progress", branch) == ""
    if os.stat(repo).st_uid != os.geteuid():
        found = [p for p in (repo / ".git").rglob("*") if p.lstat().st_uid != os.stat(repo).st_uid]
        assert found == [], "files of ours in a repository of somebody else"


def test_the_branch_of_each_can_be_merged_by_its_owner(tmp_path: Path) -> None:
    """What a person does next, on the kinds where git's own conversions come in between."""
    for make in (line_endings, odd_names):
        kind = make(tmp_path)
        outcome = run(
            "create hello.txt", "--repo", str(kind.repo), "--backend", "bare@rehearsal/any", "--rehearse", "write-file",
            "--unchecked",
        ).document  # fmt: skip
        git(kind.repo, "merge", "-q", "--ff-only", f"inspan/{outcome['job']}")
        assert (kind.repo / "hello.txt").exists() and git(kind.repo, "status", "-s") == ""


def test_violations_on_odd_names_are_named_and_printed_right(tmp_path: Path) -> None:
    kind = odd_names(tmp_path)
    steps = [{"write": {"path": name, "content": "more\n"}} for name in ODD] + [{"say": "done"}]
    scenario = tmp_path / "s.yaml"
    scenario.write_text(json.dumps({"schema": "inspan.rehearsal/1", "steps": steps}))
    before = checkout_digest(kind.repo)
    result = run(
        "edit src", "--repo", str(kind.repo), "--backend", "bare@rehearsal/any", "--rehearse", str(scenario),
        "--scope", "src/**", "--check", "true",
    )  # fmt: skip
    outcome = result.document
    assert (result.status, outcome["verdict"], outcome["reason"]) == (3, "rejected", "out_of_scope"), result
    named = [v["path"] for v in outcome["violations"] if v["rule"] == "out_of_scope"]
    assert sorted(named) == sorted(ODD) == sorted(f["path"] for f in outcome["change"]["files"])
    assert checkout_digest(kind.repo) == before
    for text in (inspan("show", outcome["job"]).stdout, result.stderr):
        assert not [c for c in text if ord(c) < 32 and c != "\n"], "a name reaches the terminal as it is"
    shown = [
        line
        for line in inspan("show", outcome["job"]).stdout.splitlines()
        if "out_of_scope " in line and "outside" in line
    ]
    assert len(shown) == len(ODD), "one line each, whatever is in the name"
    assert all(any(name in line for line in shown) for name in ("päth/ünï 日本", "a b", 'q"uote', "ap'os", "[x]"))
    kept = tmp_path / "again"
    shutil.copytree(kind.repo, kept, symlinks=True)
    git(kept, "update-index", "--refresh")
    subprocess.run(
        ["git", "apply", "--index", "-"], input=inspan("diff", outcome["job"]).stdout, text=True, cwd=kept, check=True
    )
    assert git(kept, "diff", "--cached", "--name-only", "-z").split("\0")[:-1] == sorted(ODD)
