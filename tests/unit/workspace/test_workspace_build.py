"""Pristine layers and mount plans."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from workspace_kit import KINDS, SANDBOX, SELF, inside, require_sandbox, sample, sh

from inspan.errors import InspanError, InvalidSpec, StateError, WorkspaceError
from inspan.spec.paths import State
from inspan.workspace import pristine
from inspan.workspace.build import (
    discard,
    ensure_pristine,
    find_setup,
    freeze_setup,
    overlay_possible,
    plan_attempt,
    plan_check,
    plan_setup,
)
from inspan.workspace.changeset import collect
from inspan.workspace.layout import pristine_dir, pristine_name, read_meta
from inspan.workspace.plan import MountPlan
from inspan.workspace.repository import Repository, open_repository, resolve_base

LIST = "git ls-files -s; find . -path ./.git -prune -o -printf '%p %y %m %s %l\\n' | sort; find . -path ./.git -prune -o -type f -exec sha1sum {} + | sort -k2"
CLEAN = 'b=$(sha1sum < .git/index); git status --porcelain; git diff --stat HEAD; [ "$b" = "$(sha1sum < .git/index)" ] || echo index written'


@pytest.fixture
def place(tmp_path: Path) -> tuple[State, Repository]:
    require_sandbox()
    return State(tmp_path / "state"), open_repository(str(sample(tmp_path / "r")))


def attempt(
    state: State, repo: Repository, base: str, name: str = "j.a1", kind: str = "overlay", **more: object
) -> MountPlan:
    return plan_attempt(state, repo, base, name, kind=kind, owner=SANDBOX, level="sandbox", **more)  # type: ignore[arg-type]


CHANGES = [
    "echo 2 >> src/app.py",
    "rm -r deep",
    "rm README.md link; mkdir README.md; echo d > README.md/d; echo f > link",
    "rm -r src tests; echo was-dir > src; mkdir -p tests/x; echo t > tests/x/t",
    "chmod +x src/app.py 2>/dev/null; chmod -x run.sh; echo n > 'new file'",
    "git mv run.sh walk.sh; mkdir deep; echo again > deep/er",
    "true",
]


def test_a_near_base_is_a_small_layer_with_the_same_tree(place: tuple[State, Repository], tmp_path: Path) -> None:
    state, repo = place
    ensure_pristine(state, repo, repo.head, SANDBOX)
    for number, script in enumerate(CHANGES):
        sh(f"{script}; git add -A; git commit -qm c{number} --allow-empty", repo.toplevel)
        base = resolve_base(repo, "HEAD")
        lowers = ensure_pristine(state, repo, base, SANDBOX)
        assert len(lowers) == number + 2, "not a difference layer"
        full = State(tmp_path / f"full{number}")
        assert len(ensure_pristine(full, repo, base, SANDBOX)) == 1
        ours, theirs = (inside(attempt(s, repo, base), CLEAN + "; " + LIST) for s in (state, full))
        assert ours == theirs, script
        copied = inside(attempt(state, repo, base, "c.a1", "clone"), CLEAN + "; " + LIST)
        assert copied == theirs, "the copy of stacked layers differs"


def test_stacks_are_not_endless(place: tuple[State, Repository], monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack that is full is followed by another on the same full tree, until that one is no longer near."""
    state, repo = place
    monkeypatch.setattr(pristine, "MAX_DEPTH", 3)
    monkeypatch.setattr(pristine, "MAX_DIFFERENCE", 6)
    depths = []
    for number in range(12):
        sh(f"echo {number} > f{number}; echo {number} >> README.md; git add -A; git commit -qm c", repo.toplevel)
        lowers = ensure_pristine(state, repo, resolve_base(repo, "HEAD"), SANDBOX)
        depths.append(len(lowers))
        assert inside(attempt(state, repo, resolve_base(repo, "HEAD")), CLEAN + "; cat f*").split() == [
            str(n) for n in sorted(range(number + 1), key=str)
        ]
    assert depths == [1, 2, 3, 2, 3, 2, 3, 3, 3, 3, 1, 2]


def test_a_far_base_is_a_full_tree(place: tuple[State, Repository], monkeypatch: pytest.MonkeyPatch) -> None:
    state, repo = place
    ensure_pristine(state, repo, repo.head, SANDBOX)
    monkeypatch.setattr(pristine, "MAX_DIFFERENCE", 1)
    sh("echo 1 > a; echo 2 > b; git add -A; git commit -qm two", repo.toplevel)
    assert len(ensure_pristine(state, repo, resolve_base(repo, "HEAD"), SANDBOX)) == 1


