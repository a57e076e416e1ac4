"""The stored form: round trips, the published schema, canonical JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import msgspec
import pytest

from inspan.outcome.canonical import canonical, digest
from inspan.outcome.reasons import Action, Verdict
from inspan.outcome.records import BackendRecord, Change, Facets, FileChange, Outcome, decode, encode
from inspan.outcome.schema import document, schema

DOCS = Path(__file__).resolve().parents[3] / "docs"


def outcome(**more: object) -> Outcome:
    return Outcome(
        job="j1", verdict=Verdict.ACCEPTED, reason="verified", reasons=("verified",), required_action=Action.NONE,
        facets=Facets(), backend=BackendRecord(harness="bare", provider="rehearsal", model="any"), **more,
    )  # fmt: skip


def test_round_trip_and_every_field_is_written() -> None:
    one = outcome(change=Change(base="0" * 40, files=(FileChange(path="a\nb ü", status="added", added=1),)))
    assert decode(encode(one)) == one
    assert set(json.loads(encode(one))) == {f.encode_name for f in msgspec.structs.fields(Outcome)}
    jsonschema.validate(json.loads(encode(one)), schema())


def test_names_that_are_not_utf8_survive() -> None:
    one = outcome(change=Change(base="0" * 40, files=(FileChange(path="x\udcff", status="added"),)))
    assert b"\\udcff" in encode(one)
    assert decode(encode(one)) == one


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"schema":"inspan.outcome/2"}', b'{"job":"j"}', b'"\\udcff"'])
def test_what_is_no_outcome_is_refused(data: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        decode(data)


def test_fields_of_a_newer_minor_version_are_ignored() -> None:
    data = {**json.loads(encode(outcome())), "new_field": 1}
    assert decode(json.dumps(data)) == outcome()
    jsonschema.validate(data, schema())


def test_the_published_schema_is_current() -> None:
    assert (DOCS / "reference" / "outcome.schema.json").read_text(encoding="utf-8") == document()


def test_the_designs_example_validates() -> None:
    block = re.search(r"### 5\.1 .*?```json\n(.*?)```", (DOCS / "design.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block
    example = json.loads(block[1])
    example["violations"], example["checks"] = example["violations"][:1], example["checks"][:1]
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(example, schema())
    read = msgspec.convert(example, Outcome)
    assert read.verdict is Verdict.ACCEPTED and read.usage.requests == 4


@pytest.mark.parametrize(
    "change", [{"verdict": "fine"}, {"schema": "inspan.outcome/2"}, {"facets": {"scope": "maybe"}}, {"attempt": "one"}]
)
def test_control_the_schema_refuses(change: dict) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**json.loads(encode(outcome())), **change}, schema())


def test_canonical() -> None:
    assert canonical({"b": [1, "ü"], "a": None}) == '{"a":null,"b":[1,"ü"]}'.encode()
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})
    assert canonical(Facets()) == canonical(msgspec.to_builtins(Facets()))
    assert canonical("x\udcff") == b'"x\xed\xb3\xbf"'
    assert digest({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize("value", [{1: "a"}, {"a": {1: 2}}, float("nan"), object()])
def test_canonical_refuses_what_has_no_one_form(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical(value)
