"""Reads a request's top level and changes the least of it. Pure."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from inspan.gateway.wire import Wire


class Prepared(NamedTuple):
    """A model request ready to be sent.

    Attributes:
        body: the body for the endpoint; the client's own bytes unless something had to change.
        model: the model the client asked for, None when it named none.
        stream: whether the client asked for a stream.
        strip: whether the answer holds an event that only we asked for.
    """

    body: bytes
    model: str | None
    stream: bool
    strip: bool


def prepare(wire: Wire, body: bytes, model: str) -> Prepared | None:
    """Put the configured model in when the client asked for another, and ask for usage where the wire needs that.

    Only the top-level keys are decoded; every value stays the bytes it came as, so signatures and cache keys hold.

    Returns:
        None when the body is no JSON object.
    """
    try:
        fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        asked = msgspec.json.decode(fields["model"]) if "model" in fields else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    # A second key that some endpoints would read as the model's is taken out along with every repetition.
    twins = [key for key in fields if key != "model" and key.lower() == "model"]
    for key in twins:
        del fields[key]
    changed = bool(twins) or body.count(b'odel"') > 1
    if asked != model:
        fields["model"] = msgspec.Raw(msgspec.json.encode(model))
        changed = True
    strip = wire.prepare(fields)
    stream = bytes(fields.get("stream", b"")).strip() == b"true"
    named = asked if isinstance(asked, str) else None
    return Prepared(msgspec.json.encode(fields) if changed or strip else body, named, stream, strip)
