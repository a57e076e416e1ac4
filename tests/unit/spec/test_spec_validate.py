"""A job is normalised or refused with what, where and do."""

from __future__ import annotations

import json
import os

import msgspec
import pytest

from inspan.errors import InvalidSpec, UnknownName, UsageError
from inspan.spec.checkparse import parse_checks
from inspan.spec.job import Check, Job
from inspan.spec.nearest import nearest
from inspan.spec.validate import decode_job, validated

BAD = {
    "empty prompt": ({"prompt": " \n"}, "prompt"),
    "no repo": ({"repo": ""}, "repo"),
    "base like an option": ({"base": "--upload-pack=x"}, "base"),
    "empty base": ({"base": " "}, "base"),
    "base and dirty": ({"base": "HEAD", "dirty": True}, "base"),
    "zero timeout": ({"timeout": 0}, "timeout"),
    "negative stall": ({"stall": -1}, "stall"),
    "endless timeout": ({"timeout": float("inf")}, "timeout"),
    "timeout no number": ({"timeout": float("nan")}, "timeout"),
    "read-only with scope": ({"read_only": True, "scope": ("a",)}, "scope"),
    "read-only with may_change": ({"read_only": True, "may_change": ("a",)}, "may_change"),
    "read-only with a patch": ({"read_only": True, "deliver": "patch"}, "deliver"),
    "bad glob": ({"scope": ("../x",)}, "scope"),
    "bad may_change": ({"may_change": ("[",)}, "may_change"),
    "check name": ({"checks": (Check(name="Unit", command="x"),)}, "check 'Unit'"),
    "check name too long": ({"checks": (Check(name="a" * 32, command="x"),)}, f"check '{'a' * 32}'"),
    "empty check": ({"checks": (Check(name="unit", command=" "),)}, "check 'unit'"),
    "check timeout": ({"checks": (Check(name="unit", command="x", timeout=0),)}, "check 'unit' timeout"),
    "two checks of a name": ({"checks": (Check(name="a", command="x"), Check(name="a", command="y"))}, "checks"),
    "unchecked with a check": ({"unchecked": True, "checks": (Check(name="a", command="x"),)}, "unchecked"),
    "share up": ({"share": ("../node_modules",)}, "share"),
    "share absolute": ({"share": ("/etc",)}, "share"),
    "share home": ({"share": ("~/x",)}, "share"),
    "share the root": ({"share": (".",)}, "share"),
    "share .git": ({"share": ("a/.git/b",)}, "share"),
    "backend": ({"backend": "claude-code"}, "backend"),
    "empty set-up": ({"setup": ("",)}, "setup"),
    "NUL": ({"prompt": "a\0b"}, "prompt"),
    "not UTF-8": ({"scope": ("a\udcff",)}, "scope"),
    "not UTF-8 in a check": ({"checks": (Check(name="a", command="\udcff"),)}, "checks"),
    "wrong type": ({"timeout": "soon"}, "job, at timeout"),
    "wrong delivery": ({"deliver": "merge"}, "job, at deliver"),
}


@pytest.mark.parametrize("name", BAD)
def test_refused(name: str) -> None:
    fields, where = BAD[name]
    with pytest.raises(InvalidSpec) as caught:
        validated(Job(**{"prompt": "do it", **fields}))
    assert caught.value.where == where
    assert caught.value.do and caught.value.what
    assert caught.value.exit_status == 2


def test_normalised() -> None:
    job = validated(
        Job(prompt="x", repo="~/a/../b", scope=["src/**", "src/**"], share=("./node_modules/",), backend="a@b/c")
    )
    assert job.repo == os.path.expanduser("~/b")
    assert (job.scope, job.share) == (("src/**",), ("node_modules",))
    assert validated(job) == job
    assert validated(Job(prompt="x", read_only=True)).deliver == "none"


@pytest.mark.parametrize(("level", "near"), [("sandbx", "sandbox"), ("docker", "auto"), ("", "auto")])
def test_an_unknown_level_names_the_nearest(level: str, near: str) -> None:
    with pytest.raises(UnknownName) as caught:
        validated(Job(prompt="x", sandbox=level))
    assert near in (caught.value.do or "")


def test_decoding() -> None:
    job = validated(Job(prompt="x", checks=(Check(name="unit", command="true"),)))
    assert decode_job(msgspec.json.encode(job)) == job
    assert decode_job(msgspec.to_builtins(job)) == job


@pytest.mark.parametrize(
    ("document", "what", "do"),
    [
        ({"prompt": "x", "scopes": []}, "unknown key 'scopes'", "'scope'"),
        (
            {"prompt": "x", "checks": [{"name": "a", "comand": "x", "command": "y"}]},
            "unknown key 'comand'",
            "'command'",
        ),
        ({"prompt": "x", "dirty": "yes"}, "Expected `bool`", "correct"),
        ({}, "prompt", "correct"),
        ([], "Expected `object`", "correct"),
    ],
)
def test_strict_decoding(document: object, what: str, do: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        decode_job(json.dumps(document).encode())
    assert what in caught.value.what and do in (caught.value.do or "")


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"prompt":"x","prompt":"y"}', b"[" * 100_000])
def test_no_json(data: bytes) -> None:
    with pytest.raises(UsageError):
        decode_job(data)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["unit=pytest -q"], [("unit", "pytest -q")]),
        (["pytest -q"], [("check", "pytest -q")]),
        (["a", "b", "check2=c"], [("check", "a"), ("check3", "b"), ("check2", "c")]),
        (["FOO=1 make test"], [("check", "FOO=1 make test")]),
        (["there=test -f hello.txt"], [("there", "test -f hello.txt")]),
        (["a b=c"], [("check", "a b=c")]),
        (["x" * 32 + "=c"], [("check", "x" * 32 + "=c")]),
        (["unit=a=b"], [("unit", "a=b")]),
        (["unit=a\nb"], [("unit", "a\nb")]),
    ],
)
def test_checks_of_the_command_line(texts: list[str], expected: list[tuple[str, str]]) -> None:
    assert [(c.name, c.command) for c in parse_checks(texts)] == expected


@pytest.mark.parametrize("text", ["", "  ", "unit=", "unit= "])
def test_an_empty_check_is_refused(text: str) -> None:
    with pytest.raises(InvalidSpec):
        parse_checks([text])


def test_nearest() -> None:
    assert nearest("tiemout", ["timeout", "stall"]) == ["timeout"]
    assert nearest("claude", ["bare", "claude-code"]) == ["claude-code"]
    assert nearest("TIMEOUT", ["timeout"]) == ["timeout"]
    assert nearest("zzz", ["timeout"]) == []
    assert nearest("", ["timeout"]) == []
