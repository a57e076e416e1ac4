"""The tools table: what is shown of a caller's toolchains and, more important, what is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inspan.sandbox.environment import allowed, key_like
from inspan.sandbox.toolchains import CREDENTIAL_FILES
from inspan.sandbox.tools import toolset
from inspan.workspace.plan import Bind


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def shown(path: Path | str, home: Path, checkout: Path | None = None) -> tuple[set[str], dict[str, str]]:
    found = toolset(str(path), checkout=str(checkout) if checkout else None, home=str(home))
    return {os.path.relpath(bind.target, home) for bind in found.binds}, dict(found.left_out)


LAYOUTS = {
    ".cargo/bin": (["bin/cargo", "credentials.toml", "registry/x"], {".cargo/bin"}),
    ".pyenv/shims": (["shims/python", "versions/3.12/bin/python", "bin/pyenv", "cache/x"], {".pyenv/shims", ".pyenv/versions", ".pyenv/bin"}),
    ".nvm/versions/node/v22/bin": (["versions/node/v22/bin/node", ".cache/x"], {".nvm/versions"}),
    ".volta/bin": (["bin/node", "tools/image/x"], {".volta/bin", ".volta/tools"}),
    ".local/share/mise/shims": (["shims/node", "installs/node/22/bin/node"], {".local/share/mise/shims", ".local/share/mise/installs"}),
    ".asdf/shims": (["shims/node", "installs/x", "plugins/p"], {".asdf/shims", ".asdf/installs", ".asdf/plugins"}),
    "miniconda3/bin": (["bin/python", "lib/x", "envs/e/x", ".condarc"], {"miniconda3/bin", "miniconda3/lib", "miniconda3/envs"}),
    "go/bin": (["bin/gopls", "pkg/mod/cache/x", "src/x"], {"go/bin", "go/src"}),
    ".bun/bin": (["bin/bun"], {".bun/bin"}),
    ".deno/bin": (["bin/deno"], {".deno/bin"}),
}  # fmt: skip


@pytest.mark.parametrize("entry", LAYOUTS)
def test_a_row_shows_its_sub_paths_and_nothing_beside_them(home: Path, entry: str) -> None:
    files, wanted = LAYOUTS[entry]
    root = entry.split("/bin")[0].split("/shims")[0].split("/versions")[0]
    for name in files:
        program(home / root / name)
    found, left_out = shown(home / entry, home)
    assert found == wanted
    assert left_out == {}


def test_version_managers_find_themselves_inside(home: Path) -> None:
    program(home / ".pyenv/shims/python")
    program(home / ".cargo/bin/cargo")
    (home / ".rustup/toolchains/stable").mkdir(parents=True)
    found = toolset(f"{home}/.pyenv/shims:{home}/.cargo/bin", checkout=None, home=str(home))
    assert found.env == {"PYENV_ROOT": f"{home}/.pyenv", "RUSTUP_HOME": f"{home}/.rustup"}
    assert f"{home}/.rustup/toolchains" in {bind.target for bind in found.binds}


@pytest.mark.parametrize("name", CREDENTIAL_FILES)
def test_a_directory_with_a_credential_file_is_never_shown(home: Path, name: str) -> None:
    tools = home / "tools" / "bin"
    program(tools / "tool")
    assert shown(tools, home)[0] == {"tools/bin"}  # control: without the file it is
    secret = tools / name
    secret.parent.mkdir(parents=True, exist_ok=True)
    secret.write_text("key")
    found, left_out = shown(tools, home)
    assert found == set()
    assert left_out == {str(tools): f"{tools} holds {name}"}


def test_home_itself_and_what_holds_it_are_never_shown(home: Path, tmp_path: Path) -> None:
    bin_home = tmp_path / "bin"
    program(bin_home / "tool")
    for path, its_home in ((bin_home, bin_home), (bin_home, bin_home / "inner")):
        found = toolset(str(path), checkout=None, home=str(its_home))
        assert found.binds == ()
        assert "home directory" in found.left_out[0][1]


def test_a_link_to_a_script_in_home_dangles_and_home_stays_hidden(home: Path) -> None:
    program(home / "secret-script")
    program(home / ".local/bin/real")
    (home / ".local/bin/linked").symlink_to(home / "secret-script")
    assert shown(home / ".local/bin", home)[0] == {".local/bin"}


def test_links_bring_what_they_lead_to(home: Path) -> None:
    program(home / ".local/lib/node_modules/@x/agent/bin/cli.js")
    program(home / ".local/share/agent/versions/1.2.3")
    (home / ".local/bin").mkdir()
    (home / ".local/bin/agent").symlink_to("../lib/node_modules/@x/agent/bin/cli.js")
    (home / ".local/bin/native").symlink_to(home / ".local/share/agent/versions/1.2.3")
    assert shown(home / ".local/bin", home)[0] == {
        ".local/bin",
        ".local/lib/node_modules",
        ".local/share/agent/versions",
    }


def test_a_virtual_environment_brings_its_interpreter(home: Path) -> None:
    program(home / "pythons/3.12/bin/python3.12")
    checkout = home / "project"
    (checkout / ".venv/bin").mkdir(parents=True)
    (checkout / ".venv/pyvenv.cfg").write_text("home = x\n")
    (checkout / ".venv/bin/python3").symlink_to(home / "pythons/3.12/bin/python3.12")
    assert shown(checkout / ".venv/bin", home, checkout)[0] == {"project/.venv", "pythons/3.12"}


def test_of_the_checkout_only_dependency_directories_are_shown(home: Path) -> None:
    checkout = home / "project"
    program(checkout / "node_modules/.bin/eslint")
    program(checkout / "bin/tool")
    assert shown(checkout / "node_modules/.bin", home, checkout) == ({"project/node_modules"}, {})
    found, left_out = shown(checkout / "bin", home, checkout)
    assert (found, list(left_out)) == (set(), [f"{checkout}/bin"])


def test_a_directory_that_holds_the_checkout_is_left_out(home: Path) -> None:
    root = home / "work" / "bin"
    program(root / "tool")
    assert shown(root, home, root / "project")[0] == set()


def test_what_no_row_covers_is_left_out_and_named(home: Path) -> None:
    (home / "stuff").mkdir()
    found = toolset(f"{home}/stuff:relative/bin:/no/such/dir:/usr/bin", checkout=None, home=str(home))
    assert [entry for entry, _ in found.left_out] == [f"{home}/stuff", "relative/bin", "/no/such/dir"]
    assert found.path.split(":")[0] == "/usr/bin"
    assert found.names == ("system",)


def test_extra_binds_win(home: Path) -> None:
    program(home / ".bun/bin/bun")
    extra = Bind(source="/elsewhere", target=f"{home}/.bun/bin")
    assert toolset(f"{home}/.bun/bin", checkout=None, home=str(home), extra=(extra,)).binds == (extra,)


def test_the_environment_is_an_allow_list() -> None:
    environ = {
        "LANG": "C.UTF-8", "LC_ALL": "C", "TZ": "UTC", "TERM": "xterm", "HOME": "/root", "PATH": "/x", "SSH_AUTH_SOCK": "/s",
        "ANTHROPIC_API_KEY": "k", "GITHUB_TOKEN": "t", "HTTPS_PROXY": "http://u:p@h", "MY_FLAG": "1", "MY_SECRET": "s",
    }  # fmt: skip
    assert allowed(environ) == {"LANG": "C.UTF-8", "LC_ALL": "C", "TZ": "UTC", "TERM": "dumb"}
    assert allowed(environ, ["MY_FLAG", "MY_SECRET", "GITHUB_TOKEN"])["MY_FLAG"] == "1"
    assert set(allowed(environ, ["MY_FLAG", "MY_SECRET", "GITHUB_TOKEN"])) & {"MY_SECRET", "GITHUB_TOKEN"} == set()


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "npm_config__auth", "PGPASSWORD", "DB_PASSWORD", "SESSION_TOKEN"],
)
def test_key_like_names(name: str) -> None:
    assert key_like(name)
    assert not key_like("KEYBOARD") and not key_like("MONKEY_PATCH")


def test_a_shared_environment_brings_its_interpreter_and_not_its_programs(home: Path) -> None:
    checkout, base = home / "repo", home / ".pyenv/versions/3.12"
    program(base / "bin/python3.12")
    program(checkout / ".venv/pyvenv.cfg")
    (checkout / ".venv/bin").mkdir()
    (checkout / ".venv/bin/python3").symlink_to(base / "bin/python3.12")
    (checkout / "node_modules").mkdir()
    without = toolset("/usr/bin", checkout=str(checkout), home=str(home))
    assert without.binds == (), "the row shows nothing"
    found = toolset("/usr/bin", checkout=str(checkout), home=str(home), share=(".venv", "node_modules"))
    assert any(base.is_relative_to(bind.target) for bind in found.binds) and "python-venv" in found.names
    assert str(checkout) not in found.path
    (base / ".netrc").touch()
    refused = toolset("/usr/bin", checkout=str(checkout), home=str(home), share=(".venv",))
    assert ".netrc" in dict(refused.left_out)[f"{checkout}/.venv/bin"] and refused.binds == ()
