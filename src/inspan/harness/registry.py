"""Harnesses by name: the shipped ones, the user's own tables, third parties' entry points, dotted paths."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any, get_args, get_type_hints

from inspan.errors import HarnessError, InvalidSpec, UnknownName
from inspan.harness.contract import Harness, Wire
from inspan.provider.registry import provider
from inspan.routing.backend import parse_backend
from inspan.spec.config import Configuration
from inspan.spec.nearest import suggestion

SHIPPED = {
    "bare": "inspan.harness.bare.Bare",
    "claude-code": "inspan.harness.claude_code.ClaudeCode",
    "codex": "inspan.harness.codex.Codex",
}
ENTRY_POINTS = "inspan.harnesses"
DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


def harness(name: str, config: Mapping[str, Any] | None = None) -> Harness:
    """The harness called ``name``.

    Args:
        name: a shipped name, a name in ``config``, an entry point's name, or a dotted path ``package.module.Class``.
        config: the user's ``[harnesses]`` section: name to table.

    Raises:
        UnknownName: nobody knows it; names the nearest ones.
        InvalidSpec: the table or the third party's class is not a harness.
    """
    tables = config or {}
    if name in SHIPPED:
        if name in tables:
            do = "give the table another name"
            raise InvalidSpec(f"{name!r} is a harness that Inspan ships", where=f"[harnesses.{name}]", do=do)
        return _made(SHIPPED[name], name)
    if name in tables:
        from inspan.harness.configured import Configured

        return Configured(name, tables[name])
    if DOTTED.fullmatch(name):
        return _made(name, name)
    found = _entry_points().get(name)
    if found is None:
        known = names(tables)
        raise UnknownName(f"unknown harness {name!r}", where="the harness of a backend", do=suggestion(name, known))
    return _made(found, name)


def names(config: Mapping[str, Any] | None = None) -> list[str]:
    """Every name that can be used, sorted."""
    return sorted({*SHIPPED, *(config or {}), *_entry_points()})


def refuse_unknown_backends(config: Configuration) -> None:
    """Refuse a ``[backends]`` table of which no job could be meant: what it demands or grants would hold for nobody.

    Raises:
        UnknownName: its harness or its provider is not known.
        InvalidSpec: it is no backend.
    """
    for text in config.backends:
        asked = parse_backend(text)
        try:
            if asked.harness not in names(config.harnesses) and not DOTTED.fullmatch(asked.harness):
                harness(asked.harness, config.harnesses)
            provider(asked.provider, config)
        except UnknownName as error:
            raise UnknownName(error.what, where=f'[backends."{text}"]', do=error.do) from None


def common_wires(harness: Harness, wires: Collection[str]) -> tuple[Wire, ...]:
    """The wires that both a harness and an endpoint speak, in the harness's order of preference."""
    return tuple(wire for wire in harness.wires if wire in wires)


def refuse_reason(harness: Harness, provider: str, wires: Collection[str]) -> str | None:
    """Why ``harness`` cannot be used with ``provider``, which speaks ``wires``; None when it can."""
    if harness.own_login_only:
        return (
            f"{harness.title} works only with its own login, and Inspan does not hand logins into a sandbox yet;"
            " use a harness that takes an API key"
        )
    if not common_wires(harness, wires):
        speaks, offers = ", ".join(harness.wires), ", ".join(sorted(wires)) or "nothing"
        return f"{harness.title} speaks {speaks} and {provider} offers {offers}"
    return None


def checked(candidate: object, where: str) -> Harness:
    """``candidate``, once its attributes and the parameters of its verbs are what the contract says.

    Raises:
        InvalidSpec: names the first thing that is missing or different.
    """
    for attribute in get_type_hints(Harness):
        value = getattr(candidate, attribute, None)
        if value is None:
            raise InvalidSpec(f"a harness needs the attribute {attribute!r}", where=where, do=_SEE)
        _check_value(attribute, value, where)
    for verb in ("locate", "launch", "reader"):
        method = getattr(candidate, verb, None)
        wanted = list(inspect.signature(getattr(Harness, verb)).parameters)[1:]
        given = list(inspect.signature(method).parameters) if callable(method) else None
        if given is None or given[: len(wanted)] != wanted:
            raise InvalidSpec(f"a harness needs {verb}({', '.join(wanted)})", where=where, do=_SEE)
    return candidate  # type: ignore[return-value]


_SEE = "compare with docs/how-to/add-a-harness.md"


def _check_value(attribute: str, value: object, where: str) -> None:
    hint = get_type_hints(Harness)[attribute]
    allowed = get_args(hint)
    if attribute == "wires":
        good = isinstance(value, tuple) and len(value) > 0 and all(wire in get_args(Wire) for wire in value)
    elif attribute == "deciders":
        good = isinstance(value, tuple) and all(isinstance(glob, str) for glob in value)
    else:
        good = value in allowed if allowed else isinstance(value, hint)
    if not good:
        raise InvalidSpec(f"the attribute {attribute!r} of a harness cannot be {value!r}", where=where, do=_SEE)


def _entry_points() -> dict[str, str]:
    """Third parties' harnesses. Read only when a name is not known otherwise: it is slow."""
    from importlib.metadata import entry_points

    return {point.name: point.value.replace(":", ".") for point in entry_points(group=ENTRY_POINTS)}


def _made(path: str, name: str) -> Harness:
    module, _, attribute = path.rpartition(".")
    try:
        factory = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as e:
        do = "name the class as package.module.Class and install its package beside Inspan"
        raise UnknownName(f"no harness at {path!r}: {e}", where=f"harness {name!r}", do=do) from None
    try:
        made = factory()
    except Exception as e:  # a third party's code
        raise HarnessError(f"the harness {name!r} cannot be made: {e!r}", where=path, do=_SEE) from e
    return checked(made, path)
