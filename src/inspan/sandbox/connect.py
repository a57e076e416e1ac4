"""The one request the egress proxy understands, ``CONNECT host:port``, read strictly. Pure."""

from __future__ import annotations

import base64
import hmac
import re
from typing import Final, NamedTuple

from inspan.spec.egress import Destination, parse_destination

END: Final = b"\r\n\r\n"
LONGEST: Final = 16 << 10
"""Bytes of a request's head, its end included."""

_REQUEST = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e]+) HTTP/1\.[01]")
_FIELD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*")


class Refusal(NamedTuple):
    """A request that is answered without any connection: HTTP status and a word of ``outcome.records.EGRESS_WHY``."""

    status: int
    why: str


def shows(head: bytes, token: str) -> bool:
    """Whether a well-formed head presents ``token`` as the password of ``Proxy-Authorization: Basic``."""
    for field in head.split(b"\r\n")[1:]:
        name, _, value = field.partition(b":")
        scheme, _, given = value.strip().partition(b" ")
        if name.lower() == b"proxy-authorization" and scheme.lower() == b"basic":
            try:
                password = base64.b64decode(given, validate=True).partition(b":")[2]
            except ValueError:
                return False
            return hmac.compare_digest(password, token.encode())
    return False


def parse(head: bytes) -> Destination | Refusal:
    """What a request's head asks for.

    Args:
        head: everything up to and including the first empty line.
    """
    if not head.endswith(END) or len(head) > LONGEST:
        return Refusal(400, "malformed")
    first, *fields = head[: -len(END)].split(b"\r\n")
    request = _REQUEST.fullmatch(first)
    if request is None or not all(_FIELD.fullmatch(field) for field in fields):
        return Refusal(400, "malformed")
    if request[1] != b"CONNECT":
        return Refusal(405, "method")
    found = parse_destination(request[2].decode("ascii"))
    return Refusal(400, "malformed") if found is None else found
