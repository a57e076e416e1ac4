"""What a change may not bring in, rule by rule, each beside something harmless; caps; the record of a change."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from workspace_kit import KINDS, SANDBOX, blob, inside, require_sandbox, sample, sh, tree_paths

from inspan.errors import GateError
from inspan.spec.paths import State
from inspan.workspace import changes, scan
from inspan.workspace.build import plan_attempt
from inspan.workspace.changeset import Changeset, collect, patch
from inspan.workspace.gate_repository import gate_git
from inspan.workspace.git import TrustedGit
from inspan.workspace.plan import MountPlan
from inspan.workspace.repository import Repository, open_repository

pytestmark = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte is too big here."""
    monkeypatch.setattr(changes, "MAX_FILE", 1 << 20)


@pytest.fixture
def place(tmp_path: Path) -> tuple[State, Repository]:
    require_sandbox()
    return State(tmp_path / "state"), open_repository(str(sample(tmp_path / "r")))


def changed(place: tuple[State, Repository], kind: str, script: str, attempt: str = "j.a1") -> Changeset:
    state, repo = place
    plan = plan_attempt(state, repo, repo.head, attempt, kind=kind, owner=SANDBOX, level="sandbox")  # type: ignore[arg-type]
    inside(plan, script)
    return collect(state, repo, repo.head, plan, attempt)


def violations(found: Changeset) -> set[tuple[str, str]]:
    return {(violation.path, violation.rule) for violation in found.violations}


RULES = [
    ("nested repository", "git init -q sub; echo x > sub/f", {("sub/.git", "dotgit_name")}),
    ("dotgit file", "mkdir s; echo 'gitdir: /x' > s/.GIT", {("s/.GIT", "dotgit_name")}),
    ("dotgit alias at the root", "echo x > .git.", {(".git.", "dotgit_name")}),
    ("control characters", "echo x > $'a\\tb'; mkdir $'d\\n'; echo x > $'d\\n/f'", {("a\tb", "control_char_name"), ("d\n", "control_char_name")}),
    ("backslash", "echo x > 'a\\b'", {("a\\b", "control_char_name")}),
    ("not UTF-8", "echo x > $'\\xff'", {("\udcff", "non_utf8_name")}),
    ("alias of a file git reads", "echo x > .GitAttributes", {(".GitAttributes", "meta_alias_name")}),
    ("absolute link", "ln -s /etc/passwd p", {("p", "symlink_escapes")}),
    ("climbing link", "ln -s ../../x deep/er/p; ln -sf ../../x src/q", {("src/q", "symlink_escapes")}),
    ("changed link", "ln -sf /etc link", {("link", "symlink_escapes")}),
    ("fifo", "mkfifo f", {("f", "special_file")}),
    ("socket", "/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")' || mkfifo s", {("s", "special_file")}),
    ("set-uid", "cp run.sh s; chmod u+s s; chmod g+s run.sh", {("s", "setid"), ("run.sh", "setid")}),
    ("too big", "head -c 1048577 /dev/zero > big", {("big", "too_big")}),
    ("case", "echo x > Readme.md; mkdir SRC; echo y > SRC/new", {("Readme.md", "name_collision"), ("SRC", "name_collision")}),
    ("composition", "echo 1 > $'\\u00e9'; echo 2 > $'e\\u0301'", {("é", "name_collision"), ("e\u0301", "name_collision")}),
    ("repository removed", "rm -rf .git", {(".git", "gitdir_replaced")}),
    ("repository replaced by a link", "mv .git /tmp/g; ln -s /tmp/g .git", {(".git", "gitdir_replaced")}),
]  # fmt: skip


@pytest.mark.parametrize(("script", "expected"), [row[1:] for row in RULES], ids=[row[0] for row in RULES])
def test_what_is_accused(
    place: tuple[State, Repository], kind: str, script: str, expected: set[tuple[str, str]]
) -> None:
    assert violations(changed(place, kind, script + "; echo harmless > 'a file'; ln -s '../a file' deep/l")) == expected


def test_harmless_changes_are_not_accused(place: tuple[State, Repository], kind: str) -> None:
    script = r"""ln -s ../README.md src/l; ln -sf src link; echo x > 'ünï "c" ode'; mkdir -p .github; echo x > .github/w.yml; printf '*.o\n' >> .gitignore
    mkdir empty; chmod 600 src/app.py; head -c 1048576 /dev/zero > big; git init -q node_modules/x; mkfifo node_modules/p; ln -s / node_modules/l; echo x > $'node_modules/\xff'"""
    found = changed(place, kind, script)
    assert violations(found) == set() and found.ignored == ("node_modules/",)
    assert [(f.path, f.status) for f in found.change.files] == [
        (".github/w.yml", "added"), (".gitignore", "modified"), ("big", "added"), ("link", "modified"), ("src/l", "added"), ('ünï "c" ode', "added")
    ]  # fmt: skip


def test_nothing_changed(place: tuple[State, Repository], kind: str) -> None:
    found = changed(
        place,
        kind,
        "touch README.md src/app.py; mkdir a b; git status; git commit -q --allow-empty -m x; chmod g+w run.sh",
    )
    assert (found.result, found.change.files, found.violations) == (found.base, (), ())
    assert found.digest == f"sha256:{hashlib.sha256(b'').hexdigest()}"


