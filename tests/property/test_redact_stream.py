"""No secret survives, in any printed form, however the stream is cut."""

from __future__ import annotations

import base64
import itertools
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspan.redact import MARK, SHORTEST, Redactor, StreamRedactor

SECRETS = ("s3cr3t/value+with=signs", 'quo"te\\back', "päss wörd☃", "canary-0123456789abcdef", "aaaaaaaa")
FORMS = {
    "raw": lambda s: s.encode(),
    "json": lambda s: json.dumps({"k": s}).encode(),
    "json unicode": lambda s: json.dumps({"k": s}, ensure_ascii=False).encode(),
    "url": lambda s: quote(s, safe="").encode(),
    "form": lambda s: quote_plus(s).encode(),
    "hex": lambda s: s.encode().hex().encode(),
    "base64": lambda s: base64.b64encode(s.encode()),
    "base64 shifted 1": lambda s: base64.b64encode(b"x" + s.encode() + b"yz"),
    "base64 shifted 2": lambda s: base64.b64encode(b"ab" + s.encode()),
    "base64 url": lambda s: base64.urlsafe_b64encode(s.encode()),
}


def stream(redactor: Redactor, chunks: list[bytes]) -> bytes:
    one = StreamRedactor(redactor)
    return b"".join(one.feed(c) for c in chunks) + one.flush()


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_caught_at_every_chunk_boundary(secret: str, form: str) -> None:
    printed = FORMS[form](secret)
    whole = b"before " + printed + b" after\n"
    redactor = Redactor([secret], patterns=False)
    assert MARK.encode() in redactor.data(whole)
    for cut in range(len(whole) + 1):
        out = stream(redactor, [whole[:cut], whole[cut:]])
        assert MARK.encode() in out, cut
        assert printed not in out
        assert out.startswith(b"before ") and out.endswith(b" after\n")


@given(
    st.lists(st.one_of(st.sampled_from(SECRETS).map(str.encode), st.binary(max_size=12)), max_size=12),
    st.lists(st.integers(0, 400), max_size=12),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_no_secret_in_any_output_of_any_cut(parts: list[bytes], cuts: list[int], patterns: bool) -> None:
    whole = b"".join(parts)
    redactor = Redactor(SECRETS, patterns=patterns)
    edges = sorted({0, len(whole), *(c for c in cuts if c < len(whole))})
    out = stream(redactor, [whole[a:b] for a, b in itertools.pairwise(edges)])
    # a mark may only be followed or preceded by remains shorter than a secret
    for secret in SECRETS:
        assert secret.encode() not in out
        assert secret.encode() not in redactor.data(whole)


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=6))
def test_a_stream_without_secrets_passes_unchanged(whole: bytes, cuts: list[int]) -> None:
    redactor = Redactor(["never-appears-000"], patterns=False)
    edges = sorted({0, len(whole), *(c for c in cuts if c < len(whole))})
    assert stream(redactor, [whole[a:b] for a, b in itertools.pairwise(edges)]) == whole


@given(st.text(max_size=80))
def test_text_round_trips(text: str) -> None:
    assert Redactor(patterns=False).text(text) == text


def test_the_control_a_redactor_without_hold_back_leaks() -> None:
    redactor = Redactor(["canary-0123456789abcdef"])
    pieces = [b"canary-01234", b"56789abcdef"]
    assert b"".join(redactor.data(p) for p in pieces) == b"".join(pieces)
    assert stream(redactor, pieces) == MARK.encode()


def test_short_values_are_no_secrets() -> None:
    assert Redactor(["a" * (SHORTEST - 1)]).text("a" * (SHORTEST - 1)) == "a" * (SHORTEST - 1)
    assert Redactor(["a" * SHORTEST]).text("a" * SHORTEST) == MARK
