"""Repositories as people have them: an attempt on each sees the base, its own git is clean, its change comes back."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from workspace_kit import KINDS, ROOT, SANDBOX, SELF, blob, inside, reference_tree, require_sandbox, sample, sh

from inspan.errors import RepositoryError, WorkspaceError
from inspan.spec.paths import State
from inspan.workspace.build import missing, plan_attempt
from inspan.workspace.changeset import Changeset, collect, patch
from inspan.workspace.fingerprint import differences, fingerprint
from inspan.workspace.repository import open_repository, resolve_base, uncommitted

pytestmark = pytest.mark.usefixtures("_confined")


@pytest.fixture
def _confined() -> None:
    require_sandbox()


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path / "state")


def attempt(
    state: State, path: Path, script: str, kind: str, *, base: str | None = None, level: str = "sandbox"
) -> Changeset:
    """One attempt that first proves a clean status that writes nothing, then runs ``script``."""
    repo = open_repository(str(path))
    before = fingerprint(repo)
    commit = resolve_base(repo, base)
    owner = SELF if level == "none" else SANDBOX
    plan = plan_attempt(state, repo, commit, f"job.{kind}", kind=kind, owner=owner, level=level)
    index = "sha1sum < .git/index; stat -c %i .git/index"
    out = inside(
        plan,
        f'a=$({index}); s=$(git status --porcelain 2>&1); [ -z "$s" ] || echo "unclean: $s"; b=$({index}); [ "$a" = "$b" ] || echo \'index written\'; git log --oneline -1 2>&1',
    )
    assert "unclean" not in out and "index written" not in out and "error" not in out, out
    inside(plan, script)
    found = collect(state, repo, commit, plan, f"job.{kind}")
    assert differences(before, fingerprint(open_repository(str(path)))) == ()
    return found


def paths(found: Changeset) -> dict[str, str]:
    return {file.path: file.status for file in found.change.files}


EDIT = "echo x=1 >> src/app.py && echo n > new.txt && rm README.md"
EDITED = {"README.md": "deleted", "new.txt": "added", "src/app.py": "modified"}


@pytest.mark.parametrize("kind", KINDS)
def test_an_ordinary_repository(state: State, tmp_path: Path, kind: str) -> None:
    found = attempt(state, sample(tmp_path / "r"), EDIT, kind)
    assert paths(found) == EDITED and found.violations == ()


@pytest.mark.parametrize("kind", KINDS)
def test_a_shallow_clone(state: State, tmp_path: Path, kind: str) -> None:
    origin = sample(tmp_path / "origin")
    sh("for i in 1 2 3; do echo $i >> README.md; git commit -qam c$i; done", origin)
    sh(f"git clone -q --depth 1 file://{origin} shallow", tmp_path)
    assert (tmp_path / "shallow/.git/shallow").exists()
    assert paths(attempt(state, tmp_path / "shallow", EDIT, kind)) == EDITED


@pytest.mark.parametrize("kind", KINDS)
def test_a_partial_clone(state: State, tmp_path: Path, kind: str) -> None:
    origin = sample(tmp_path / "origin")
    sh(
        "git config uploadpack.allowFilter true; git config uploadpack.allowAnySHA1InWant true; echo 1 >> src/app.py; git commit -qam c1",
        origin,
    )
    sh(f"git clone -q --filter=blob:none file://{origin} partial", tmp_path)
    partial = tmp_path / "partial"
    assert "?" in sh("git rev-list --objects --missing=print HEAD", partial), "the clone is not partial"
    assert paths(attempt(state, partial, EDIT, kind)) == EDITED
    repo = open_repository(str(partial))
    with pytest.raises(WorkspaceError, match="partial clone"):
        plan_attempt(state, repo, resolve_base(repo, "HEAD~1"), "job.old", kind=kind, owner=SANDBOX, level="sandbox")
    assert not [p for p in os.listdir(state.repo(repo.key) / "pristine") if p.startswith(".")], (
        "a failed build left something"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_linked_worktree(state: State, tmp_path: Path, kind: str) -> None:
    main = sample(tmp_path / "main")
    sh(
        "git worktree add -q ../linked -b feature && cd ../linked && echo f > feature.txt && git add -A && git commit -qm feature",
        main,
    )
    repo = open_repository(str(tmp_path / "linked/src"))
    assert repo.toplevel == str(tmp_path / "linked") and repo.branch == "feature"
    assert repo.key == open_repository(str(main)).key
    found = attempt(state, tmp_path / "linked", EDIT + " && echo g >> feature.txt", kind)
    assert paths(found) == EDITED | {"feature.txt": "modified"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_worktree_of_a_bare_repository(state: State, tmp_path: Path, kind: str) -> None:
    origin = sample(tmp_path / "origin")
    sh(
        f"mkdir p && cd p && git clone -q --bare {origin} .bare && echo 'gitdir: ./.bare' > .git && git worktree add -q main",
        tmp_path,
    )
    assert paths(attempt(state, tmp_path / "p/main", EDIT, kind)) == EDITED
    with pytest.raises(RepositoryError, match="bare"):
        open_repository(str(tmp_path / "p"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_clone_that_borrows_objects(state: State, tmp_path: Path, kind: str) -> None:
    origin = sample(tmp_path / "origin")
    sh(f"git clone -q --shared {origin} one && git clone -q --shared one two", tmp_path)
    assert paths(attempt(state, tmp_path / "two", EDIT, kind)) == EDITED


@pytest.mark.parametrize("kind", KINDS)
def test_sha256(state: State, tmp_path: Path, kind: str) -> None:
    found = attempt(state, sample(tmp_path / "r", options="--object-format=sha256"), EDIT, kind)
    assert paths(found) == EDITED and len(found.result or "") == 64


@pytest.mark.parametrize("kind", KINDS)
def test_another_owner(state: State, tmp_path: Path, kind: str) -> None:
    if not ROOT:
        pytest.skip("NORUN: needs to be started as root")
    path = sample(tmp_path / "r")
    sh("chown -R 4242:4242 .", path)
    control = subprocess.run(["git", "status"], cwd=path, capture_output=True, check=False)
    assert b"dubious ownership" in control.stderr, "git does not mind, so this shows nothing"
    assert paths(attempt(state, path, EDIT, kind)) == EDITED
    assert uncommitted(open_repository(str(path))).tracked == ()


@pytest.mark.parametrize("kind", KINDS)
def test_conversions_are_off(state: State, tmp_path: Path, kind: str) -> None:
    """CRLF, ident, encodings and filters: the workspace holds the repository's bytes, and so does the result."""
    path = sample(tmp_path / "r")
    sh(
        "printf '*.crlf text eol=crlf\\n*.id ident\\n*.u16 working-tree-encoding=UTF-16\\n*.f filter=upper\\n' > .gitattributes"
        " && printf 'a\\nb\\n' > x.crlf && printf 'mixed\\r\\nends\\n' > y.txt && printf '$Id$\\n' > v.id && printf 'low\\n' > t.f"
        " && printf 'wide\\n' | iconv -t UTF-16 > w.u16 && git add -A && git commit -qm attrs",
        path,
    )
    sh(
        "git config filter.upper.smudge 'tr a-z A-Z; touch /tmp/inspan-filter-ran' && rm -f t.f x.crlf v.id && git checkout -- t.f x.crlf v.id",
        path,
    )
    assert b"LOW" in (path / "t.f").read_bytes() and b"\r\n" in (path / "x.crlf").read_bytes(), "git converts nothing"
    Path("/tmp/inspan-filter-ran").unlink()
    script = "od -c x.crlf | grep -q '\\\\r' && exit 3; grep -q '^\\$Id\\$$' v.id || exit 4; grep -q low t.f || exit 5; grep -q wide w.u16 || exit 6; touch x.crlf v.id t.f w.u16 y.txt; printf 'c\\r\\n' >> x.crlf; git diff --stat"
    found = attempt(state, path, script, kind)
    assert not Path("/tmp/inspan-filter-ran").exists()
    assert paths(found) == {"x.crlf": "modified"}
    assert blob(state, open_repository(str(path)), found.result or "", "x.crlf") == b"a\nb\nc\r\n"


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_every_kind(state: State, tmp_path: Path, kind: str) -> None:
    path = sample(tmp_path / "r")
    sh(
        r"""mkdir $'di r\n"q"' 'päth' ':(top)' && for f in $'di r\n"q"/new\nline' 'a b' 'q"uote' "ap'os" 'päth/ünïcode' ':(top)/x' 'back\slash' '-dash' '*' '[x]' '#h' '!n' $'tab\t'; do echo base > "$f"; done && git add -A && git commit -qm names""",
        path,
    )
    script = r"""for f in $'di r\n"q"/new\nline' 'a b' 'q"uote' "ap'os" 'päth/ünïcode' ':(top)/x' 'back\slash' ./-dash './*' '[x]' '#h' '!n' $'tab\t'; do echo more >> "$f"; done; echo n > 'päth/neu é'; echo n > ':x'"""
    found = attempt(state, path, script, kind)
    assert found.violations == (), "names the base already has are nobody's fault"
    assert len(found.change.files) == 15 and paths(found)['di r\n"q"/new\nline'] == "modified"
    assert paths(found)["päth/neu é"] == "added"


