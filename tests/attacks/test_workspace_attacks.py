"""Rows 1-37 of the attack table, for every pair of level and workspace, with the naive gate as the control.

The naive gate is ``git worktree add``, then ``git status``, ``diff``, ``add``, ``diff --cached`` and ``log`` run where the
agent wrote. A row that no longer hurts it would prove nothing about ours.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from attack_rows import ATTACKS, EDIT, Attack
from workspace_kit import IDENTITY, SANDBOX, inside, require_sandbox, sample, sh, tree_paths

import sandbox_jobs as jobs
from inspan.spec.paths import State
from inspan.workspace.build import plan_attempt, plan_check
from inspan.workspace.changeset import Changeset, collect, patch
from inspan.workspace.gate_repository import gate_git
from inspan.workspace.plan import MountPlan
from inspan.workspace.repository import Repository, open_repository

WAYS = {
    "overlay": ("sandbox", "overlay"),
    "clone": ("sandbox", "clone"),
    "landlock": ("landlock", "clone"),
    "gvisor": ("gvisor", "overlay"),
}
"""Level and kind of workspace by the names of the parameters."""
PARAMETERS = ["overlay", "clone", *(pytest.param(way, marks=pytest.mark.long) for way in ("landlock", "gvisor"))]

EXCEPTIONS = {
    (27, "gvisor"): "a pipe made in the guest is in the guest's memory: outside, the file is gone, and that is shown",
}
"""Rows that end otherwise at a level, by row and parameter."""


def digest_of(root: Path) -> str:
    """One digest over every file, link and mode below ``root``."""
    hasher = hashlib.sha256()
    for here, directories, files in sorted(os.walk(root)):
        directories.sort()
        for name in sorted(files) + [d for d in directories if os.path.islink(os.path.join(here, d))]:
            path = os.path.join(here, name)
            st = os.lstat(path)
            hasher.update(f"{path} {st.st_mode:o} ".encode("utf-8", "surrogateescape"))
            hasher.update(os.readlink(path).encode() if os.path.islink(path) else Path(path).read_bytes())
    return hasher.hexdigest()


class Ours:
    """One repository, its state, and a marker that nothing trusted may ever make."""

    def __init__(self, directory: Path) -> None:
        self.origin = sample(directory / "origin")
        self.mark = directory / "mark"
        self.state = State(directory / "state")
        self.repo: Repository = open_repository(str(self.origin))

    def attacked(self, script: str, way: str) -> tuple[Changeset, bytes, MountPlan]:
        """Let an agent run ``script``; what the gate sees. The parent and the layers below stay as they were."""
        level, kind = WAYS[way]
        plan = plan_attempt(self.state, self.repo, self.repo.head, "j.a1", kind=kind, owner=SANDBOX, level=level)
        pristine = self.state.repo(self.repo.key) / "pristine"
        before = digest_of(self.origin), digest_of(pristine)
        inside(plan, script, check=False, level=level, MARK=str(self.mark))
        found = collect(self.state, self.repo, self.repo.head, plan, "j.a1")
        shown = patch(self.state, self.repo, found.base, found.result or "")
        assert not os.path.lexists(self.mark), "code of the agent ran on the trusted side"
        assert (digest_of(self.origin), digest_of(pristine)) == before, "the parent or a lower layer changed"
        return found, shown, plan


@pytest.fixture
def ours(tmp_path: Path, request: pytest.FixtureRequest) -> Ours:
    level, _kind = WAYS[request.node.callspec.params["way"]]
    if level == "sandbox":
        require_sandbox()
        return Ours(tmp_path)
    jobs.require(level)
    place = Path(tempfile.mkdtemp(dir=jobs.homes(tmp_path, level)))
    place.chmod(0o711)
    return Ours(place)


def rules(found: Changeset) -> set[str]:
    return {violation.rule for violation in found.violations}


@pytest.mark.parametrize("way", PARAMETERS)
@pytest.mark.parametrize("attack", ATTACKS, ids=[f"{a.row:02} {a.name}" for a in ATTACKS])
def test_the_gate_sees_through(ours: Ours, attack: Attack, way: str) -> None:
    level, kind = WAYS[way]
    found, shown, _plan = ours.attacked(attack.script, way)
    assert attack.seen is None or attack.seen in shown
    if (attack.row, way) in EXCEPTIONS:
        assert [(one.path, one.status) for one in found.change.files] == [("src/app.py", "deleted")]
    elif attack.rule is None:
        assert rules(found) <= {"too_big"}, found.violations
    else:
        assert attack.rule in rules(found)
    git = gate_git(ours.state, ours.repo)
    if found.change.files:
        assert git.line("rev-parse", f"{found.result}^") == found.base, "the result does not stand on the recorded base"
    else:
        assert found.result == found.base
    result = tree_paths(ours.state, ours.repo, found.result or "")
    match attack.row:
        case 22:
            assert found.ignored == ("src/__pycache__/",) and not any("__pycache__" in path for path in result)
            check = plan_check(
                ours.state,
                ours.repo,
                found.base,
                found.result or "",
                "j.a1",
                "c",
                kind=kind,
                owner=SANDBOX,
                level=level,
            )
            assert "pycache" not in inside(check, level=level, script="find . -name '*.pyc' -o -name __pycache__")
        case 24:
            assert not any("config" in path for path in result)
        case 26:
            assert 'src/a\nb".py' in [file.path for file in found.change.files]
        case 27:
            assert "src/app.py" not in result
        case 29:
            assert [path for path in result if path.startswith("deep")] == ["deep/new.txt"]
        case 30:
            assert "deep" in result and "README.md/x" in result and "README.md" not in result
        case 37:
            assert {"link/x", "link/.gitignore"} <= set(result)


def naive(directory: Path, attack: Attack) -> set[str]:
    """What the naive gate suffers from ``attack``."""
    origin, mark, workspace = directory / "origin", directory / "mark", directory / "ws"
    sample(origin)
    sh(f"git worktree add -q --detach '{workspace}'", origin)
    sh(attack.script, workspace, check=False, MARK=str(mark))
    mark.unlink(missing_ok=True)
    suffered, shown = set(), b""
    for line in (
        "git status --porcelain",
        "git diff main",
        "git add -A",
        "git diff --cached main",
        "git log -3 --oneline",
    ):
        out = bounded(line, workspace, 4)
        suffered |= {"hang"} if out is None else set()
        shown += out or b""
    if attack.row == 23:
        (workspace / "report.txt").write_text("the platform's report")
        suffered |= {"outside"} if mark.exists() else set()
    elif attack.row == 31:
        sh("echo u >> README.md; git commit -qam 'the user commits'", origin)
    elif attack.row == 32:
        suffered |= {"moved"} if sh("git log -1 --format=%s other", origin).strip() != "base" else set()
    suffered |= {"exec"} if mark.exists() and attack.row != 23 else set()
    if attack.row == 16:
        visible = "base" in sh("git log --format=%s HEAD", workspace)
    else:
        wanted = {20: b"100755", 21: b"\r"}.get(attack.row, b"EVIL=1")
        visible = wanted in shown or (attack.row == 21 and b"^M" in shown)
    return suffered | (set() if visible else {"hidden"})


def bounded(line: str, cwd: Path, seconds: float) -> bytes | None:
    """Output of a command, None when it had to be ended after ``seconds``; its whole process group is."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **IDENTITY, "MARK": str(cwd.parent / "mark")}
    started = subprocess.Popen(
        ["/bin/bash", "-c", line],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return started.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
        return None


@pytest.mark.parametrize(
    "attack", [a for a in ATTACKS if a.naive], ids=[f"{a.row:02} {a.name}" for a in ATTACKS if a.naive]
)
def test_control_the_naive_gate_is_hurt(tmp_path: Path, attack: Attack) -> None:
    suffered = naive(tmp_path, attack)
    assert attack.naive <= suffered, f"this row no longer attacks: {suffered}"
    shutil.rmtree(tmp_path / "ws", ignore_errors=True)


def test_control_an_honest_edit_is_seen_by_both(tmp_path: Path) -> None:
    honest = Attack(0, "honest", EDIT, frozenset())
    assert naive(tmp_path / "naive", honest) == set()
    require_sandbox()
    for way in ("overlay", "clone"):
        found, shown, _plan = Ours(tmp_path / way).attacked(EDIT, way)
        assert b"EVIL=1" in shown and found.violations == () and found.ignored == ()


@pytest.mark.parametrize("way", PARAMETERS)
def test_33_objects_of_another_repository(ours: Ours, tmp_path: Path, way: str) -> None:
    """The agent borrows from a repository it names; nothing of that reaches the gate's store."""
    secret = tmp_path / "secret"
    secret.mkdir()
    sh("git init -q -b main . && echo TOPSECRET > s && git add -A && git commit -qm s", secret)
    commit = sh("git rev-parse main", secret).strip()
    script = (
        EDIT
        + f"echo {secret}/.git/objects >> .git/objects/info/alternates; mkdir -p .git/refs/heads; echo {commit} > .git/refs/heads/steal"
    )
    _found, shown, plan = ours.attacked(script, way)
    assert b"EVIL=1" in shown and b"TOPSECRET" not in shown
    assert gate_git(ours.state, ours.repo).call("cat-file", "-e", commit).returncode != 0
    written = Path(plan.upper or plan.directory) / ".git"
    copy = tmp_path / "agents.git"
    sh(
        f"cp -a '{written}' '{copy}'; mkdir -p objects refs; cd '{copy}'; mkdir -p objects refs; [ -f config ] || git init -q --bare .",
        tmp_path,
    )
    sh(f"chown -R {os.geteuid()} '{copy}'", tmp_path)
    control = sh(
        f"git init -q --bare naive.git; cd naive.git; git fetch -q '{copy}' refs/heads/steal:refs/heads/stolen; git show stolen:s",
        tmp_path,
        check=False,
    )
    assert "TOPSECRET" in control, "a naive fetch from the agent's repository no longer delivers it"


@pytest.mark.parametrize("way", PARAMETERS)
def test_34_hard_link_to_a_file_outside(ours: Ours, tmp_path: Path, way: str) -> None:
    target = ours.origin / "README.md"
    _found, shown, _plan = ours.attacked(
        f"ln {target.parent}/.git/HEAD h1; ln {tmp_path}/origin/README.md h2; ln /usr/bin/env h3; echo EVIL=1 >> h2",
        way,
    )
    assert target.read_text() == "hello\n" and b"EVIL=1" in shown
    os.link(target, tmp_path / "control")
    with (tmp_path / "control").open("a") as file:
        file.write("EVIL=1\n")
    assert "EVIL=1" in target.read_text(), "a hard link no longer shares the file"


@pytest.mark.parametrize("way", PARAMETERS)
def test_35_a_process_that_edits_after_the_end(ours: Ours, way: str) -> None:
    late = "(setsid sh -c 'sleep 1; echo LATE > late.txt' >/dev/null 2>&1 &) ; "
    found, _shown, plan = ours.attacked(late + EDIT, way)
    time.sleep(1.5)
    assert not (Path(plan.upper or plan.directory) / "late.txt").exists()
    assert [file.path for file in found.change.files] == ["src/app.py"]
    sh(late, ours.origin)
    time.sleep(1.5)
    assert (ours.origin / "late.txt").exists(), "an unconfined process no longer outlives its parent"


@pytest.mark.parametrize("way", PARAMETERS)
def test_36_forged_whiteouts_and_attributes(ours: Ours, way: str) -> None:
    if not Path("/usr/bin/python3").exists():
        pytest.skip("NORUN: no /usr/bin/python3 to forge attributes with")
    script = """/usr/bin/python3 -S - <<'P'
import os, stat
for path in ("src", "deep"):
    for name in ("user.overlay.opaque", "user.overlay.redirect", "trusted.overlay.opaque"):
        try: os.setxattr(path, name, b"y" if name.endswith("opaque") else b"/etc")
        except OSError as e: print(path, name, e)
try: os.mknod("README.md.w", stat.S_IFCHR, 0)
except OSError as e: print("mknod", e)
P
echo EVIL=1 > deep/new"""
    found, shown, _plan = ours.attacked(script, way)
    result = tree_paths(ours.state, ours.repo, found.result or "")
    assert b"EVIL=1" in shown and {"src/app.py", "deep/er/f.txt", "README.md", "deep/new"} <= set(result)
