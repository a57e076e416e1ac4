"""Records as the stations send them: ``station;unix seconds;celsius``."""

from dataclasses import dataclass


class FormatError(ValueError):
    """A line that is no record."""


@dataclass(frozen=True)
class Record:
    """One reading."""

    station: str
    at: int
    celsius: float


def parse(line):
    """One record from its line."""
    parts = line.strip().split(";")
    if len(parts) != 3:
        raise FormatError(f"three fields expected: {line!r}")
    station, at, celsius = parts
    return Record(station, int(at), float(celsius))


def parse_all(text):
    """Every record of a text; empty lines do not count."""
    return [parse(line) for line in text.splitlines() if line.strip()]
