"""A backend resolves to one triple or is refused by name; nothing falls through to a default."""

from __future__ import annotations

import pytest

from inspan.errors import InvalidSpec
from inspan.routing.backend import Backend, parse_backend

RESOLVED = {
    "claude-code@anthropic/claude-x": Backend("claude-code", "anthropic", "claude-x"),
    "claude-code@local/ornith-fleet:9b": Backend("claude-code", "local", "ornith-fleet:9b"),
    "aider@router/openai/gpt-5": Backend("aider", "router", "openai/gpt-5"),
    "some_package.module.Class@local/m": Backend("some_package.module.Class", "local", "m"),
    "bare@local/a:9b": Backend("bare", "local", "a:9b"),
    "bare@local/m@v2": Backend("bare", "local", "m@v2"),
    "bare@local/kimi:x": Backend("bare", "local", "kimi:x"),
    "bare@local//odd/": Backend("bare", "local", "/odd/"),
}
MALFORMED = [
    "kimi:x", "local:a:9b", "typo:x", "claude-code", "sonnet", "", "@", "@/", "bare@", "bare@local", "bare@local/",
    "@local/m", "bare@/m", "local/m", "anthropic/claude-x", "Bare@local/m", "bare @local/m", "bare@lo cal/m",
    "bare@some.module.Class/m", "a..B@local/m", ".B@local/m", "a.B.@local/m",
    "bare@local/ m", "bare@local/m\n", "ba/re@local/m", "bare@@local/m", "-x@local/m", "bare@local/a b",
]  # fmt: skip


@pytest.mark.parametrize("text", RESOLVED)
def test_resolves_and_prints_back(text: str) -> None:
    assert parse_backend(text) == RESOLVED[text]
    assert str(RESOLVED[text]) == text


@pytest.mark.parametrize("text", MALFORMED)
def test_refuses_what_is_no_backend(text: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        parse_backend(text)
    assert repr(text) in caught.value.what
    assert "harness@provider/model" in (caught.value.do or "")