def test_concurrent_builders_make_one_layer(place: tuple[State, Repository]) -> None:
    state, repo = place
    script = (
        "import sys; from pathlib import Path; from inspan.spec.paths import State;"
        "from inspan.workspace.build import ensure_pristine, Owner; from inspan.workspace.repository import open_repository;"
        f"r = open_repository({repo.toplevel!r}); print(ensure_pristine(State(Path({str(state.root)!r})), r, r.head, Owner(uid={SANDBOX.uid}, gid={SANDBOX.gid})))"
    )
    running = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) for _ in range(6)]
    answers = {process.communicate()[0] for process in running}
    assert {process.returncode for process in running} == {0} and len(answers) == 1
    assert os.listdir(state.repo(repo.key) / "pristine") == [pristine_name(repo.head, SANDBOX)]
    assert inside(attempt(state, repo, repo.head), CLEAN) == ""


def test_a_failed_build_leaves_nothing(place: tuple[State, Repository], monkeypatch: pytest.MonkeyPatch) -> None:
    state, repo = place

    def full_disk(*_args: object, **_more: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(pristine, "_settle", full_disk)
        with pytest.raises(StateError) as failed:
            ensure_pristine(state, repo, repo.head, SANDBOX)
    assert failed.value.reason == "disk_full" and os.listdir(state.repo(repo.key) / "pristine") == []
    ensure_pristine(state, repo, repo.head, SANDBOX)


def test_a_state_that_cannot_be_written(place: tuple[State, Repository], tmp_path: Path) -> None:
    _state, repo = place
    (tmp_path / "file").touch()
    with pytest.raises(StateError) as failed:
        ensure_pristine(State(tmp_path / "file/state"), repo, repo.head, SANDBOX)
    assert failed.value.do and failed.value.exit_status == 2


def test_a_base_that_was_pruned(place: tuple[State, Repository]) -> None:
    state, repo = place
    sh("echo 2 >> README.md; git commit -qam two", repo.toplevel)
    lost = resolve_base(repo, "HEAD")
    ensure_pristine(state, repo, lost, SANDBOX)
    sh("git reset -q --hard HEAD~1; git reflog expire --expire=now --all; git gc -q --prune=now", repo.toplevel)
    assert len(ensure_pristine(state, repo, repo.head, SANDBOX)) == 1
    with pytest.raises(InspanError):
        collect(state, repo, lost, attempt(state, repo, lost), "j.a1")


@pytest.mark.parametrize("kind", KINDS)
def test_the_agents_git_works_and_the_parent_is_out_of_reach(place: tuple[State, Repository], kind: str) -> None:
    state, repo = place
    before = sh("git for-each-ref; git count-objects -v; ls -lR .git/objects | sha1sum", repo.toplevel)
    out = inside(
        attempt(state, repo, repo.head, kind=kind),
        "git status -sb && echo x=1 >> src/app.py && git add -A && git commit -qm mine && git log --oneline main.. && git checkout -q -b side main"
        " && git merge -q agent/j.a1 && git stash list && git diff --stat main && git gc -q && git fsck && touch /run/inspan/objects/0/x; git remote; git config --get-regexp hooks",
        check=False,
    )
    assert "## agent/j.a1" in out and "mine" in out and "Read-only" in out and "fatal" not in out
    assert sh("git for-each-ref; git count-objects -v; ls -lR .git/objects | sha1sum", repo.toplevel) == before


def test_creating_an_overlay_writes_next_to_nothing(place: tuple[State, Repository]) -> None:
    state, repo = place
    plan = attempt(state, repo, repo.head)
    written = [path for path in Path(plan.upper or "").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in written) < 300 and len(written) == 3


def test_a_plan_is_replaced_by_the_next(place: tuple[State, Repository]) -> None:
    state, repo = place
    inside(attempt(state, repo, repo.head), "echo left > over.txt")
    assert "over" not in inside(attempt(state, repo, repo.head), "ls")


def test_a_read_only_plan(place: tuple[State, Repository]) -> None:
    state, repo = place
    out = inside(
        attempt(state, repo, repo.head, read_only=True),
        "cat README.md; echo x >> README.md; git status --porcelain",
        check=False,
    )
    assert "hello" in out and "Read-only file system" in out


@pytest.mark.parametrize("level", ["none", "landlock"])
def test_without_mounts_a_workspace_stands_in_place_and_borrows_from_the_state_alone(
    tmp_path: Path, level: str
) -> None:
    repo = open_repository(str(sample(tmp_path / "r")))
    plan = plan_attempt(
        State(tmp_path / "state"), repo, repo.head, "j.a1", kind="clone", owner=SELF, level=level, share=("src",)
    )
    assert plan.root_inside == plan.directory
    assert plan.binds and all(b.source == b.target and not b.writable for b in plan.binds)
    assert all(Path(bind.source).is_relative_to(tmp_path / "state") for bind in plan.binds)
    assert sh("git status --porcelain; git log --oneline | wc -l; git fsck", plan.directory).split()[0] == "1"


@pytest.mark.parametrize("kind", KINDS)
def test_shares_are_shown_read_only_and_charged_to_nobody(place: tuple[State, Repository], kind: str) -> None:
    state, repo = place
    sh("mkdir -p .venv/bin 'other dir' && echo tool > .venv/bin/tool && echo o > 'other dir/o'", repo.toplevel)
    plan = attempt(state, repo, repo.head, kind=kind, share=(".venv", "other dir"))
    out = inside(
        plan, "cat .venv/bin/tool 'other dir/o'; git status --porcelain; echo x > .venv/x; echo n > new", check=False
    )
    assert "tool" in out and "Read-only" in out and "??" not in out
    found = collect(state, repo, repo.head, plan, "j.a1")
    assert [file.path for file in found.change.files] == ["new"] and found.violations == () and found.ignored == ()


@pytest.mark.parametrize("share", ["/etc", "..", "src/../..", "absent", "README.md", "", ".git", "out", "./src"])
def test_shares_that_are_refused(place: tuple[State, Repository], share: str) -> None:
    state, repo = place
    sh("ln -s /etc out", repo.toplevel)
    with pytest.raises(InvalidSpec):
        attempt(state, repo, repo.head, share=(share,))


def test_discard_removes_only_workspaces(place: tuple[State, Repository], tmp_path: Path) -> None:
    state, repo = place
    plan = attempt(state, repo, repo.head)
    inside(plan, "mkdir -p a/b/c && chmod 0 a && echo x > new")
    discard(state, plan)
    discard(state, plan)
    assert os.listdir(state.attempt("j.a1").root) == []
    victim = tmp_path / "victim"
    (victim / "m").mkdir(parents=True)
    bad = MountPlan(kind="overlay", root_inside="/x", directory=str(victim / "m"), home=str(victim / "h"), uid=0, gid=0)
    pristine_tree = str(pristine_dir(state, repo, pristine_name(repo.head, SANDBOX)) / "tree")
    (state.attempts / "link").symlink_to(tmp_path)
    places = [
        (str(victim / "m"), str(victim / "h")),
        (pristine_tree, pristine_tree),
        (str(state.attempts / "x/../../repos/y/m"), str(state.attempts / "x/home")),
        (str(state.attempts / "link/victim/m"), str(state.attempts / "link/victim/h")),
        (plan.directory, str(victim / "h")),
    ]
    for directory, home in places:
        with pytest.raises(WorkspaceError):
            discard(state, type(bad)(kind="overlay", root_inside="/x", directory=directory, home=home, uid=0, gid=0))
    assert (victim / "m").is_dir() and Path(pristine_tree).is_dir()


SETUP = "mkdir .venv gen; echo v > .venv/f; echo s >> src/app.py; rm -rf deep; echo g > gen/g.txt; echo h > README.md; git add -A; git commit -qm s; echo cache > $HOME/cache"


@pytest.mark.parametrize("made", KINDS)
@pytest.mark.parametrize("used", KINDS)
def test_a_set_up_layer_is_below_attempt_and_check(place: tuple[State, Repository], made: str, used: str) -> None:
    state, repo = place
    plan = plan_setup(state, repo, repo.head, "k1", kind=made, owner=SANDBOX, level="sandbox")
    assert find_setup(state, repo, "k1") is None
    inside(plan, SETUP)
    layer = freeze_setup(state, repo, repo.head, "k1", plan)
    assert layer == find_setup(state, repo, "k1") and layer.changed_tracked == (
        "README.md",
        "deep/er/f.txt",
        "src/app.py",
    )
    assert sorted(os.listdir(state.repo(repo.key) / "setup")) == ["k1"]
    work = attempt(state, repo, repo.head, kind=used, setup=layer)
    inside(
        work,
        "test ! -e deep && cat .venv/f $HOME/cache && touch gen/g.txt src/app.py && echo n > gen/n && echo w >> run.sh && rm -f .venv/f && git log --oneline | grep -c base",
    )
    found = collect(state, repo, repo.head, work, "j.a1", setup=layer)
    assert [(f.path, f.status) for f in found.change.files] == [("gen/n", "added"), ("run.sh", "modified")]
    assert found.violations == ()
    check = plan_check(
        state,
        repo,
        found.base,
        found.result or "",
        "j.a1",
        "unit",
        kind=used,
        owner=SANDBOX,
        setup=layer,
        level="sandbox",
    )
    out = inside(check, "cat .venv/f gen/g.txt gen/n; tail -1 run.sh; git status --porcelain README.md src/app.py deep")
    assert out.split() == ["v", "g", "n", "w"], "tracked files are the result's, whatever the set-up did to them"
    bare = inside(work, "git status --porcelain README.md src/app.py deep | wc -l")
    assert bare.strip() == "3", "control: the agent sees what the set-up left"


def test_the_first_set_up_stays(place: tuple[State, Repository]) -> None:
    state, repo = place
    plans = [plan_setup(state, repo, repo.head, "k", kind="overlay", owner=SANDBOX, level="sandbox") for _ in range(2)]
    for number, plan in enumerate(plans):
        inside(plan, f"echo {number} > made")
    layers = [freeze_setup(state, repo, repo.head, "k", plan) for plan in plans]
    assert layers[0] == layers[1] and Path(layers[0].lower, "made").read_text() == "0\n"


@pytest.mark.parametrize("key", ["../x", "", "a/b", ".hidden"])
def test_bad_set_up_keys(place: tuple[State, Repository], key: str) -> None:
    with pytest.raises(WorkspaceError):
        find_setup(*place, key)


def test_a_check_never_sees_the_agents_workspace(place: tuple[State, Repository]) -> None:
    state, repo = place
    work = attempt(state, repo, repo.head)
    inside(
        work,
        "mkdir -p src/__pycache__ node_modules; echo evil > src/__pycache__/a.pyc; echo e > node_modules/m; echo e > .git/hooks-x; echo n > n",
    )
    found = collect(state, repo, repo.head, work, "j.a1")
    assert set(found.ignored) == {"node_modules/", "src/__pycache__/"}
    for kind in KINDS:
        check = plan_check(
            state, repo, found.base, found.result or "", "j.a1", "unit", kind=kind, owner=SANDBOX, level="sandbox"
        )
        out = inside(check, "ls -A . .git src; cat n")
        assert "pycache" not in out and "node_modules" not in out and "hooks-x" not in out and out.endswith("n\n")


def test_where_overlays_cannot_be_had_everything_works_by_copies(tmp_path: Path) -> None:
    """State on an overlay file system, as in a container: no upper, no whiteouts."""
    if os.geteuid() != 0:
        pytest.skip("NORUN: mounting an overlay to put the state on needs root")
    sample(tmp_path / "r")
    for name in ("l", "u", "w", "m"):
        (tmp_path / "o" / name).mkdir(parents=True)
    script = f"""
import sys; sys.path[:] = {sys.path!r}
from pathlib import Path
from workspace_kit import *
from inspan.workspace.build import *
from inspan.workspace.changeset import collect
from inspan.workspace.repository import open_repository, resolve_base
state = State(Path("{tmp_path}/o/m/state")); repo = open_repository("{tmp_path}/r")
assert not overlay_possible(state), "an upper on an overlay"
plan = plan_setup(state, repo, repo.head, "k", kind="clone", owner=SELF, level="none"); inside(plan, "rm -r deep; mkdir .venv; touch .venv/x")
layer = freeze_setup(state, repo, repo.head, "k", plan)
assert layer.changed_tracked == ("deep/er/f.txt",)
sh("echo 2 > two; git add -A; git commit -qm 2", repo.toplevel)
assert len(ensure_pristine(state, repo, resolve_base(repo, "HEAD"), SELF)) == 1
plan = plan_attempt(state, repo, repo.head, "j.a1", kind="clone", owner=SELF, level="none", setup=layer)
inside(plan, "test ! -e deep; rm README.md; echo n > new")
found = collect(state, repo, repo.head, plan, "j.a1", setup=layer)
assert [f.path for f in found.change.files] == ["README.md", "new"], found
check = plan_check(state, repo, found.base, found.result, "j.a1", "c", kind="clone", owner=SELF, level="none", setup=layer)
print("tree", sorted(os.listdir(check.directory)))
"""
    mounted = f'mount -t overlay overlay -o lowerdir=l,upperdir=u,workdir=w m && exec {sys.executable} -c "$SCRIPT"'
    out = sh('unshare -m bash -c "$MOUNTED"', tmp_path / "o", MOUNTED=mounted, SCRIPT=script)
    assert (
        out.splitlines()[-1] == "tree ['.git', '.gitignore', '.venv', 'deep', 'link', 'new', 'run.sh', 'src', 'tests']"
    ), out
    assert overlay_possible(State(tmp_path / "plain")), "nothing works here, so the refusal shows nothing"


def test_what_is_known_about_a_layer(place: tuple[State, Repository]) -> None:
    state, repo = place
    ensure_pristine(state, repo, repo.head, SANDBOX)
    meta = read_meta(pristine_dir(state, repo, pristine_name(repo.head, SANDBOX)))
    assert meta is not None and (meta.base, meta.lowers, meta.missing) == (repo.head, (), ())
    assert meta.stores == (f"{pristine_dir(state, repo, pristine_name(repo.head, SANDBOX))}/objects",)
