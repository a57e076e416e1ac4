"""Whatever an agent does to the files, the gate's tree is the one git would make with a trusted repository and index."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from workspace_kit import KINDS, ROOT, SANDBOX, inside, reference_tree, require_sandbox, sample, sh

from inspan.spec.paths import State
from inspan.workspace.build import discard, plan_attempt, plan_check
from inspan.workspace.changeset import collect, patch
from inspan.workspace.gate_repository import gate_git
from inspan.workspace.objects import Objects
from inspan.workspace.repository import Repository, open_repository

NAMES = ("README.md", "link", "run.sh", "deep", "deep/er", "deep/er/f.txt", "src", "src/app.py", "src/__init__.py", "tests", "new", "new/a", "new/a/b", "deep/g", "src/new", "README.md/d", "link/x", "deep/er/f.txt/z")  # fmt: skip
_NAME = st.sampled_from(NAMES)
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("rm -rf"), _NAME),
        st.tuples(st.just("mkdir -p"), _NAME),
        st.tuples(st.just("printf more >>"), _NAME),
        st.tuples(st.just("printf fresh >"), _NAME),
        st.tuples(st.just("chmod +x"), _NAME),
        st.tuples(st.just("chmod -x"), _NAME),
        st.tuples(st.just("ln -sfn README.md"), _NAME),
        st.tuples(st.just("mv -T"), _NAME, _NAME),
        st.tuples(st.just("cp -rT"), _NAME, _NAME),
        st.tuples(st.just("touch"), _NAME),
    ),
    min_size=1,
    max_size=25,
)


def script_of(steps: list[tuple[str, ...]]) -> str:
    lines = []
    for verb, *names in steps:
        guard = "[ -d {0} ] && [ ! -L {0} ] || ".format(names[0]) if verb.startswith("chmod") else ""
        lines.append(f"{guard}{verb} {' '.join(names)}")
    return "\n".join(lines) + "\ntrue"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[State, Repository, Path]:
    require_sandbox()
    if not ROOT:
        pytest.skip("NORUN: the reference mount needs root")
    directory = tmp_path_factory.mktemp("edits")
    return State(directory / "state"), open_repository(str(sample(directory / "r"))), directory


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=_STEPS)
def test_the_same_tree_as_git(place: tuple[State, Repository, Path], kind: str, steps: list[tuple[str, ...]]) -> None:
    state, repo, directory = place
    script = script_of(steps)
    plan = plan_attempt(state, repo, repo.head, f"p.{kind}", kind=kind, owner=SANDBOX, level="sandbox")
    inside(plan, script)
    found = collect(state, repo, repo.head, plan, f"p.{kind}")
    assert found.tree == reference_tree(state, repo.key, plan, directory), script
    check = plan_check(
        state, repo, found.base, found.result or "", f"p.{kind}", "c", kind=kind, owner=SANDBOX, level="sandbox"
    )
    inside(check, "true")
    assert found.tree == reference_tree(state, repo.key, check, directory), "the check's tree is another one"
    discard(state, check)
    discard(state, plan)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.binary(max_size=400), other=st.binary(min_size=1, max_size=400))
def test_a_patch_of_any_bytes_applies(place: tuple[State, Repository, Path], data: bytes, other: bytes) -> None:
    state, repo, directory = place
    plan = plan_attempt(state, repo, repo.head, "b.a1", kind="clone", owner=SANDBOX, level="sandbox")
    (Path(plan.directory) / "data").write_bytes(data)
    (Path(plan.directory) / "README.md").write_bytes(other)
    found = collect(state, repo, repo.head, plan, "b.a1")
    text = patch(state, repo, found.base, found.result or "")
    index = directory / "applied-index"
    index.unlink(missing_ok=True)
    environment = f"export GIT_DIR='{state.repo(repo.key)}/gate.git' GIT_INDEX_FILE='{index}'; "
    done = subprocess.run(
        [
            "bash",
            "-c",
            environment + f"git read-tree {repo.head} && git apply --cached --whitespace=nowarn && git write-tree",
        ],
        input=text,
        capture_output=True,
        check=False,
    )
    assert done.stdout.decode().split()[-1:] == [found.tree], done.stderr


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(paths=st.sets(st.sampled_from([n for n in NAMES if "/" in n or "." in n]), min_size=1))
def test_objects_agree_with_git(place: tuple[State, Repository, Path], paths: set[str]) -> None:
    state, repo, _directory = place
    plan_attempt(state, repo, repo.head, "o.a1", kind="overlay", owner=SANDBOX, level="sandbox")
    with Objects(gate_git(state, repo)) as objects:
        for path in paths:
            entry = objects.entry(repo.head, path.encode())
            known = sh(f"git rev-parse --verify -q 'HEAD:{path}' || true", repo.toplevel).strip()
            assert (entry.oid if entry else "") == known
