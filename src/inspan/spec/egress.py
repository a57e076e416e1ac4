"""Destinations a user grants: ``HOST:PORT`` in one normal form, so that a grant is compared and never interpreted.

A grant names one host and one port. The host is lower case, in its ASCII form (``xn--``), without a trailing dot. There
are no wildcards: nobody can say today who will answer under them tomorrow. An address in place of a name is for
destinations that are private on purpose, which only the user's own ``[egress] private`` allows.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from inspan.errors import InvalidSpec

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_LONGEST_NAME = 253


class Destination(NamedTuple):
    """One host and port, in normal form.

    Attributes:
        host: a name, or an address (IPv6 without brackets).
        port: 1 to 65535.
    """

    host: str
    port: int

    @property
    def address(self) -> Address | None:
        """The address, where the host is one and no name."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_destination(text: str) -> Destination | None:
    """``HOST:PORT`` in ASCII as a program sends it, normalised; None when it is nothing that could be granted.

    Names that end in a number are addresses to many programs (``127.1``, ``0x7f.1``): only the usual spelling of an
    address is one here, and everything else that looks like it is refused.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not host or not _PORT.fullmatch(port) or int(port) > 65535 or not text.isascii():
        return None
    if host.startswith("[") and host.endswith("]"):
        address = _address(host[1:-1])
        return Destination(str(address), int(port)) if isinstance(address, ipaddress.IPv6Address) else None
    name = host.lower().removesuffix(".")
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        address = _address(host)
        return Destination(str(address), int(port)) if isinstance(address, ipaddress.IPv4Address) else None
    if len(name) > _LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        return None
    return Destination(name, int(port))


def destination(text: str, where: str) -> str:
    """A grant as a person writes it, in normal form.

    Raises:
        InvalidSpec: for a wildcard, a URL, a missing port, or anything else that is not one host and one port.
    """
    why = None
    if "*" in text:
        why = "wildcards are not granted: name each host"
    elif "/" in text or "@" in text:
        why = "it is an address of the web, not a host and a port"
    found = None if why else parse_destination(_ascii(text.strip()))
    if found is None:
        raise InvalidSpec(
            f"bad destination {text!r}" + (f": {why}" if why else ""),
            where=where,
            do="write HOST:PORT, like index.example:443",
        )
    return str(found)


def destinations(texts: Iterable[str], where: str) -> tuple[str, ...]:
    """Grants in normal form, each once.

    Raises:
        InvalidSpec: see ``destination``.
    """
    return tuple(dict.fromkeys(destination(text, where) for text in texts))


def require_names(granted: Iterable[str], private: Collection[str], where: str) -> None:
    """Refuse an address as a destination that is not private on purpose.

    Raises:
        InvalidSpec: names the first one.
    """
    for text in granted:
        found = parse_destination(text)
        if found is not None and found.address is not None and text not in private:
            raise InvalidSpec(
                f"{text} is an address and no name",
                where=where,
                do=f'name the host, or put "{text}" into private of [egress] in the user\'s configuration',
            )


def _address(text: str) -> Address | None:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return None if getattr(found, "scope_id", None) else found


def _ascii(text: str) -> str:
    """The ASCII form of a name, empty where the two standards of international names disagree about it."""
    if text.isascii():
        return text
    host, colon, port = text.rpartition(":")
    try:
        encoded = host.encode("idna").decode("ascii")
        return f"{encoded}{colon}{port}" if encoded.encode().decode("idna") == host.lower() else ""
    except UnicodeError:
        return ""
