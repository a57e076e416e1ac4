"""Which served names are another model."""

from __future__ import annotations

import pytest

from inspan.attempt.models import clearly_different


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
        ("sonnet", "claude-sonnet-4-5-20250929"),
        ("gpt-5", "gpt-5-2025-08-07"),
        ("openai/gpt-5", "gpt-5"),
        ("gpt-4o", "gpt-4o-2024-08-06"),
        ("ornith-fleet:9b", "ornith-fleet-9b-q4_k_m.gguf"),
        ("kimi-k2", "moonshotai/kimi-k2-0905-preview"),
        ("my-deployment", "gpt-4o-2024-08-06"),
        ("auto", "glm-4.6"),
        ("deepseek-chat", "deepseek-v3.1"),
        ("any", "any"),
    ],
)
def test_the_same_model_by_another_name(asked: str, served: str) -> None:
    assert not clearly_different(asked, served)


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("gpt-5", "gpt-5-mini"),
        ("gpt-5", "gpt-4.1"),
        ("claude-opus-4-1", "claude-sonnet-4-1"),
        ("claude-opus-4-1", "claude-opus-4-0"),
        ("claude-sonnet-4-5", "glm-4.6"),
        ("haiku", "claude-sonnet-4-5"),
        ("gemini-2.5-pro", "gemini-2.5-flash"),
    ],
)
def test_another_model(asked: str, served: str) -> None:
    assert clearly_different(asked, served)
