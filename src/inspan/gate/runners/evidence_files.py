"""Files that our shell programs leave about one test program each: ``<run>.begun``, ``.out``, ``.log``, ``.ended``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """One test program that was run.

    Attributes:
        head: lines noted before it began, without the key.
        output: what it printed on standard output.
        log: what it wrote to the log it was given, None when there is none.
        status: its exit status; None when its end was never noted.
    """

    head: tuple[str, ...]
    output: bytes
    log: bytes | None
    status: int | None


def programs(files: Mapping[str, bytes], prefix: str, key: str) -> Iterator[Program | None]:
    """Every test program of a run; None for one whose notes are not ours."""
    for name in files:
        if not name.startswith(prefix) or not name.endswith(".begun"):
            continue
        run = name.removesuffix(".begun")
        head = _keyed(files[name], key)
        if head is None:
            yield None
            continue
        yield Program(
            head=head,
            output=files.get(f"{run}.out", b""),
            log=files.get(f"{run}.log"),
            status=status(files.get(f"{run}.ended"), key),
        )


LONGEST = 4096
"""Characters of one line that are looked at: what a program prints must not cost more than it is long."""


def text(data: bytes) -> str:
    """What a program printed, with lines cut to ``LONGEST``."""
    return "\n".join(line[:LONGEST] for line in data.decode("utf-8", "replace").split("\n"))


def status(data: bytes | None, key: str) -> int | None:
    """The exit status of an ``.ended`` file; None for one that is not there or not ours."""
    lines = _keyed(data, key) if data is not None else None
    return int(lines[0]) if lines and lines[0].isascii() and lines[0].isdigit() and len(lines[0]) < 4 else None


def _keyed(data: bytes, key: str) -> tuple[str, ...] | None:
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return tuple(lines[1:]) if lines[0] == key else None
