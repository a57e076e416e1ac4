"""The JSON Schema of the outcome, generated from the records: ``python -m inspan.outcome.schema`` prints it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from inspan.outcome.records import SCHEMA, Outcome


def schema() -> dict[str, Any]:
    """The schema of ``inspan.outcome/1`` (JSON Schema 2020-12). Unknown fields are allowed: new ones are additive."""
    (reference,), components = msgspec.json.schema_components([Outcome], ref_template="#/$defs/{name}")
    top = components.pop(reference["$ref"].rsplit("/", 1)[1])
    top["required"] = ["schema", *top["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{SCHEMA.replace('.', ':', 1).replace('/', ':')}",
        **top,
        "$defs": dict(sorted(components.items())),
    }


def document() -> str:
    """The schema as the text that is kept in ``docs/reference/outcome.schema.json``."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(document(), end="")
