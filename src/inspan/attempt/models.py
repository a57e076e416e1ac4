"""Whether two model names mean different models. Providers answer with dated, prefixed and aliased names."""

from __future__ import annotations

import re

_WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)*[a-z]?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|(?<!\d)\d{6,8}(?!\d)")
_FAMILIES = frozenset(
    {
        "claude", "gpt", "gemini", "gemma", "llama", "qwen", "deepseek", "mistral", "mixtral", "devstral", "codestral",
        "kimi", "glm", "grok", "phi", "nova", "command", "minimax", "haiku", "sonnet", "opus",
    }
)  # fmt: skip
_SIZES = frozenset(
    {"mini", "nano", "lite", "small", "flash", "haiku", "sonnet", "opus", "large", "medium", "pro", "turbo", "air"}
)


def _words(name: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The words of a name, and its version numbers in order."""
    parts = _WORD.findall(_DATE.sub("", name.lower().rpartition("/")[2]))
    numbers = [p for p in parts if p[-1].isdigit()]
    return frozenset(p for p in parts if not p[-1].isdigit()), tuple(n for p in numbers for n in p.split("."))


def clearly_different(asked: str, served: str) -> bool:
    """True only beyond doubt: another family, another size of one family, or another version number.

    A date, a provider's prefix, ``-latest``, a shorter alias or a name of the user's own is no difference.
    """
    (words, numbers), (others, other_numbers) = _words(asked), _words(served)
    families, other_families = words & _FAMILIES, others & _FAMILIES
    if families and other_families and not families & other_families:
        return True
    if not words & others:
        return False  # a name that says nothing about the family: an alias or a deployment
    sizes, other_sizes = words & _SIZES, others & _SIZES
    shared = min(len(numbers), len(other_numbers))
    return sizes != other_sizes or numbers[:shared] != other_numbers[:shared]
