"""A digest can be made of any output at all, none included: a gate that falls over on it proves nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspan.gate.digest import LIMIT, digest
from inspan.gate.runners.registry import detect
from inspan.redact import Redactor

COMMANDS = ("pytest -q", "python -m unittest", "go test ./...", "cargo test", "sh x.sh")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("output", [b"", b"\n", b"one line", b"\xff\xfe\x00", b"error: x\n" * 5000])
def test_of_any_output(command: str, output: bytes) -> None:
    said = digest(output, runner=detect(command), run=None, redactor=Redactor(), note="a note")
    assert said.startswith("a note") and len(said.encode()) <= LIMIT


@given(
    st.lists(
        st.sampled_from([b"", b" --> a.py:1:2", b"E501 long", b"a.ts(1,2): error TS1: x", b"FAIL a", b"--- FAIL: T"])
    )
)
def test_of_any_lines(lines: list[bytes]) -> None:
    for command in COMMANDS:
        assert len(digest(b"\n".join(lines), runner=detect(command), run=None, redactor=Redactor()).encode()) <= LIMIT
