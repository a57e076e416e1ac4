"""``harness@provider/model``, parsed. The registries say whether a name is known; nothing falls through."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from inspan.errors import InvalidSpec

FORM: Final = "harness@provider/model"
_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,62}")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", re.ASCII)
"""The class of an adapter that is not registered, like ``package.module.Class``."""


class Backend(msgspec.Struct, frozen=True):
    """A resolved triple. ``model`` is taken verbatim, whatever it holds."""

    harness: str
    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.harness}@{self.provider}/{self.model}"


def parse_backend(text: str) -> Backend:
    """Split a backend: the harness ends at the first ``@``, the provider at the first ``/`` after it.

    Raises:
        InvalidSpec: when a part is missing or malformed.
    """
    harness, at, rest = text.partition("@")
    provider, slash, model = rest.partition("/")
    if not at:
        raise _bad(text, "there is no '@', so it names no harness")
    if not slash:
        raise _bad(text, "there is no '/' after the '@', so it names no provider and model")
    for part, name in (("harness", harness), ("provider", provider)):
        if not _NAME.fullmatch(name) and not (part == "harness" and _DOTTED.fullmatch(name)):
            raise _bad(text, f"{name!r} cannot be the name of a {part}")
    if not model or model != model.strip() or any(c.isspace() or ord(c) < 32 for c in model):
        raise _bad(text, f"{model!r} cannot be a model: it is empty or holds white space")
    return Backend(harness, provider, model)


def _bad(text: str, why: str) -> InvalidSpec:
    return InvalidSpec(f"bad backend {text!r}: {why}", do=f"write {FORM}, like claude-code@anthropic/MODEL")
