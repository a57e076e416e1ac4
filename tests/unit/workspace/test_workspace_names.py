"""Which names and links a change may not bring in, each with harmless neighbours."""

from __future__ import annotations

import pytest

from inspan.workspace.names import collision_key, is_dotgit, link_escapes, name_rule
from inspan.workspace.snapshot import looks_secret

DOTGIT = [b".git", b".GIT", b".git.", b".git ", b".git. .", b"git~1", b"GIT~1", b".g\xe2\x80\x8cit", b"\xef\xbb\xbf.git", b".git::$INDEX_ALLOCATION", b".git:x", b"a\\.git", b".git\\x"]  # fmt: skip
HARMLESS = [b".gitignore", b".gitattributes", b".gitmodules", b".github", b"git", b".gi", b"git~2", b"x.git", b".gitx", "größe".encode(), b"a b", b"-x", b"'\"", b"*"]  # fmt: skip


@pytest.mark.parametrize("name", DOTGIT)
def test_what_some_file_system_takes_for_dotgit(name: bytes) -> None:
    assert is_dotgit(name) and name_rule(name) == "dotgit_name"


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_names(name: bytes) -> None:
    assert name_rule(name) is None


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        (b"a\nb", "control_char_name"),
        (b"a\x7f", "control_char_name"),
        (b"a\\b", "control_char_name"),
        (b"\xff", "non_utf8_name"),
        (b".GitModules", "meta_alias_name"),
        (b".gitattributes.", "meta_alias_name"),
        (b".git\xe2\x80\x8cignore", "meta_alias_name"),
        (b"gitmod~1", "meta_alias_name"),
    ],
)
def test_other_rules(name: bytes, rule: str) -> None:
    assert name_rule(name) == rule


@pytest.mark.parametrize(
    ("path", "target", "escapes"),
    [
        (b"l", b"/etc/passwd", True),
        (b"l", b"..", True),
        (b"l", b"../x", True),
        (b"a/l", b"../../x", True),
        (b"a/l", b"b/../../../x", True),
        (b"l", b"a/../../x/../y", True),
        (b"a/l", b"../x", False),
        (b"a/b/l", b"../../x", False),
        (b"l", b"./a/../b", False),
        (b"l", b"a", False),
    ],
)
def test_links(path: bytes, target: bytes, escapes: bool) -> None:
    assert link_escapes(path, target) is escapes


def test_collisions_fold_case_and_composition() -> None:
    assert collision_key(b"README.md") == collision_key(b"readme.MD")
    assert collision_key("é".encode()) == collision_key("e\u0301".encode())
    assert collision_key(b"a") != collision_key(b"b")


@pytest.mark.parametrize("path", [".env", "a/.env.local", "x.PEM", "deploy/server.key", "id_rsa", "credentials.json", ".npmrc", ".netrc", ".ssh/config", "secrets/a.txt"])  # fmt: skip
def test_looks_secret(path: str) -> None:
    assert looks_secret(path)


@pytest.mark.parametrize("path", ["src/app.py", "environment.yml", "keys.py", "pem/readme.md"])
def test_does_not_look_secret(path: str) -> None:
    assert not looks_secret(path)
