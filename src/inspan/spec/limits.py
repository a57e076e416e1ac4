"""Limits of one process tree: what a user may set, and what holds when nothing was set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from inspan.errors import InvalidSpec
from inspan.spec.decode import refuse_unknown


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one process tree; None means not limited.

    Attributes:
        memory: bytes of all processes together.
        processes: processes and threads at once.
        cpus: share of the processors, in processors; held only where there is a control group for it.
        cpu_seconds: seconds of processor time of all processes together, as far as they can be counted.
        file_size: bytes of one file.
        open_files: descriptors of one process.
        workspace_bytes, workspace_files: what workspace and scratch home may grow by, in bytes on disk and entries.
        output_bytes: bytes of standard output and error.
    """

    memory: int | None = 8 << 30
    processes: int | None = 1024
    cpus: float | None = None
    cpu_seconds: float | None = None
    file_size: int | None = 1 << 30
    open_files: int | None = 8192
    workspace_bytes: int | None = 4 << 30
    workspace_files: int | None = 200_000
    output_bytes: int | None = 256 << 20


_BYTES: Final = ("memory", "file_size", "workspace_bytes", "output_bytes")
_SHARES: Final = ("cpus", "cpu_seconds")
_SIZE = re.compile(r"(\d{1,9})\s*(B|KiB|MiB|GiB|TiB)")
_UNITS: Final = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
LEAST: Final = {"memory": 32 << 20, "processes": 16, "open_files": 64, "file_size": 1 << 20, "output_bytes": 1 << 16}
"""Below these a harness could not even start, and the limit would be a riddle."""


def limits(table: Any, where: str) -> Limits:
    """The ``[limits]`` table: a number, a size like ``"16GiB"``, or ``"none"`` for no limit.

    Raises:
        InvalidSpec: for an unknown key, something that is no such value, or one with which nothing could run.
    """
    place = f"{where}, [limits]"
    if not isinstance(table, Mapping):
        raise InvalidSpec("it is not a table", where=place, do="write it as a TOML table")
    refuse_unknown(table, Limits.__struct_fields__, place)
    found = {key: _value(key, value, f"{place}.{key}") for key, value in table.items()}
    return msgspec.structs.replace(Limits(), **found)


def _value(key: str, value: Any, where: str) -> float | int | None:
    if value == "none":
        return None
    found: float | int | None = None
    written = _SIZE.fullmatch(value) if isinstance(value, str) and key in _BYTES else None
    if written is not None:
        found = int(written[1]) * _UNITS[written[2]]
    elif isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        found = value if key in _SHARES else int(value) if value == int(value) else None
    if found is None or found < LEAST.get(key, 0):
        like = 'a size like "16GiB"' if key in _BYTES else "a number above zero"
        least = f", at least {LEAST[key]}" if key in LEAST else ""
        raise InvalidSpec(f"{value!r} cannot limit {key}", where=where, do=f'give {like}{least}, or "none"')
    return found
