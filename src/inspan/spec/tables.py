"""The user's own declarations: ``[harnesses.NAME]``, ``[providers.NAME]`` and the ``[checks]`` table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

from inspan.errors import InvalidSpec
from inspan.redact import Redactor
from inspan.spec.decode import convert, refuse_unknown
from inspan.spec.job import Check
from inspan.spec.validate import check_defect

WireName = Literal["anthropic", "openai-chat", "openai-responses"]
WIRES: Final[tuple[str, ...]] = ("anthropic", "openai-chat", "openai-responses")

_HARNESS_NAME = re.compile(r"[a-z][a-z0-9-]{0,62}")
_PROVIDER_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,62}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ProviderTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A provider of the user's own.

    Attributes:
        base_url: the endpoint without the wire's path (no ``/v1``); for every wire named in a list ``wires``.
        wires: wires it speaks: a list of names, or a table from name to its own base URL.
        credential_env: name of the environment variable that holds the credential; none is sent without it.
        header: the header that carries the credential: ``authorization`` (as a bearer) or ``x-api-key``.
    """

    wires: list[WireName] | dict[WireName, str]
    base_url: str | None = None
    credential_env: str | None = None
    header: Literal["authorization", "x-api-key"] = "authorization"

    def urls(self) -> dict[str, str]:
        """Base URL by wire."""
        if isinstance(self.wires, dict):
            return {str(wire): url for wire, url in self.wires.items()}
        return dict.fromkeys(self.wires, self.base_url or "")


class GcTable(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds after which what is left behind may go: ``[gc]``, written like ``"90d"``, ``"12h"``, ``"30m"``.

    Attributes:
        workspaces: of a job that has ended and whose work is kept elsewhere.
        layers: pristine trees and set-ups, since their last use.
        orphans: what no job of the state knows and nobody worked in.
        artifacts: journals and kept files of an ended job; a patch that is in no branch is kept whatever its age.
    """

    workspaces: float = 3600.0
    layers: float = 14 * 86400.0
    orphans: float = 7 * 86400.0
    artifacts: float = 90 * 86400.0


_DURATION = re.compile(r"(\d{1,6})([smhd])")
_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def gc(table: Any, where: str) -> GcTable:
    """The ``[gc]`` table.

    Raises:
        InvalidSpec: for an unknown key or something that is no duration.
    """
    found = {}
    place = f"{where}, [gc]"
    document = _mapping(table, place)
    refuse_unknown(document, GcTable.__struct_fields__, place)
    for key, value in document.items():
        written = _DURATION.fullmatch(value) if isinstance(value, str) else None
        if written is None:
            raise InvalidSpec(f"{value!r} is no duration", where=f"{place}.{key}", do='write it like "14d" or "12h"')
        found[key] = int(written[1]) * _UNITS[written[2]]
    return GcTable(**found)


class _CheckTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    command: str
    timeout: float = 900.0
    junit: str | None = None


def checks(table: Any, where: str) -> tuple[Check, ...]:
    """The ``[checks]`` table: ``NAME = "command"`` or ``NAME = {command = "...", ...}``, in file order.

    Raises:
        InvalidSpec: for anything else.
    """
    found = []
    for name, value in _mapping(table, f"{where}, [checks]").items():
        place = f"{where}, checks.{name}"
        row = _CheckTable(command=value) if isinstance(value, str) else convert(value, _CheckTable, place)
        check = Check(name=name, command=row.command, timeout=row.timeout, junit=row.junit)
        check_defect(check, place)
        found.append(check)
    return tuple(found)


def harnesses(table: Any, where: str) -> dict[str, dict[str, Any]]:
    """The ``[harnesses]`` tables by name, as they stand; their keys are decoded by ``inspan.harness.configured``.

    Raises:
        InvalidSpec: for a bad name, something that is no table, or a value that looks like a credential.
    """
    made = {}
    for name, value in _mapping(table, f"{where}, [harnesses]").items():
        place = f"{where}, harnesses.{name}"
        _named(_HARNESS_NAME, name, "harness", place)
        made[name] = dict(_mapping(value, place))
        _no_secret(value, place)
    return made


def providers(table: Any, where: str) -> dict[str, ProviderTable]:
    """The ``[providers]`` tables, validated.

    Raises:
        InvalidSpec: for a bad name, key, URL or credential reference.
    """
    made = {}
    for name, value in _mapping(table, f"{where}, [providers]").items():
        place = f"{where}, providers.{name}"
        _named(_PROVIDER_NAME, name, "provider", place)
        if name == "rehearsal":
            raise InvalidSpec("the provider 'rehearsal' is built in", where=place, do="choose another name")
        row = convert(value, ProviderTable, place)
        urls = row.urls()
        if not urls:
            raise InvalidSpec("no wire is named", where=f"{place}.wires", do=f"name some of {', '.join(WIRES)}")
        if isinstance(row.wires, dict) and row.base_url is not None:
            raise InvalidSpec("base_url and a table of wires contradict", where=place, do="leave base_url out")
        for wire, url in urls.items():
            _url(url, f"{place}, wire {wire}")
        if row.credential_env is not None and not _VARIABLE.fullmatch(row.credential_env):
            raise InvalidSpec(
                "credential_env is not the name of an environment variable",
                where=f"{place}.credential_env",
                do="give the variable's name, never the credential itself",
            )
        made[name] = row
    return made


def _mapping(table: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(table, Mapping):
        raise InvalidSpec("it is not a table", where=where, do="write it as a TOML table")
    return table


def _named(pattern: re.Pattern[str], name: str, what: str, where: str) -> None:
    if not pattern.fullmatch(name):
        raise InvalidSpec(f"{name!r} cannot be the name of a {what}", where=where, do=f"use {pattern.pattern}")


def _no_secret(value: Any, where: str) -> None:
    if isinstance(value, str) and Redactor().text(value) != value:
        raise InvalidSpec("it looks like a credential", where=where, do="never store secrets here; env takes {token}")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _no_secret(inner, f"{where}.{key}")
    elif isinstance(value, list):
        for inner in value:
            _no_secret(inner, where)


def _url(url: str, where: str) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    why = None
    if parts.scheme not in ("http", "https") or not host:
        why = "it is not an http or https address"
    elif parts.username is not None or parts.password is not None:
        why = "it holds a credential"
    elif parts.query or parts.fragment:
        why = "it has a query or a fragment"
    elif parts.path.rstrip("/").endswith("/v1"):
        why = "it ends in /v1, which belongs to the wire's path"
    if why:
        raise InvalidSpec(f"bad base URL: {why}", where=where, do="write it like https://host or http://127.0.0.1:8000")
