"""Canonical JSON: one form of bytes for one value, so that a digest over it means something."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import msgspec


def canonical(obj: Any) -> bytes:
    """``obj`` (records, mappings with text keys, sequences, numbers, text) as canonical JSON.

    Keys are sorted, there is no white space, text is UTF-8 and not escaped beyond what JSON demands. Bytes of file
    names that are not UTF-8 keep their surrogates.

    Raises:
        TypeError: for a value without a JSON form, or keys that are not text.
        ValueError: for a number that is not finite.
    """
    value = msgspec.to_builtins(obj)
    _refuse_other_keys(value)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def digest(obj: Any) -> str:
    """``sha256:`` and the hexadecimal digest over ``canonical(obj)``."""
    return "sha256:" + hashlib.sha256(canonical(obj)).hexdigest()


def _refuse_other_keys(value: Any) -> None:
    # json would write the keys 1 and "1" as the same text.
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not text")
            _refuse_other_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _refuse_other_keys(inner)
