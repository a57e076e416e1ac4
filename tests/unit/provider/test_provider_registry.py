"""Providers are found by name or refused; credentials by variable name, never by value."""

from __future__ import annotations

import pytest

from inspan.errors import ProviderError, UnknownName
from inspan.provider.registry import BUILT_IN, common_wire, credential, names, provider
from inspan.spec.config import Configuration
from inspan.spec.tables import WIRES, ProviderTable

LOCAL = ProviderTable(wires=["openai-chat"], base_url="http://127.0.0.1:8000/", credential_env="LOCAL_KEY")
CONFIG = Configuration(providers={"local": LOCAL, "open": ProviderTable(wires={"anthropic": "http://h:1/api"})})


def test_shipped_and_declared() -> None:
    assert names(CONFIG) == sorted([*BUILT_IN, "local", "open"])
    local = provider("local", CONFIG)
    assert local.wires == {"openai-chat": "http://127.0.0.1:8000"}
    assert (local.header, local.credential_env, local.hosts) == ("authorization", "LOCAL_KEY", ("127.0.0.1",))
    assert provider("open", CONFIG).wires == {"anthropic": "http://h:1/api"}
    assert provider("anthropic", CONFIG).header == "x-api-key"
    assert set(provider("rehearsal", CONFIG).wires) == set(WIRES)


@pytest.mark.parametrize("name", ["kimi", "typo", "", "Anthropic", "rehearsals"])
def test_unknown_is_refused_never_defaulted(name: str) -> None:
    with pytest.raises(UnknownName) as caught:
        provider(name, CONFIG)
    assert repr(name) in caught.value.what


def test_credential() -> None:
    local = provider("local", CONFIG)
    assert credential(local, {"LOCAL_KEY": " abc\n"}) == "abc"
    assert credential(provider("open", CONFIG), {}) is None
    assert credential(provider("rehearsal", CONFIG), {}) is None


@pytest.mark.parametrize(
    "environ", [{}, {"LOCAL_KEY": ""}, {"LOCAL_KEY": " "}, {"LOCAL_KEY": "a\nb"}, {"LOCAL_KEY": "ä"}]
)
def test_a_missing_credential_names_its_variable_and_never_a_value(environ: dict[str, str]) -> None:
    with pytest.raises(ProviderError) as caught:
        credential(provider("local", CONFIG), environ)
    assert caught.value.reason == "auth"
    assert "LOCAL_KEY" in caught.value.what
    value = environ.get("LOCAL_KEY", "").strip()
    assert not value or value not in str(caught.value).replace("\n", "")


def test_common_wire() -> None:
    local = provider("local", CONFIG)
    assert common_wire(local, ("anthropic", "openai-chat"), "x") == "openai-chat"
    with pytest.raises(ProviderError, match="share no wire"):
        common_wire(local, ("anthropic",), "x")
