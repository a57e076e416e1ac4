"""``harness@provider/model``: parsing, and refusing names nobody knows. Nothing ever falls through to a default."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from inspan.errors import InvalidSpec, UnknownName
from inspan.spec.nearest import suggestion

FORM: Final = "harness@provider/model"
_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,62}")


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
        if not _NAME.fullmatch(name):
            raise _bad(text, f"{name!r} cannot be the name of a {part}")
    if not model or model != model.strip() or any(c.isspace() or ord(c) < 32 for c in model):
        raise _bad(text, f"{model!r} cannot be a model: it is empty or holds white space")
    return Backend(harness, provider, model)


def known_backend(text: str, harnesses: Iterable[str], providers: Iterable[str]) -> Backend:
    """Parse a backend whose harness and provider must be among the known ones.

    Raises:
        InvalidSpec: for a malformed backend.
        UnknownName: for a harness or provider nobody knows; names the nearest.
    """
    backend = parse_backend(text)
    for part, name, known in (
        ("harness", backend.harness, tuple(harnesses)),
        ("provider", backend.provider, tuple(providers)),
    ):
        if name not in known:
            raise UnknownName(f"no {part} is called {name!r}", where=f"backend {text!r}", do=suggestion(name, known))
    return backend


def _bad(text: str, why: str) -> InvalidSpec:
    return InvalidSpec(f"bad backend {text!r}: {why}", do=f"write {FORM}, like claude-code@anthropic/MODEL")
