"""Set-up layers: what is in view, what is kept, what is shared, and that a frozen one is never seen changed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from workspace_kit import KINDS, SANDBOX, inside, require_sandbox, sample, sh

from inspan.errors import WorkspaceError
from inspan.spec.paths import State
from inspan.spec.provision.tree import Inputs
from inspan.workspace.bare import Base, begin_with, lacking, plan_bare
from inspan.workspace.build import discard, ensure_gate, find_setup, freeze_setup, plan_attempt, plan_setup
from inspan.workspace.repository import Repository, open_repository, resolve_base
from inspan.workspace.setup import SetupLayer, building, freeze, intact, setup_scratch

LOCK = Inputs(frozenset(["requirements.txt", "absent.lock"]), frozenset(["src/app.py"]))


@pytest.fixture
def place(tmp_path: Path) -> tuple[State, Repository]:
    require_sandbox()
    path = sample(tmp_path / "r")
    sh("echo a==1 > requirements.txt; git add -A; git commit -qm lock", path)
    repo = open_repository(str(path))
    ensure_gate(State(tmp_path / "state"), repo)
    return State(tmp_path / "state"), repo


def shared(state: State, repo: Repository, script: str, *, kind: str = "overlay", key: str = "k") -> SetupLayer:
    scratch = setup_scratch(state, repo, key)
    with Base(state, repo, repo.head) as view:
        plan = plan_bare(repo, view, LOCK, scratch, kind=kind, owner=SANDBOX, level="sandbox")  # type: ignore[arg-type]
    inside(plan, script)
    layer = freeze(state, repo, repo.head, key, plan, plan.lowers, shared=True)
    discard(state, plan)
    return layer


def whole(state: State, repo: Repository, script: str, key: str = "k") -> SetupLayer:
    plan = plan_setup(state, repo, repo.head, key, kind="overlay", owner=SANDBOX, level="sandbox")
    inside(plan, script)
    return freeze_setup(state, repo, repo.head, key, plan)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_the_inputs_is_in_view(place: tuple[State, Repository], kind: str) -> None:
    layer = shared(
        *place,
        "(find . -type f | sort; cat requirements.txt; wc -c < src/app.py) > /tmp/seen; cp /tmp/seen .",
        kind=kind,
    )
    seen = Path(layer.lower, "seen").read_text().split()
    assert seen == ["./requirements.txt", "./src/app.py", "a==1", "0"]
    assert sorted(os.listdir(Path(layer.lower).parent)) == ["home", "layer", "meta.json"]
    assert [n for n in os.listdir(Path(layer.lower).parents[1]) if not n.startswith(".lock")] == ["k"]


MADE = (
    "rm -r src; mkdir -p .venv/lib src/gen deep; echo v > .venv/lib/f; echo g > src/gen/g; echo d > deep/new; echo mine > README.md;"
    " echo changed > src/app.py; echo b==2 >> requirements.txt; rm -f tests/x; echo h > $HOME/h"
)


@pytest.mark.parametrize("made", KINDS)
@pytest.mark.parametrize("used", KINDS)
def test_a_shared_layer_adds_to_any_base_and_hides_nothing(
    place: tuple[State, Repository], made: str, used: str
) -> None:
    state, repo = place
    layer = shared(state, repo, MADE, kind=made)
    assert layer.shared and layer.changed_tracked == ("README.md",)
    sh(
        "echo later > deep/later; echo 2 >> src/app.py; git rm -q README.md link; git add -A; git commit -qm 2",
        repo.toplevel,
    )
    base = resolve_base(repo, "HEAD")
    with Base(state, repo, base) as view:
        again = find_setup(state, repo, "k", view)
    assert again is not None and again.changed_tracked == (), "what it changes depends on the base it stands on"
    work = plan_attempt(state, repo, base, "j.a1", kind=used, owner=SANDBOX, setup=again, level="sandbox")  # type: ignore[arg-type]
    out = inside(
        work, "cat .venv/lib/f src/gen/g deep/new deep/later deep/er/f.txt $HOME/h requirements.txt; tail -1 src/app.py;"
        " git status --porcelain; ls -A",
    )  # fmt: skip
    assert out.split()[:8] == ["v", "g", "d", "later", "x", "h", "a==1", "2"], out
    assert "requirements.txt" not in out.split("2\n", 1)[1].split("?? ")[0], "an input is not changed for others"


def test_equal_views_have_equal_names_and_others_have_not(place: tuple[State, Repository]) -> None:
    state, repo = place

    def name(script: str, inputs: Inputs = LOCK) -> str:
        sh(f"{script}; git add -A; git commit -qm x --allow-empty", repo.toplevel)
        with Base(state, repo, resolve_base(repo, "HEAD")) as view:
            return view.digest(inputs)

    first = name("true")
    assert name("echo more > unrelated; echo 3 >> src/app.py; rm -r deep") == first
    assert name("chmod +x requirements.txt") != first and name("chmod -x requirements.txt") == first
    assert name("echo c > absent.lock") != first and name("git rm -q absent.lock") == first
    assert name("echo c >> requirements.txt") != first
    assert name("true", Inputs(LOCK.files)) != name("true")


def attacks() -> dict[str, Callable[[Path], object]]:
    return {
        "content": lambda layer: (layer / "layer/.venv/f").write_text("w"),
        "same content": lambda layer: (layer / "layer/.venv/f").write_text("v\n"),
        "times put back": lambda layer: _rewrite(layer / "layer/.venv/f"),
        "added": lambda layer: (layer / "layer/.venv/new").touch(),
        "removed": lambda layer: (layer / "layer/.venv/f").unlink(),
        "replaced": lambda layer: sh("cp -a f g; mv g f", layer / "layer/.venv"),
        "mode": lambda layer: (layer / "layer/.venv/f").chmod(0o777),
        "link": lambda layer: os.link(layer / "layer/.venv/f", layer / "stolen"),
        "home": lambda layer: (layer / "home/.bashrc").write_text("evil"),
        "whole directory": lambda layer: sh("cp -a layer copy; rm -r layer; mv copy layer", layer),
        "garbled": lambda layer: (layer / "meta.json").write_text("{"),
        "of an earlier version": lambda layer: (layer / "meta.json").write_text('{"changed_tracked": []}'),
        "gone": lambda layer: sh("rm -r layer", layer),
        "attribute": lambda layer: os.setxattr(layer / "layer/.venv", "user.overlay.opaque", b"y"),
    }


def _rewrite(path: Path) -> None:
    st = path.stat()
    path.write_text("w")
    os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))


QUICK = ("content", "times put back", "home")


@pytest.mark.parametrize("how", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.long) for n in attacks()])
def test_a_layer_that_was_touched_is_taken_away_and_never_used(place: tuple[State, Repository], how: str) -> None:
    state, repo = place
    layer = whole(state, repo, "mkdir .venv && echo v > .venv/f")
    assert intact(layer) and find_setup(state, repo, "k") == layer, "control: untouched, and noted as used, it stays"
    attacks()[how](Path(layer.lower).parent)
    assert not intact(layer)
    assert find_setup(state, repo, "k") is None and not Path(layer.lower).parent.exists()
    again = whole(state, repo, "mkdir .venv && echo v > .venv/f")
    assert intact(again) and Path(again.lower, ".venv/f").read_text() == "v\n"


ATTEMPTS = (
    "echo evil > .venv/f; echo evil >> node_modules/m/index.js; rm -rf node_modules/m2; mv .venv .v2; mkdir .venv; echo e > .venv/f;"
    " ln .v2/f linked; echo evil > linked; chmod -R 777 node_modules; touch -d 2001-01-01 node_modules/m; cp -al node_modules copied;"
    " echo evil > copied/m/index.js; setfattr -n user.overlay.opaque -v y node_modules; echo evil > $HOME/.cache/c; rm -r $HOME/.cache;"
    " exec 9>> .v2/f; echo evil >&9; python3 -c 'import mmap; f = open(\"node_modules/m/index.js\", \"r+b\");"
    " m = mmap.mmap(f.fileno(), 0); m[0:1] = b\"X\"; m.flush()'; git clean -fdxq; true"
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_an_agent_writes_reaches_a_layer(place: tuple[State, Repository], kind: str) -> None:
    state, repo = place
    layer = whole(
        state, repo, "mkdir -p .venv node_modules/m node_modules/m2 $HOME/.cache; echo v > .venv/f;"
        " echo module > node_modules/m/index.js; echo c > $HOME/.cache/c",
    )  # fmt: skip
    look = "cat .venv/f node_modules/m/index.js $HOME/.cache/c"
    for number in range(2):
        plan = plan_attempt(
            state, repo, repo.head, f"j{number}.a1", kind=kind, owner=SANDBOX, setup=layer, level="sandbox"
        )  # type: ignore[arg-type]
        assert kind == "clone" or os.listdir(plan.home) == [], "a frozen home is shown, not copied"
        assert inside(plan, look).split() == ["v", "module", "c"]
        inside(plan, ATTEMPTS, check=False)
        left = inside(plan, "cat .venv/f $HOME/.cache/c; true", check=False)
        assert left.strip() not in ("v", "v\nc"), "control: the attack did something"
        assert intact(layer) and find_setup(state, repo, "k") == layer


def test_one_makes_a_layer_and_the_others_wait(place: tuple[State, Repository]) -> None:
    state, repo = place
    left = setup_scratch(state, repo, "k")
    other = setup_scratch(state, repo, "k2")
    with building(state, repo, "k", cancelled=lambda: False):
        assert not left.exists() and other.exists(), "what a killed maker left goes, and another layer's stays"
        asked = threading.Event()
        refused: list[WorkspaceError] = []

        def second() -> None:
            try:
                with building(state, repo, "k", cancelled=lambda: asked.set() or True):
                    pass
            except WorkspaceError as error:
                refused.append(error)

        thread = threading.Thread(target=second)
        thread.start()
        thread.join(60)
        assert asked.is_set() and [error.reason for error in refused] == ["setup_failed"]
    with building(state, repo, "k", cancelled=lambda: True):
        pass
    assert not list((state.repo(repo.key) / "setup").glob(".lock-*"))


def test_the_right_to_make_a_layer_falls_with_its_holder(place: tuple[State, Repository]) -> None:
    state, repo = place
    script = (
        "import sys, time; from pathlib import Path; from inspan.spec.paths import State;"
        "from inspan.workspace.setup import building, setup_scratch; from inspan.workspace.repository import open_repository;"
        f"r = open_repository({repo.toplevel!r}); s = State(Path({str(state.root)!r}))\n"
        "with building(s, r, 'k', cancelled=lambda: False):\n setup_scratch(s, r, 'k'); print('held', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
    holder.kill()
    holder.wait()
    with building(state, repo, "k", cancelled=lambda: False):
        assert not list((state.repo(repo.key) / "setup").glob(".new-*"))


def test_copies_of_the_repositorys_own_sources_are_named(place: tuple[State, Repository]) -> None:
    state, repo = place
    sh("seq 99 > src/long.py; seq 99 > data.txt; echo 1 > src/short.py; git add -A; git commit -qm 2", repo.toplevel)
    repo = open_repository(repo.toplevel)
    script = "mkdir -p .venv/x; cp src/*.py data.txt .venv/x; cp src/long.py .venv/x/other.py; seq 99 | sed s/7/8/ > .venv/app.py"
    assert whole(state, repo, script).copied == ("src/long.py",)
    refers = "mkdir -p .venv; echo $PWD/src > .venv/x.pth; ln -s $PWD/src .venv/src; touch src/long.py"
    assert whole(state, repo, refers, "k2").copied == ()


@pytest.mark.parametrize(("script", "why"), [
    ("mkdir -p d/lib/s/x.dist-info; echo '{\"url\": \"file://ROOT\"}' > d/lib/s/x.dist-info/direct_url.json", "installs"),
    ("mkdir -p d/lib/s; echo ROOT/src > d/lib/s/x.pth", "installs"),
    ("mkdir -p node_modules packages; ln -s ../packages/a node_modules/a", "links"),
    ("mkdir -p d/lib/s/x.dist-info; echo '{\"url\": \"file:///elsewhere\"}' > d/lib/s/x.dist-info/direct_url.json", None),
    ("mkdir -p d/lib/s; echo ROOT/d/lib/more > d/lib/s/x.pth; echo import x >> d/lib/s/x.pth", None),
    ("mkdir -p node_modules/.bin node_modules/a; ln -s ../a/cli.js node_modules/.bin/a; ln -s /usr/bin/python3 p", None),
    ("mkdir -p node_modules packages/a; ln -s ../packages/a node_modules/a", None),
])  # fmt: skip
def test_what_was_made_without_the_repository_and_wants_it(tmp_path: Path, script: str, why: str | None) -> None:
    sh(script.replace("ROOT", "/checkout"), tmp_path)
    found = lacking(tmp_path, "/checkout")
    assert found is None if why is None else why in (found or "")


def test_a_set_up_goes_on_from_a_copy_of_another(place: tuple[State, Repository]) -> None:
    state, repo = place
    first = shared(state, repo, "mkdir .venv; echo v > .venv/f; chmod +x .venv/f; ln -s f .venv/l; echo h > $HOME/h")
    plan = plan_setup(state, repo, repo.head, "k2", kind="overlay", owner=SANDBOX, level="sandbox")
    begin_with(Path(first.lower), Path(first.home), plan)
    inside(plan, "test -x .venv/l && test -f deep/er/f.txt && cat $HOME/h && echo w > .venv/f && echo n > .venv/n")
    second = freeze_setup(state, repo, repo.head, "k2", plan)
    assert Path(second.lower, ".venv/f").read_text() == "w\n" and Path(second.lower, ".venv/n").exists()
    assert intact(first) and Path(first.lower, ".venv/f").read_text() == "v\n" and not second.shared
