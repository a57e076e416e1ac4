"""What the workspace's tests share: sample repositories, a script run in a planned workspace, the reference tree."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from inspan.sandbox.contract import Confinement, Limits
from inspan.sandbox.levels import driver, probe
from inspan.spec.paths import State
from inspan.workspace.build import Owner
from inspan.workspace.gate_repository import gate_git
from inspan.workspace.objects import Objects
from inspan.workspace.plan import MountPlan
from inspan.workspace.repository import Repository

IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@x",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@x",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "LC_ALL": "C.UTF-8",
}
ROOT = os.geteuid() == 0
SELF = Owner(uid=os.geteuid(), gid=os.getegid())
SANDBOX = Owner(uid=61001, gid=61001) if ROOT else SELF
KINDS = ("overlay", "clone")


def require_sandbox() -> None:
    """NORUN where no overlay workspace can be confined."""
    import pytest  # the rest also serves a program that runs as another user, without it

    found = probe("sandbox", tempfile.gettempdir())
    if not found.available:
        pytest.skip(f"NORUN: level sandbox: {found.detail}")


def sh(script: str, cwd: Path | str, *, check: bool = True, timeout: float = 60, **env: str) -> str:
    """Run a shell script as the user; its output."""
    full = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **IDENTITY, **env}
    done = subprocess.run(
        ["/bin/bash", "-c", script],
        cwd=cwd,
        env=full,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout,
    )
    text = done.stdout.decode("utf-8", "replace")
    assert not check or done.returncode == 0, text
    return text


def sample(directory: Path, *, options: str = "") -> Path:
    """A small repository with one commit on ``main``."""
    directory.mkdir(parents=True)
    sh(
        f"git init -q -b main {options} ."
        " && mkdir src tests && printf 'def add(a,b):\\n    return a+b\\n' > src/app.py && touch src/__init__.py"
        " && echo hello > README.md && printf '__pycache__/\\n*.pyc\\nnode_modules/\\n.venv/\\n' > .gitignore"
        " && printf 'from src.app import add\\ndef test_add():\\n    assert add(2,2)==4\\n' > tests/test_app.py"
        " && mkdir -p deep/er && echo x > deep/er/f.txt && ln -s README.md link"
        " && printf '#!/bin/sh\\n' > run.sh && chmod +x run.sh"
        " && git add -A && git commit -qm base && git branch other",
        directory,
    )
    return directory


def inside(
    plan: MountPlan, script: str, *, timeout: float = 60, check: bool = True, level: str | None = None, **env: str
) -> str:
    """Run a script in the planned workspace, confined as a job is at ``level``; its output.

    Without a level it is ``sandbox`` where the workspace stands elsewhere inside, and ``none`` where it stands in place.
    """
    if level is None and plan.root_inside == plan.directory:
        return sh(script, plan.directory, check=check, timeout=timeout, **env)
    confinement = Confinement(
        plan=plan,
        argv=("/bin/bash", "-c", script),
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **IDENTITY, **env},
        ports=0,
        limits=Limits(),
    )
    with tempfile.TemporaryFile() as out, open(os.devnull) as null:
        tree = driver(level or "sandbox").start(
            confinement, stdin=null.fileno(), stdout=out.fileno(), stderr=out.fileno()
        )
        try:
            tree.release()
            status = tree.wait(timeout)
        finally:
            tree.close()
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    assert not check or status == 0, f"{status}: {text}"
    return text


def reference_tree(state: State, key: str, plan: MountPlan, scratch: Path) -> str:
    """The tree ``git add -A -f`` makes of the workspace with a trusted repository and index; needs root for an overlay."""
    gate = state.repo(key) / "gate.git"
    index = scratch / "reference-index"
    index.unlink(missing_ok=True)
    exports = f"export GIT_DIR='{gate}' GIT_WORK_TREE=. GIT_INDEX_FILE='{index}'; "
    script = exports + "git -c core.bare=false add -A -f . && git write-tree"
    if plan.kind == "clone":
        aside = "mv .git ../git.aside; "
        return sh(f"{aside}({script}); r=$?; mv ../git.aside .git; exit $r", plan.directory).split()[-1]
    layers = f"lowerdir={':'.join(plan.lowers)},upperdir={plan.upper},workdir={plan.work},userxattr"
    mounted = f"mount -t overlay overlay -o '{layers}' '{plan.directory}' && cd '{plan.directory}' && {script}"
    return sh('unshare -m bash -c "$MOUNTED"', "/", MOUNTED=mounted).split()[-1]


def blob(state: State, repo: Repository, commit: str, path: str) -> bytes | None:
    """Content of a file or link of a commit of the gate's, None when there is none at ``path``."""
    with Objects(gate_git(state, repo)) as objects:
        entry = objects.entry(commit, os.fsencode(path))
        return None if entry is None or entry.is_tree or entry.is_gitlink else objects.blob(entry.oid)


def tree_paths(state: State, repo: Repository, commit: str) -> list[str]:
    """Paths of every file of a commit of the gate's, sorted by bytes; submodules count as files."""
    listed = gate_git(state, repo).run("ls-tree", "-r", "-z", "--name-only", commit)
    return [os.fsdecode(path) for path in listed.split(b"\0")[:-1]]