def test_the_record(place: tuple[State, Repository], kind: str) -> None:
    state, repo = place
    script = "printf 'a\\nb\\n' > new; printf 'x\\0y' > bin; echo more >> src/app.py; rm README.md; chmod +x src/__init__.py; rm link; echo f > link"
    found = changed(place, kind, script)
    rows = {f.path: (f.status, f.added, f.removed) for f in found.change.files}
    assert rows == {
        "README.md": ("deleted", 0, 1),
        "bin": ("added", None, None),
        "link": ("type_changed", 1, 1),
        "new": ("added", 2, 0),
        "src/__init__.py": ("mode_changed", 0, 0),
        "src/app.py": ("modified", 1, 0),
    }
    assert (found.change.added, found.change.removed) == (4, 2)
    git = gate_git(state, repo)
    raw = git.run("diff-tree", "-r", "-z", "--full-index", found.base, found.result or "")
    assert found.digest == f"sha256:{hashlib.sha256(raw).hexdigest()}"
    assert blob(state, repo, found.result or "", "new") == b"a\nb\n" and blob(state, repo, found.base, "new") is None
    assert blob(state, repo, found.base, "src") is None and "new" in tree_paths(state, repo, found.result or "")
    assert b"x\0y" in patch(state, repo, found.base, found.result or "")
    assert git.line("rev-parse", "refs/inspan/attempt/j.a1") == found.result
    assert changed(place, kind, "sleep 1.1; " + script, "j.a2").result == found.result, "same tree, other commit"


def test_ignored_is_what_the_base_ignores(place: tuple[State, Repository], kind: str) -> None:
    _state, repo = place
    sh("mkdir keep && echo k > keep/k.pyc && git add -f keep && git commit -qm forced", repo.toplevel)
    place = (place[0], open_repository(repo.toplevel))
    found = changed(
        place,
        kind,
        "echo x >> keep/k.pyc; echo x > keep/other.pyc; mkdir -p node_modules/a/b; echo x > node_modules/a/b/c; echo '*' > .gitignore; echo n > n; printf '*' > .git/info/exclude",
    )
    assert [f.path for f in found.change.files] == [".gitignore", "keep/k.pyc", "n"]
    assert found.ignored == ("keep/other.pyc", "node_modules/") == found.change.ignored


@pytest.mark.parametrize(
    ("name", "value", "script"),
    [("MAX_FILES", 3, "touch a b c; echo 1 > d"), ("MAX_TOTAL", 100, "head -c 101 /dev/zero > f")],
)
def test_caps(
    place: tuple[State, Repository], kind: str, monkeypatch: pytest.MonkeyPatch, name: str, value: int, script: str
) -> None:
    monkeypatch.setattr(changes, name, value)
    with pytest.raises(GateError) as refused:
        changed(place, kind, script)
    assert refused.value.reason == "change_too_large"
    assert changed(place, kind, "echo 1 > a; mkdir node_modules; touch node_modules/{1..9}").change.files, (
        "ignored files count"
    )


def test_depth(place: tuple[State, Repository], kind: str) -> None:
    deep = "d() { for i in $(seq $1); do mkdir d; cd d; done; echo x > f; }; d "
    with pytest.raises(GateError) as refused:
        changed(place, kind, deep + str(scan.MAX_DEPTH + 2))
    assert refused.value.reason == "change_too_large"
    assert changed(place, kind, deep + "60").change.files


def test_doubt_is_an_error(place: tuple[State, Repository], kind: str) -> None:
    state, repo = place
    plan = plan_attempt(state, repo, repo.head, "j.a1", kind=kind, owner=SANDBOX, level="sandbox")  # type: ignore[arg-type]
    with pytest.raises(GateError):
        collect(state, repo, "0" * 40, plan, "j.a1")
    os.rename(plan.upper or plan.directory, str(Path(plan.home) / "moved"))
    with pytest.raises(GateError):
        collect(state, repo, repo.head, plan, "j.a1")


def test_a_redirected_directory_is_an_error(place: tuple[State, Repository], kind: str) -> None:
    state, repo = place
    plan: MountPlan = plan_attempt(state, repo, repo.head, "j.a1", kind=kind, owner=SANDBOX, level="sandbox")  # type: ignore[arg-type]
    target = Path(plan.upper or plan.directory) / "deep"
    target.mkdir(exist_ok=True)
    os.setxattr(target, "user.overlay.redirect", b"/etc")
    if plan.upper is None:
        assert collect(state, repo, repo.head, plan, "j.a1").change.files == (), "in a copy it means nothing"
        return
    with pytest.raises(GateError, match="redirected"):
        collect(state, repo, repo.head, plan, "j.a1")


def test_the_trusted_git_is_closed(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the caller's environment and nothing the repository configures is in force."""
    path, mark = sample(tmp_path / kind), tmp_path / "mark"
    sh(
        f"git config core.fsmonitor 'touch {mark}; false'; git config alias.x '!touch {mark}'; git config diff.external 'touch {mark}'; git config core.pager 'touch {mark}; cat'",
        path,
    )
    sh("git replace HEAD $(git commit-tree -m fake HEAD^{tree})", path)
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {mark}")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    git = TrustedGit(path / ".git", work_tree=path)
    (path / "README.md").write_text("other\n")
    git.run("status", "--porcelain")
    git.run("diff", "--no-ext-diff")
    assert b"fake" not in git.run("log") and not mark.exists()
    assert all(not name.startswith("GIT_EXTERNAL") for name in git.env)
    sh("git diff", path, GIT_PAGER="cat")
    assert mark.exists(), "the configuration no longer attacks"
