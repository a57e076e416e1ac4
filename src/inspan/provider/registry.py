"""Providers: model endpoints, the wires they speak, and the *name* of the variable that holds the credential."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

import msgspec

from inspan.errors import ProviderError, UnknownName
from inspan.spec.config import Configuration
from inspan.spec.nearest import suggestion
from inspan.spec.tables import WIRES, ProviderTable

REHEARSAL: Final = "rehearsal"
"""The built-in provider whose scripted model costs nothing and uses no network."""


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """One model endpoint.

    Attributes:
        wires: base URL (without the wire's path) by wire; empty URLs for the rehearsal, which is in process.
        credential_env: name of the environment variable that holds the credential; None when none is needed.
        header: the request header that carries it: ``x-api-key``, or ``authorization`` as a bearer.
        hosts: host names its traffic goes to.
    """

    name: str
    wires: dict[str, str]
    credential_env: str | None = None
    header: str = "authorization"
    hosts: tuple[str, ...] = ()


def _made(name: str, wires: dict[str, str], credential_env: str | None, header: str) -> Provider:
    urls = {wire: url.rstrip("/") for wire, url in wires.items()}
    hosts = dict.fromkeys(urlsplit(url).hostname or "" for url in urls.values())
    return Provider(
        name=name, wires=urls, credential_env=credential_env, header=header, hosts=tuple(h for h in hosts if h)
    )


_OPENAI = "https://api.openai.com"
_OPENROUTER = "https://openrouter.ai/api"
BUILT_IN: Final[dict[str, Provider]] = {
    p.name: p
    for p in (
        _made("anthropic", {"anthropic": "https://api.anthropic.com"}, "ANTHROPIC_API_KEY", "x-api-key"),
        _made("openai", {"openai-responses": _OPENAI, "openai-chat": _OPENAI}, "OPENAI_API_KEY", "authorization"),
        _made(
            "openrouter", {"openai-chat": _OPENROUTER, "anthropic": _OPENROUTER}, "OPENROUTER_API_KEY", "authorization"
        ),
        _made(REHEARSAL, dict.fromkeys(WIRES, ""), None, "authorization"),
    )
}
"""The shipped providers by name."""


def names(config: Configuration) -> list[str]:
    """Every provider that can be named, sorted."""
    return sorted({*BUILT_IN, *config.providers})


def provider(name: str, config: Configuration) -> Provider:
    """The provider called ``name``; the user's own declaration wins over a shipped one of the same name.

    Raises:
        UnknownName: naming the nearest; never a default.
    """
    declared = config.providers.get(name)
    if declared is not None:
        return _declared(name, declared)
    if name not in BUILT_IN:
        raise UnknownName(
            f"no provider is called {name!r}",
            where="shipped providers and [providers] of the user's configuration",
            do=suggestion(name, names(config)),
        )
    return BUILT_IN[name]


def _declared(name: str, table: ProviderTable) -> Provider:
    return _made(name, table.urls(), table.credential_env, table.header)


def credential(p: Provider, environ: Mapping[str, str]) -> str | None:
    """The credential of ``p`` from ``environ``, None when it needs none.

    Raises:
        ProviderError: (``auth``) when the variable is missing, empty, or cannot stand in a header.
    """
    if p.credential_env is None:
        return None
    value = environ.get(p.credential_env, "").strip()
    if not value or not value.isprintable() or not value.isascii():
        state = "is not set" if not value else "holds characters that cannot stand in a header"
        raise ProviderError(
            f"the credential of provider {p.name!r} is missing: {p.credential_env} {state}",
            where=f"environment variable {p.credential_env}",
            do=f"export {p.credential_env} with a key of {p.name}, or use --rehearse to try without one",
            reason="auth",
        )
    return value


def common_wire(p: Provider, wires: Iterable[str], harness: str) -> str:
    """The first of a harness's ``wires`` (preferred first) that ``p`` speaks.

    Raises:
        ProviderError: (``model_unavailable``) when they share none; names both lists.
    """
    spoken = tuple(wires)
    for wire in spoken:
        if wire in p.wires:
            return wire
    raise ProviderError(
        f"harness {harness!r} and provider {p.name!r} share no wire",
        where=f"{harness}: {', '.join(spoken)}; {p.name}: {', '.join(p.wires)}",
        do="choose a backend whose provider speaks one of the harness's wires",
        reason="model_unavailable",
    )
