"""Shapes of keys nobody told us about. The samples are put together at run time, so that no scanner takes them for real."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspan.redact import MARK, Redactor, StreamRedactor

KEY = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
BLOCK = "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabcd+/==\n-----END " + "RSA PRIVATE KEY-----"
SAMPLES = {
    "anthropic": "sk-ant-" + "api03-" + KEY,
    "openai": "sk-" + "proj-" + KEY,
    "github": "ghp_" + KEY,
    "github fine": "github_pat_" + KEY,
    "gitlab": "glpat-" + KEY[:20],
    "aws": "AKIA" + "ABCDEFGHIJKLMNOP",
    "google": "AIza" + KEY[:35],
    "slack": "xoxb-" + "123456789012-" + KEY,
    "hugging face": "hf_" + KEY,
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0In0." + "c2lnbmF0dXJl",
    "bearer": "Bearer " + KEY,
    "private key": BLOCK,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_shape_is_hidden_whole_and_at_every_cut(name: str) -> None:
    sample = SAMPLES[name]
    text = f"log: {sample} end\n"
    redactor = Redactor()
    assert redactor.text(text) == f"log: {MARK} end\n"
    data = text.encode()
    for cut in range(len(data) + 1):
        one = StreamRedactor(redactor)
        assert one.feed(data[:cut]) + one.feed(data[cut:]) + one.flush() == f"log: {MARK} end\n".encode(), cut


def test_byte_by_byte() -> None:
    data = "\n".join(SAMPLES.values()).encode() + b"\n"
    one = StreamRedactor(Redactor())
    out = b"".join(one.feed(data[i : i + 1]) for i in range(len(data))) + one.flush()
    assert out.count(MARK.encode()) == len(SAMPLES)
    assert KEY.encode() not in out


def test_credentials_in_a_url() -> None:
    assert Redactor().text("https://user:hunter22@host/x") == f"https://{MARK}@host/x"
    assert Redactor().text("http://127.0.0.1:8080/x a@b") == "http://127.0.0.1:8080/x a@b"


@pytest.mark.parametrize(
    "text", ["risk-based-approach-to-things-of-note", "task sk-1", "eyJ is base64 of {", "bearer of news", "a" * 5000]
)
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor().text(text) == text


def test_complete_lines_are_not_held_back() -> None:
    one = StreamRedactor(Redactor(["canary-0123456789abcdef"]))
    assert one.feed(b'{"type":"x"}\n') == b'{"type":"x"}\n'
    assert one.feed(b"-----BEGIN CERTIFICATE-----\nabc\n") == b"-----BEGIN CERTIFICATE-----\nabc\n"


def test_a_private_key_without_end_is_hidden_too() -> None:
    assert Redactor().text(BLOCK[: BLOCK.index("-----END")]) == MARK


@given(
    st.lists(
        st.one_of(
            st.sampled_from([*SAMPLES.values(), "https://a:b@", "gsk_" + KEY, "npm-" + KEY, "ASIA" + "Z" * 16]),
            st.sampled_from(
                ["sk-", "gsk-", "://", "a:b@", "-----BEGIN ", "PRIVATE KEY-----", "bearer ", "eyJ", " ", "\n", "."]
            ),
            st.text("aZ0_-@:/", max_size=40),
            st.just("canary+0123/abc"),
        ),
        max_size=12,
    ).map("".join)
)
@settings(deadline=None)
def test_searching_by_literals_finds_what_the_one_big_pattern_finds(text: str) -> None:
    redactor = Redactor(["canary+0123/abc", "aaaaaaaa"])
    assert redactor._regex is not None
    assert redactor.data(text.encode()) == redactor._regex.sub(MARK.encode(), text.encode())
