"""Strict decoding with errors people can act on. Used by jobs and configuration alike."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from inspan.errors import InvalidSpec
from inspan.spec.nearest import suggestion

T = TypeVar("T")
_UNKNOWN = re.compile(r"Object contains unknown field `([^`]*)`(?: - at `\$\.?([^`]*)`)?")
_PLACE = re.compile(r"(.*) - at `\$\.?([^`]*)`", re.DOTALL)


def parse_json(data: bytes, where: str) -> Any:
    """A JSON document; duplicate keys are refused, because one of the two would be dropped silently.

    Raises:
        InvalidSpec: when it does not parse.
    """
    try:
        return json.loads(data, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise InvalidSpec(f"not a JSON document: {error}", where=where, do="correct the document") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return made


def convert(document: Any, kind: type[T], where: str) -> T:
    """``document`` as ``kind``, strictly.

    Raises:
        InvalidSpec: naming the field, the nearest known key for an unknown one, and ``where`` it was read.
    """
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise _explained(str(error), kind, where) from None
    except UnicodeEncodeError:
        raise InvalidSpec("a value is not UTF-8", where=where, do="write it as UTF-8 text") from None


def refuse_unknown(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Refuse the first key of ``table`` that nobody knows.

    Raises:
        InvalidSpec: naming the nearest known key.
    """
    names = tuple(known)
    for key in table:
        if key not in names:
            raise InvalidSpec(f"unknown key {key!r}", where=where, do=suggestion(key, names))


def _explained(message: str, kind: type[Any], where: str) -> InvalidSpec:
    unknown = _UNKNOWN.fullmatch(message)
    if unknown:
        key, place = unknown[1], unknown[2]
        names = _fields(kind, place or "")
        return InvalidSpec(
            f"unknown key {key!r}",
            where=f"{where}, in {place}" if place else where,
            do=suggestion(key, names) if names else "remove it",
        )
    placed = _PLACE.fullmatch(message)
    what, place = (placed[1], placed[2]) if placed else (message, "")
    words = _words(_at(kind, place)) if "enum value" in what else ()
    do = f"use one of: {', '.join(words)}" if words else "correct the value"
    return InvalidSpec(what, where=f"{where}, at {place}" if place else where, do=do)


def _fields(kind: type[Any], place: str) -> tuple[str, ...]:
    """Names of the fields at ``place`` (like ``checks[...]``) below ``kind``."""
    current = _at(kind, place)
    fields = current.fields if isinstance(current, msgspec.inspect.StructType) else ()
    return tuple(f.encode_name for f in fields)


def _words(found: Any) -> tuple[str, ...]:
    """The words a type allows, in order of declaration where it has one."""
    if isinstance(found, msgspec.inspect.UnionType):
        return tuple(word for part in found.types for word in _words(part))
    return tuple(map(str, found.values)) if isinstance(found, msgspec.inspect.LiteralType) else ()


def _at(kind: type[Any], place: str) -> Any:
    current: Any = msgspec.inspect.type_info(kind)
    for step in re.findall(r"[^.\[\]]+|\[[^\]]*\]", place):
        if step.startswith("["):
            current = getattr(current, "item_type", None) or getattr(current, "value_type", None)
        elif isinstance(current, msgspec.inspect.StructType):
            current = next((f.type for f in current.fields if f.encode_name == step), None)
        else:
            current = None
    return current
