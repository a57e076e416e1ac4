"""Harnesses by name: shipped, configured, third parties', by dotted path; everything else is refused by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from inspan.errors import HarnessError, InvalidSpec, UnknownName
from inspan.harness.bare import Bare
from inspan.harness.registry import SHIPPED, checked, common_wires, harness, names, refuse_reason

TABLE = {"argv": ["mine", "{prompt_file}"], "wire": "anthropic"}


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped(name: str) -> None:
    assert harness(name).name == name


def test_configured_beside_shipped() -> None:
    assert harness("mine", {"mine": TABLE}).name == "mine"
    assert names({"mine": TABLE}) == sorted([*SHIPPED, "mine"])


@pytest.mark.parametrize(
    ("name", "near"), [("claude", "claude-code"), ("codx", "codex"), ("Bare", "bare"), ("claud_code", "claude-code")]
)
def test_unknown_names_the_nearest(name: str, near: str) -> None:
    with pytest.raises(UnknownName) as e:
        harness(name)
    assert near in str(e.value.do)


def test_unknown_with_nothing_near_lists_all() -> None:
    with pytest.raises(UnknownName) as e:
        harness("zzz", {"mine": TABLE})
    assert all(name in str(e.value.do) for name in (*SHIPPED, "mine"))


def test_a_shipped_name_cannot_be_redefined() -> None:
    with pytest.raises(InvalidSpec):
        harness("codex", {"codex": TABLE})


def test_dotted_path() -> None:
    assert isinstance(harness("inspan.harness.bare.Bare"), Bare)
    for path in ("inspan.harness.bare.Nothing", "no.such.module.Thing", "..", "a."):
        with pytest.raises(UnknownName):
            harness(path)


THIRD_PARTY = """
from inspan.harness.bare import Bare
class Other(Bare):
    name = "other"
class Broken(Bare):
    wires = ("morse",)
class Raising(Bare):
    def __init__(self):
        raise RuntimeError("no")
"""


@pytest.fixture
def third_party(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other_harness.py").write_text(THIRD_PARTY)
    info = tmp_path / "other_harness-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-harness\nVersion: 1.0\n")
    entries = [
        f"{n} = other_harness:{c}" for n, c in {"other": "Other", "broken": "Broken", "raising": "Raising"}.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(["[inspan.harnesses]", *entries]) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "other_harness", raising=False)


def test_entry_points(third_party: None) -> None:
    assert harness("other").name == "other"
    assert {"other", *SHIPPED} <= set(names())


def test_entry_points_are_checked(third_party: None) -> None:
    with pytest.raises(InvalidSpec, match="wires"):
        harness("broken")
    with pytest.raises(HarnessError, match="RuntimeError"):
        harness("raising")


def test_metadata_is_read_only_for_unknown_names() -> None:
    program = (
        "import sys\nfrom inspan.harness.registry import harness\n{}\n"
        "print('importlib.metadata' in sys.modules, 'asyncio' in sys.modules)"
    )

    def imported(line: str) -> str:
        argv = [sys.executable, "-c", program.format(line)]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()[0]

    assert imported("harness('bare'); harness('codex'); harness('claude-code')") == "False"
    assert imported("try: harness('nope')\nexcept Exception: pass") == "True"


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("name", None),
        ("wires", ()),
        ("wires", ["anthropic"]),
        ("liveness", "sometimes"),
        ("counters", "weekly"),
        ("terminal", "yes"),
        ("prompt_by", "telepathy"),
        ("deciders", ("a", 1)),
        ("retries", 3),
    ],
)
def test_attributes_are_checked(attribute: str, value: object) -> None:
    class Candidate(Bare):
        pass

    setattr(Candidate, attribute, value)
    with pytest.raises(InvalidSpec, match=attribute):
        checked(Candidate(), "here")
    checked(Bare(), "here")


def test_signatures_are_checked() -> None:
    class Candidate(Bare):
        def launch(self, prompt):
            return None

    with pytest.raises(InvalidSpec, match=r"launch\(request\)"):
        checked(Candidate(), "here")


def test_refusals() -> None:
    own = harness("mine", {"mine": {**TABLE, "own_login_only": True}})
    assert "own login" in (refuse_reason(own, "anthropic", ["anthropic"]) or "")
    codex = harness("codex")
    assert "openai-responses" in (refuse_reason(codex, "anthropic", ["anthropic"]) or "")
    assert refuse_reason(codex, "openai", ["openai-chat", "openai-responses"]) is None
    assert common_wires(harness("bare"), ["anthropic", "openai-chat"]) == ("openai-chat", "anthropic")