@pytest.mark.parametrize("kind", KINDS)
def test_submodules_are_filled_and_read_only(state: State, tmp_path: Path, kind: str) -> None:
    library = sample(tmp_path / "library")
    inner = sample(tmp_path / "inner")
    path = sample(tmp_path / "r")
    add = "git -c protocol.file.allow=always submodule --quiet add"
    sh(
        f"{add} {library} vendor/lib && {add} {inner} gone && git commit -qm subs && git submodule deinit -f gone && rm -rf .git/modules/gone",
        path,
    )
    repo = open_repository(str(path))
    honest = attempt(state, path, "grep -q return vendor/lib/src/app.py && touch vendor/lib/README.md && " + EDIT, kind)
    assert paths(honest) == EDITED and honest.violations == ()
    notes = missing(state, repo, repo.head, SANDBOX)
    assert len(notes) == 1 and "gone" in notes[0]
    for script in (
        "echo x >> vendor/lib/README.md",
        "rm vendor/lib/README.md",
        "echo x > vendor/lib/new",
        "rm -rf vendor",
        "echo x > gone/f",
    ):
        bad = attempt(state, path, script, kind)
        assert {v.rule for v in bad.violations} == {"submodule_changed"}, script


@pytest.mark.parametrize("kind", KINDS)
def test_lfs_content_is_filled_and_read_only(state: State, tmp_path: Path, kind: str) -> None:
    path = sample(tmp_path / "r")
    content = os.urandom(5000)
    oid = hashlib.sha256(content).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n"
    (path / "big.bin").write_text(pointer)
    (path / "absent.bin").write_text(pointer.replace(oid, "0" * 64))
    (path / "not.txt").write_text(pointer)
    (path / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    sh("git add -A && git commit -qm lfs", path)
    store = path / ".git/lfs/objects" / oid[:2] / oid[2:4]
    store.mkdir(parents=True)
    (store / oid).write_bytes(content)
    repo = open_repository(str(path))
    honest = attempt(
        state,
        path,
        f"[ $(sha256sum < big.bin | cut -d' ' -f1) = {oid} ] && grep -q oid not.txt && touch big.bin && " + EDIT,
        kind,
    )
    assert paths(honest) == EDITED and honest.violations == ()
    assert ["absent.bin" in note for note in missing(state, repo, repo.head, SANDBOX)] == [True]
    sh(
        f"printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:{oid}\\nsize 5000\\n' > second.bin; git add -A; git commit -qm second",
        path,
    )
    assert "SAME" in inside(
        plan_attempt(state, repo, resolve_base(repo, "HEAD"), "job.second", kind=kind, owner=SANDBOX, level="sandbox"),
        "cmp big.bin second.bin && echo SAME",
    ), "a near base brings a pointer that must be filled"
    for script in ("echo x >> big.bin", "rm big.bin"):
        bad = attempt(state, path, script, kind)
        assert [(v.path, v.rule) for v in bad.violations] == [("big.bin", "lfs_changed")] and paths(bad) == {}, script


@pytest.mark.parametrize("level", ["sandbox", "none"])
def test_state_and_repository_under_a_closed_home(tmp_path: Path, level: str) -> None:
    home = tmp_path / "home"
    sample(home / "r")
    home.chmod(0o700)
    for kind in KINDS if level == "sandbox" else ("clone",):
        assert paths(attempt(State(home / "state"), home / "r", EDIT, kind, level=level)) == EDITED


@pytest.mark.parametrize("kind", KINDS)
def test_the_patch_gives_the_result(state: State, tmp_path: Path, kind: str) -> None:
    path = sample(tmp_path / "r")
    found = attempt(
        state,
        path,
        EDIT
        + " && head -c 3000 /dev/urandom > bin && printf 'no end' > end && chmod +x end && ln -s end l && rm -rf deep && echo f > deep",
        kind,
    )
    (tmp_path / "p").write_bytes(patch(state, open_repository(str(path)), found.base, found.result or ""))
    shutil.copytree(path, tmp_path / "applied", symlinks=True)
    sh("git update-index -q --refresh; git apply --index ../p", tmp_path / "applied")
    assert sh("git write-tree", tmp_path / "applied").strip() == found.tree


@pytest.mark.parametrize("kind", KINDS)
def test_the_result_is_the_tree_git_would_make(state: State, tmp_path: Path, kind: str) -> None:
    if not ROOT and kind == "overlay":
        pytest.skip("NORUN: the reference mount needs root")
    path = sample(tmp_path / "r")
    repo = open_repository(str(path))
    plan = plan_attempt(state, repo, repo.head, "j.a1", kind=kind, owner=SANDBOX, level="sandbox")
    inside(
        plan,
        EDIT
        + " && rm -rf deep && mkdir deep && echo y > deep/z && rm link && mkdir link && echo q > link/f && rm run.sh && mkdir run.sh",
    )
    found = collect(state, repo, repo.head, plan, "j.a1")
    assert found.tree == reference_tree(state, repo.key, plan, tmp_path)
    assert found.tree != resolve_tree(path)


def resolve_tree(path: Path) -> str:
    return sh("git rev-parse HEAD^{tree}", path).strip()
