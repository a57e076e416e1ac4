"""Sources, their order, their trust, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inspan.errors import InspanError, InvalidSpec, UnknownName
from inspan.spec.config import ENVIRONMENT, KEYS, REPOSITORY_KEYS, Configuration, load
from inspan.spec.fill import fill
from inspan.spec.job import Check, Job

USER = """
backend = "bare@local/m"
allow_none = true
timeout = 60
share = ["node_modules"]
pass_env = ["CI"]
scope = ["lib/**"]

[checks]
lint = {command = "ruff check", timeout = 30}

[harnesses.mine]
argv = ["mine", "{prompt_file}"]

[providers.local]
base_url = "http://127.0.0.1:8000"
wires = ["openai-chat", "anthropic"]
credential_env = "LOCAL_KEY"

[providers.other]
wires = {anthropic = "https://other.example/api"}
header = "x-api-key"
"""
REPOSITORY = """
scope = ["src/**"]
setup = ["make deps"]
setup_inputs = ["Makefile"]

[checks]
unit = "pytest -q"
"""


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("INSPAN_CONFIG", str(path))
    return path


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    return tmp_path / "repo"


def test_nothing_configured(user: Path, repo: Path) -> None:
    empty = load(str(repo), environ={})
    assert empty == Configuration(origins=dict.fromkeys(KEYS, "default"))
    assert load(None, environ={}) == empty


def test_order_and_origins(user: Path, repo: Path) -> None:
    user.write_text(USER)
    (repo / "inspan.toml").write_text(REPOSITORY)
    found = load(
        str(repo), environ={"INSPAN_TIMEOUT": "90", "INSPAN_ALLOW_NONE": "no", "INSPAN_TEST_X": "1", "HOME": "/"}
    )
    assert found.default_backend == found.backend == "bare@local/m"
    assert (found.timeout, found.allow_none) == (90.0, False)
    assert found.checks == (Check(name="lint", command="ruff check", timeout=30),)
    assert (found.scope, found.setup, found.setup_inputs) == (("lib/**",), ("make deps",), ("Makefile",))
    assert found.harnesses == {"mine": {"argv": ["mine", "{prompt_file}"]}}
    assert found.providers["local"].urls() == dict.fromkeys(("openai-chat", "anthropic"), "http://127.0.0.1:8000")
    assert found.providers["other"].urls() == {"anthropic": "https://other.example/api"}
    inside = str(repo / "inspan.toml")
    assert {k: found.origins[k] for k in ("timeout", "scope", "setup", "stall")} == {
        "timeout": "INSPAN_TIMEOUT", "scope": str(user), "setup": inside, "stall": "default",
    }  # fmt: skip
    assert found.repository_digest and found.repository_digest.startswith("sha256:")


@pytest.mark.parametrize("key", sorted(set(KEYS) - set(REPOSITORY_KEYS)))
def test_the_repository_may_not_choose_what_is_the_users(key: str, user: Path, repo: Path) -> None:
    value = {
        "harnesses": "{}",
        "providers": "{}",
        "backends": "{}",
        "egress": "{}",
        "timeout": "1",
        "stall": "1",
        "allow_none": "true",
        "share": "[]",
        "writable": "[]",
        "gc": "{}",
        "limits": "{}",
    }
    (repo / "inspan.toml").write_text(f"{key} = {value.get(key, '[]' if key == 'pass_env' else repr('none'))}\n")
    with pytest.raises(InvalidSpec) as caught:
        load(str(repo), environ={})
    assert repr(key) in caught.value.what and str(user) in (caught.value.do or "")
    user.write_text((repo / "inspan.toml").read_text().replace("'none'", "'none'"))
    (repo / "inspan.toml").unlink()
    load(str(repo), environ={})  # the control: the same line is fine in the user's own file


def test_may_change_is_nobodys_default(user: Path, repo: Path) -> None:
    (repo / "inspan.toml").write_text("may_change = ['**']\n")
    with pytest.raises(InvalidSpec, match="unknown key 'may_change'"):
        load(str(repo), environ={})


BAD_USER = {
    "tiemout = 3": "'timeout'",
    "timeout = 'x'": "correct",
    "timeout = 0": "seconds",
    "sandbox = 'sandbx'": "'sandbox'",
    "deliver = 'merge'": "use one of: branch, none, patch",
    "scope = ['/x']": "relative",
    "share = ['..']": "git-ignored",
    "checks = ['x']": "table",
    "[checks]\nUnit = 'x'": "lower-case",
    "[checks]\nunit = {comand = 'x'}": "'command'",
    "[checks]\nunit = ''": "shell command",
    "[checks]\nunit = {command = 'x', junit = 'a/../../r.xml'}": "relative to the repository's root",
    "[checks]\nunit = {command = 'x', junit = '/r.xml'}": "relative to the repository's root",
    "[harnesses]\nmine = 'x'": "table",
    "[harnesses.Mine]\nargv = ['x']": "use",
    "[harnesses.mine]\nargv = ['x']\nenv = {K = 'sk-ant-" + "a" * 30 + "'}": "never store",
    "[providers.p]\nwires = ['openai-chat']": "write it like",
    "[providers.p]\nwires = []\nbase_url = 'http://h'": "name some of",
    "[providers.p]\nwires = ['openai']\nbase_url = 'http://h'": "correct",
    "[providers.p]\nwires = ['openai-chat']\nbase_url = 'http://h/v1'": "write it like",
    "[providers.p]\nwires = ['openai-chat']\nbase_url = 'http://u:p@h'": "write it like",
    "[providers.p]\nwires = ['openai-chat']\nbase_url = 'ftp://h'": "write it like",
    "[providers.p]\nwires = ['openai-chat']\nbase_url = 'http://h:port'": "write it like",
    "[providers.p]\nwires = ['openai-chat']\nbase_url = 'http://h'\ncredential_env = 'sk-x'": "never the credential",
    "[providers.p]\nwires = ['openai-chat']\nbase_url = 'http://h'\nkey = 'x'": "use one of",
    "[providers.rehearsal]\nwires = ['openai-chat']\nbase_url = 'http://h'": "another name",
    "= 3": "correct the file",
}


@pytest.mark.parametrize("text", BAD_USER)
def test_bad_user_file(text: str, user: Path) -> None:
    user.write_text(text)
    with pytest.raises(InspanError) as caught:
        load(None, environ={})
    assert BAD_USER[text] in (caught.value.do or ""), str(caught.value)
    assert str(user) in (caught.value.where or "")
    assert "sk-" not in str(caught.value)


def test_files_that_cannot_be_read(user: Path, repo: Path, tmp_path: Path) -> None:
    user.mkdir()
    with pytest.raises(InvalidSpec, match="not a regular file"):
        load(None, environ={})
    user.rmdir()
    (tmp_path / "real.toml").write_text("scope = ['a']\n")
    (repo / "inspan.toml").symlink_to(tmp_path / "real.toml")
    with pytest.raises(InvalidSpec, match="symbolic link"):
        load(str(repo), environ={})
    user.symlink_to(tmp_path / "real.toml")  # the user's own file may be a link
    assert load(None, environ={}).scope == ("a",)
    (repo / "inspan.toml").unlink()
    os.mkfifo(repo / "inspan.toml")
    with pytest.raises(InvalidSpec, match="not a regular file"):
        load(str(repo), environ={})


def test_environment(user: Path) -> None:
    good = {"INSPAN_BACKEND": "a@b/c", "INSPAN_SANDBOX": "none", "INSPAN_ALLOW_NONE": "1", "INSPAN_MIN_SANDBOX": "none",
            "INSPAN_TIMEOUT": "1", "INSPAN_STALL": "2.5", "INSPAN_DELIVER": "none"}  # fmt: skip
    assert set(good) == set(ENVIRONMENT)
    found = load(None, environ=good)
    assert (found.backend, found.sandbox, found.allow_none, found.stall) == ("a@b/c", "none", True, 2.5)
    for variable, value in (("INSPAN_TIMEOUT", "x"), ("INSPAN_ALLOW_NONE", "maybe"), ("INSPAN_DELIVER", "merge")):
        with pytest.raises(InvalidSpec) as caught:
            load(None, environ={variable: value})
        assert variable in (caught.value.where or "")
    with pytest.raises(InvalidSpec) as caught:
        load(None, environ={"INSPAN_BAKCEND": "x"})
    assert "INSPAN_BACKEND" in (caught.value.do or "")
    assert load(None, environ={"INSPAN_SANDBOX": "auto"}).sandbox == "auto"
    for variable, level in (("INSPAN_SANDBOX", "x"), ("INSPAN_MIN_SANDBOX", "auto")):
        with pytest.raises(UnknownName):
            load(None, environ={variable: level})


def test_fill() -> None:
    config = Configuration(
        backend="a@b/c", timeout=5, scope=("src/**",), checks=(Check(name="unit", command="x"),), deliver="patch"
    )
    filled = fill(Job(prompt="x"), config)
    assert (filled.backend, filled.timeout, filled.scope, filled.deliver) == ("a@b/c", 5, ("src/**",), "patch")
    assert filled.checks == config.checks and filled.sandbox == "auto" and filled.stall == Job(prompt="x").stall
    own = Job(prompt="x", backend="d@e/f", scope=("lib/**",), timeout=7)
    assert fill(own, config).scope == ("lib/**",) and fill(own, config).timeout == 7
    assert fill(Job(prompt="x"), config, given={"timeout"}).timeout == Job(prompt="x").timeout
    assert fill(Job(prompt="x", unchecked=True), config).checks == ()
    quiet = fill(Job(prompt="x", read_only=True), config)
    assert (quiet.scope, quiet.deliver) == ((), "branch")


def test_gc_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = tmp_path / "config.toml"
    monkeypatch.setenv("INSPAN_CONFIG", str(user))
    user.write_text('[gc]\nlayers = "2d"\nartifacts = "90m"\n')
    found = load(None, environ={}).gc
    assert (found.layers, found.artifacts, found.workspaces) == (172800.0, 5400.0, 3600.0)
    for bad, word in (('layers = "2 days"', "duration"), ("layers = 3", "duration"), ('leyers = "2d"', "layers")):
        user.write_text(f"[gc]\n{bad}\n")
        with pytest.raises(InvalidSpec, match=word):
            load(None, environ={})
