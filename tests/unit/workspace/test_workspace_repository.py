"""Opening a repository, what is not committed in it, and what must not change."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from workspace_kit import blob, sample, sh, tree_paths

from inspan.errors import RepositoryError
from inspan.spec.paths import State
from inspan.workspace.fingerprint import differences, fingerprint
from inspan.workspace.place import ancestor_settings, inside_root
from inspan.workspace.repository import Uncommitted, open_repository, resolve_base, uncommitted
from inspan.workspace.snapshot import take


def test_any_directory_inside_opens_it(tmp_path: Path) -> None:
    path = sample(tmp_path / "My repo")
    repo = open_repository(str(path / "deep/er"))
    assert (repo.toplevel, repo.git_dir, repo.branch) == (str(path), str(path / ".git"), "main")
    assert repo.key.startswith("My-repo-") and repo.head == sh("git rev-parse HEAD", path).strip()
    sh("git checkout -q --detach", path)
    assert open_repository(str(path)).branch is None


@pytest.mark.parametrize(
    ("script", "where", "words"),
    [
        ("mkdir plain", "plain", "not inside a git repository"),
        ("true", "absent", "no such directory"),
        ("git init -q --bare b.git", "b.git", "bare"),
        ("git init -q --bare b.git", "b.git/refs", "bare"),
        ("git init -q e", "e", "no commits"),
        ("mkdir g && echo 'gitdir: /nowhere/x' > g/.git", "g", "does not exist"),
        ("mkdir g && echo nonsense > g/.git", "g", "does not name"),
    ],
)
def test_what_is_refused(tmp_path: Path, script: str, where: str, words: str) -> None:
    sh(script, tmp_path)
    with pytest.raises(RepositoryError, match=words) as refused:
        open_repository(str(tmp_path / where))
    assert refused.value.where and refused.value.do and refused.value.exit_status == 2


def test_no_permission(tmp_path: Path) -> None:
    path = sample(tmp_path / "r")
    (path / ".git").chmod(0o700)
    script = f"import os, sys; sys.path[:] = {sys.path!r}\nfrom inspan.workspace.repository import open_repository, TrustedGit\nimport inspan.errors\n"
    script += "os.setuid(12345) if os.geteuid() == 0 else os.chmod('.git', 0)\ntry: open_repository('.')\nexcept inspan.errors.RepositoryError as e: print(e)"
    tmp_path.chmod(0o755)
    done = subprocess.run([sys.executable, "-c", script], cwd=path, capture_output=True, text=True, check=False)
    (path / ".git").chmod(0o700)
    assert "no permission" in done.stdout, done.stderr


def test_bases(tmp_path: Path) -> None:
    path = sample(tmp_path / "r")
    sh("git tag v1; echo 2 >> README.md; git commit -qam two", path)
    repo = open_repository(str(path))
    assert resolve_base(repo, None) == repo.head
    assert resolve_base(repo, "v1") == resolve_base(repo, "HEAD~1") == resolve_base(repo, "other")
    for rev in ("absent", "", "--all", "HEAD:README.md", "HEAD^{tree}"):
        with pytest.raises(RepositoryError, match="no commit"):
            resolve_base(repo, rev)


DIRTY = "echo y >> src/app.py; rm README.md; echo new > 'n \"ew'; mkdir node_modules; touch node_modules/x; echo k > .env; echo k > a.pem"


def test_uncommitted_work_is_named(tmp_path: Path) -> None:
    path = sample(tmp_path / "r")
    assert uncommitted(open_repository(str(path))) == Uncommitted(tracked=(), untracked=())
    sh(DIRTY + "; git add src/app.py; echo '*.local' >> .git/info/exclude; touch x.local", path)
    found = uncommitted(open_repository(str(path)))
    assert found.tracked == ("README.md", "src/app.py") and found.untracked == (".env", "a.pem", 'n "ew')


def test_a_change_of_the_same_size_right_after_the_commit_is_seen(tmp_path: Path) -> None:
    """git compares sizes and whole seconds; only content tells a change within one second, and only if git knows that."""
    path = sample(tmp_path / "r")
    for n in range(8):
        time.sleep(1.001 - time.time() % 1)
        (path / "src/app.py").write_text(f"value = {n}\n")
        sh("git commit -qam same", path)
        committed = (path / "src/app.py").stat()
        (path / "src/app.py").write_text(f"value = {n + 1}\n")
        changed = (path / "src/app.py").stat()
        if int(committed.st_ctime) == int(changed.st_ctime):
            break
    else:
        pytest.skip("NORUN: the machine is too slow for a commit and a change within one second")
    time.sleep(1.001 - time.time() % 1)  # a copy of the index made later must not look younger than the change
    repo = open_repository(str(path))
    assert uncommitted(repo).tracked == ("src/app.py",)
    state = State(tmp_path / "state")
    assert blob(state, repo, take(state, repo).commit, "src/app.py") == (path / "src/app.py").read_bytes()


def test_asking_runs_nothing_of_the_repository(tmp_path: Path) -> None:
    path = sample(tmp_path / "r")
    mark = tmp_path / "mark"
    sh(
        f"echo '*.py filter=x' > .gitattributes; git config filter.x.clean 'touch {mark}; cat'; git config core.fsmonitor 'touch {mark}; false'",
        path,
    )
    sh("touch -d yesterday src/app.py; echo z >> tests/test_app.py", path)
    repo = open_repository(str(path))
    uncommitted(repo)
    take(State(tmp_path / "state"), repo)
    fingerprint(repo)
    assert not mark.exists()
    sh("git status", path, check=False)
    assert mark.exists(), "the repository's configuration no longer attacks"


def test_a_split_index_is_read(tmp_path: Path) -> None:
    path = sample(tmp_path / "r")
    sh("git update-index --split-index; echo z >> README.md", path)
    assert uncommitted(open_repository(str(path))).tracked == ("README.md",)


def test_a_snapshot_takes_the_state_and_leaves_secrets(tmp_path: Path) -> None:
    path, state = sample(tmp_path / "r"), State(tmp_path / "state")
    sh(DIRTY + "; chmod +x tests/test_app.py; ln -sf src link; mkfifo pipe; git init -q inner; touch inner/f", path)
    repo = open_repository(str(path))
    before = sh("git status --porcelain; git for-each-ref; git count-objects; sha1sum .git/index", path)
    found = take(state, repo)
    assert dict(found.left_out) == {
        ".env": "looks like a secret",
        "a.pem": "looks like a secret",
        "inner/": "is a repository of its own",
    }
    assert 'n "ew' in tree_paths(state, repo, found.commit) and "README.md" not in tree_paths(state, repo, found.commit)
    assert blob(state, repo, found.commit, "src/app.py") == (path / "src/app.py").read_bytes()
    assert blob(state, repo, found.commit, "link") == b"src"
    assert sh("git status --porcelain; git for-each-ref; git count-objects; sha1sum .git/index", path) == before
    assert take(state, repo).commit == found.commit


def test_a_snapshot_names_a_submodule_that_moved(tmp_path: Path) -> None:
    library, path = sample(tmp_path / "library"), sample(tmp_path / "r")
    sh(
        f"git -c protocol.file.allow=always submodule --quiet add {library} lib && git commit -qm sub && cd lib && git commit -q --allow-empty -m moved",
        path,
    )
    repo = open_repository(str(path))
    found = take(State(tmp_path / "state"), repo)
    assert uncommitted(repo).tracked == ("lib",) and [path for path, _why in found.left_out] == ["lib"]


def test_a_clean_checkout_is_its_own_snapshot(tmp_path: Path) -> None:
    repo = open_repository(str(sample(tmp_path / "r")))
    found = take(State(tmp_path / "state"), repo)
    assert (found.commit, found.left_out) == (repo.head, ())


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ("true", ()),
        ("git status; touch README.md; echo u > untracked; mkdir node_modules; touch node_modules/x", ()),
        ("git branch inspan/job", ()),
        ("echo x >> README.md", ("file:README.md",)),
        ("rm README.md; touch .venv", ("file:README.md",)),
        ("chmod +x src/app.py", ("file:src/app.py",)),
        ("ln -sf src link", ("file:link",)),
        ("git branch extra", ("ref:refs/heads/extra",)),
        ("git config a.b c", ("config",)),
        ("echo x > .git/hooks/pre-commit", ("hook:pre-commit",)),
        ("git checkout -q other", ("HEAD",)),
        ("touch u; git add u", ("file:u", "index")),
    ],
)
def test_what_a_fingerprint_notices(tmp_path: Path, script: str, names: tuple[str, ...]) -> None:
    path = sample(tmp_path / "r")
    repo = open_repository(str(path))
    before = fingerprint(repo)
    sh(script, path)
    assert differences(before, fingerprint(repo)) == names


def test_same_size_and_time_is_still_noticed(tmp_path: Path) -> None:
    path = sample(tmp_path / "r")
    repo = open_repository(str(path))
    before = fingerprint(repo)
    st = os.stat(path / "README.md")
    (path / "README.md").write_text("HELLO\n")
    os.utime(path / "README.md", ns=(st.st_atime_ns, st.st_mtime_ns))
    assert differences(before, fingerprint(repo)) == ("file:README.md",)


def test_where_a_workspace_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for system in ("/", "/usr", "/etc", "/home", "/root", "/tmp", "/var/tmp", "/proc/x", "/dev/shm"):
        assert inside_root(system) == "/workspace"
    for own in ("/root/work", "/home/a/b", "/tmp/x", "/srv/git/x", "/usr/src/app"):
        assert inside_root(own) == own
    monkeypatch.setenv("HOME", str(tmp_path))
    assert inside_root(str(tmp_path)) == "/workspace"


def test_settings_of_ancestors_are_named(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    before = ancestor_settings(str(tmp_path / "a/b"))
    (tmp_path / "CLAUDE.md").touch()
    (tmp_path / "a/.env").touch()
    (tmp_path / "a/b/AGENTS.md").touch()
    assert ancestor_settings(str(tmp_path / "a/b")) == (str(tmp_path / "a/.env"), str(tmp_path / "CLAUDE.md"), *before)
    (tmp_path / ".own").mkdir()
    (tmp_path / "x.json").touch()
    found = ancestor_settings(str(tmp_path / "a/b"), ("**/.own/**", "**/*.json"))
    assert set(found) - {*before} == {str(tmp_path / name) for name in ("a/.env", "CLAUDE.md", ".own")}
