"""JSON that somebody else wrote: read with patience, and given back as values that can be written again. Pure.

Programs cut texts in the middle of a character and print the half as an escape. Such a text decodes, and then cannot be
encoded as UTF-8 by anybody who keeps it.
"""

from __future__ import annotations

import json
from typing import Any


def loads(data: bytes | str) -> Any:
    """The value in ``data``; half characters become ``?``.

    Raises:
        ValueError, RecursionError: it is no JSON, or nests too deep.
    """
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    value = json.loads(text)
    if "\\ud" not in text.lower() and text.isprintable():
        return value
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
