"""Destinations: one normal form, and nothing in it that could be read in two ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspan.errors import InvalidSpec
from inspan.spec.egress import destination, destinations, parse_destination, require_names


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("index.example:443", "index.example:443"),
        ("Index.Example.:443", "index.example:443"),
        ("localhost:8080", "localhost:8080"),
        ("a_b.example:1", "a_b.example:1"),
        ("bücher.example:443", "xn--bcher-kva.example:443"),
        ("BÜCHER.example.:443", "xn--bcher-kva.example:443"),
        ("XN--BCHER-KVA.example:443", "xn--bcher-kva.example:443"),
        ("127.0.0.1:9999", "127.0.0.1:9999"),
        ("[::1]:80", "[::1]:80"),
        ("[2001:DB8:0::1]:80", "[2001:db8::1]:80"),
        ("  index.example:443 ", "index.example:443"),
    ],
)
def test_normal_form(text: str, normal: str) -> None:
    assert destination(text, "here") == normal
    assert destination(normal, "here") == normal


@pytest.mark.parametrize(
    "text",
    [
        "", ":", "index.example", "index.example:", ":443", "index.example:0", "index.example:65536", "index.example:0443", "index.example:+443",
        "index.example:44 3", "index.example:https", "*.index.example:443", "*:443", "index.example:*", "https://index.example:443", "index.example/x:443",
        "user@index.example:443", "index..example:443", ".index.example:443", "-a.org:443", "a-.org:443", "a b:443", "a\tb:443", "a\0b:443",
        "127.1:80", "2130706433:80", "0x7f.1:80", "0x7f000001:80", "127.0.0.01:80", "1.2.3.4.5:80", "127.0.0.1.:80",
        "a.1:80", "::1:80", "[::1]80", "[::1%lo]:80", "[127.0.0.1]:80", "[a.org]:80", "a%2eorg:80", "index.example:443:443",
        "faß.example:443", "xn--.ß:443", "a" * 64 + ".org:443", ".".join(["a" * 60] * 5) + ":443", "index\u3002example:443\n1", "index.example:４４３",
    ],
)  # fmt: skip
def test_what_is_refused(text: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        destination(text, "--egress")
    assert "HOST:PORT" in str(caught.value) and "--egress" in str(caught.value)


def test_each_grant_once() -> None:
    assert destinations(["a.org:1", "A.org.:1", "b.org:1"], "here") == ("a.org:1", "b.org:1")


def test_an_address_needs_the_users_word() -> None:
    require_names(["index.example:443", "127.0.0.1:9"], ["127.0.0.1:9"], "--egress")
    for private in ([], ["127.0.0.1:8"], ["localhost:9"]):
        with pytest.raises(InvalidSpec, match="private of"):
            require_names(["index.example:443", "127.0.0.1:9"], private, "--egress")
    with pytest.raises(InvalidSpec):
        require_names(["1.1.1.1:443"], [], "--egress")


@given(st.text(max_size=40))
def test_any_text_has_one_normal_form_or_none(text: str) -> None:
    found = parse_destination(text)
    if found is not None:
        assert parse_destination(str(found)) == found
        assert found.host == found.host.lower() and 1 <= found.port <= 65535
        assert not set(found.host) & set("*/@ %[]\r\n\0")


names = st.from_regex(r"[a-z0-9_]{1,8}(\.[a-z0-9_-]{0,5}){0,3}\.?:[0-9]{1,6}", fullmatch=True)


@given(names)
def test_case_and_the_trailing_dot_mean_nothing(text: str) -> None:
    host, _, port = text.rpartition(":")
    plain = parse_destination(text)
    assert parse_destination(text.upper()) == plain
    if plain is not None and not host.endswith(".") and plain.address is None:
        assert parse_destination(f"{host}.:{port}") == plain
