"""What the user's own configuration grants a backend: ``[backends."H@P/M"]``, and ``[egress]`` for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from inspan.errors import InvalidSpec
from inspan.spec.decode import convert
from inspan.spec.egress import destinations
from inspan.spec.validate import backend_text, known_level


class BackendTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One backend.

    Attributes:
        egress: destinations its jobs reach, ``host:port`` in normal form; beside those of a job itself.
        min_sandbox: the weakest level its jobs may use.
    """

    egress: tuple[str, ...] = ()
    min_sandbox: str | None = None


class EgressTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What holds for every grant.

    Attributes:
        private: destinations that may lead to an address that is not global, when they are granted. Naming one here
            grants nothing.
    """

    private: tuple[str, ...] = ()


def backends(table: Any, where: str) -> dict[str, BackendTable]:
    """The ``[backends]`` tables by ``harness@provider/model``.

    Raises:
        InvalidSpec: for something that is no backend, no table or no destination.
        UnknownName: for an unknown sandbox level.
    """
    made = {}
    for name, value in _mapping(table, f"{where}, [backends]").items():
        place = f'{where}, backends."{name}"'
        backend_text(name, place)
        row = convert(value, BackendTable, place)
        if row.min_sandbox is not None:
            known_level(row.min_sandbox, f"{place}.min_sandbox")
        made[name] = msgspec.structs.replace(row, egress=destinations(row.egress, f"{place}.egress"))
    return made


def egress(table: Any, where: str) -> EgressTable:
    """The ``[egress]`` table.

    Raises:
        InvalidSpec: for an unknown key or something that is no destination.
    """
    place = f"{where}, [egress]"
    row = convert(_mapping(table, place), EgressTable, place)
    return EgressTable(private=destinations(row.private, f"{place}.private"))


def _mapping(table: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(table, Mapping):
        raise InvalidSpec("it is not a table", where=where, do="write it as a TOML table")
    return table
