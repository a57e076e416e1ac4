"""A backend resolves to one triple or is refused by name; nothing falls through to a default."""

from __future__ import annotations

import pytest

from inspan.errors import InvalidSpec, UnknownName
from inspan.routing.backend import Backend, known_backend, parse_backend

HARNESSES = ("bare", "claude-code", "codex", "aider")
PROVIDERS = ("anthropic", "openai", "local", "router", "rehearsal")
RESOLVED = {
    "claude-code@anthropic/claude-x": Backend("claude-code", "anthropic", "claude-x"),
    "claude-code@local/ornith-fleet:9b": Backend("claude-code", "local", "ornith-fleet:9b"),
    "aider@router/openai/gpt-5": Backend("aider", "router", "openai/gpt-5"),
    "bare@local/a:9b": Backend("bare", "local", "a:9b"),
    "bare@local/m@v2": Backend("bare", "local", "m@v2"),
    "bare@local/kimi:x": Backend("bare", "local", "kimi:x"),
    "bare@local//odd/": Backend("bare", "local", "/odd/"),
}
MALFORMED = [
    "kimi:x", "local:a:9b", "typo:x", "claude-code", "sonnet", "", "@", "@/", "bare@", "bare@local", "bare@local/",
    "@local/m", "bare@/m", "local/m", "anthropic/claude-x", "Bare@local/m", "bare @local/m", "bare@lo cal/m",
    "bare@local/ m", "bare@local/m\n", "ba/re@local/m", "bare@@local/m", "-x@local/m", "bare@local/a b",
]  # fmt: skip
UNKNOWN = {
    "claude-cod@anthropic/m": ("claude-cod", "claude-code"),
    "claude@anthropic/m": ("claude", "claude-code"),
    "codx@openai/m": ("codx", "codex"),
    "bare@anthropc/m": ("anthropc", "anthropic"),
    "bare@open-ai/m": ("open-ai", "openai"),
    "bare@kimi/x": ("kimi", "anthropic"),
}


@pytest.mark.parametrize("text", RESOLVED)
def test_resolves_and_prints_back(text: str) -> None:
    assert known_backend(text, HARNESSES, PROVIDERS) == RESOLVED[text]
    assert str(RESOLVED[text]) == text


@pytest.mark.parametrize("text", MALFORMED)
def test_refuses_what_is_no_backend(text: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        parse_backend(text)
    assert repr(text) in caught.value.what
    assert "harness@provider/model" in (caught.value.do or "")


@pytest.mark.parametrize("text", UNKNOWN)
def test_refuses_an_unknown_name_with_the_nearest(text: str) -> None:
    asked, near = UNKNOWN[text]
    with pytest.raises(UnknownName) as caught:
        known_backend(text, HARNESSES, PROVIDERS)
    assert repr(asked) in caught.value.what
    assert near in (caught.value.do or "")
