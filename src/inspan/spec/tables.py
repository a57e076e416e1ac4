"""The user's own declarations: ``[harnesses.NAME]``, ``[providers.NAME]`` and the ``[checks]`` table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

from inspan.errors import InvalidSpec
from inspan.redact import Redactor
from inspan.spec.decode import convert, refuse_unknown
from inspan.spec.job import Check
from inspan.spec.validate import check_defect

WireName = Literal["anthropic", "openai-chat", "openai-responses"]
WIRES: Final[tuple[str, ...]] = ("anthropic", "openai-chat", "openai-responses")
PLACEHOLDERS: Final = ("prompt_file", "prompt", "model", "base_url", "workspace", "home", "token", "report")
"""What may stand in braces in a declared harness's ``argv`` and ``env``. ``{token}`` only in ``env``."""

_HARNESS_NAME = re.compile(r"[a-z][a-z0-9-]{0,62}")
_PROVIDER_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,62}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACES = re.compile(r"\{([A-Za-z_]+)\}")


class HarnessTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A harness of the user's own.

    Attributes:
        argv: program and arguments; ``{prompt_file}``, ``{model}``, ``{base_url}``, ``{workspace}``, ``{home}`` and
            ``{report}`` are replaced.
        prompt: how the prompt arrives: ``stdin``, ``file`` (``{prompt_file}``) or ``argument`` (``{prompt}``, or last).
        wire: the model wire it speaks.
        output: what it prints: ``text`` (no structure), ``jsonl`` (Inspan's events, one a line), ``claude-stream`` or
            ``codex-jsonl`` (as those programs print).
        liveness: what shows that it is alive; see ``inspan.harness.contract.Harness``.
        env: further environment variables inside; ``{token}`` stands for the attempt's worthless key.
        deciders: globs of settings files the program discovers in a tree and obeys.
    """

    argv: tuple[str, ...]
    prompt: Literal["stdin", "file", "argument"] = "stdin"
    wire: WireName = "openai-chat"
    output: Literal["text", "jsonl", "claude-stream", "codex-jsonl"] = "text"
    liveness: Literal["events", "wire", "both"] = "both"
    env: dict[str, str] = msgspec.field(default_factory=dict)
    deciders: tuple[str, ...] = ()


class ProviderTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A provider of the user's own.

    Attributes:
        base_url: the endpoint without the wire's path (no ``/v1``); for every wire named in a list ``wires``.
        wires: wires it speaks: a list of names, or a table from name to its own base URL.
        credential_env: name of the environment variable that holds the credential; none is sent without it.
        header: the header that carries the credential: ``authorization`` (as a bearer) or ``x-api-key``.
    """

    wires: list[WireName] | dict[WireName, str]
    base_url: str | None = None
    credential_env: str | None = None
    header: Literal["authorization", "x-api-key"] = "authorization"

    def urls(self) -> dict[str, str]:
        """Base URL by wire."""
        if isinstance(self.wires, dict):
            return {str(wire): url for wire, url in self.wires.items()}
        return dict.fromkeys(self.wires, self.base_url or "")


class _CheckTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    command: str
    timeout: float = 900.0


def checks(table: Any, where: str) -> tuple[Check, ...]:
    """The ``[checks]`` table: ``NAME = "command"`` or ``NAME = {command = "...", timeout = 60}``, in file order.

    Raises:
        InvalidSpec: for anything else.
    """
    found = []
    for name, value in _mapping(table, f"{where}, [checks]").items():
        place = f"{where}, checks.{name}"
        row = _CheckTable(command=value) if isinstance(value, str) else convert(value, _CheckTable, place)
        check = Check(name=name, command=row.command, timeout=row.timeout)
        check_defect(check, place)
        found.append(check)
    return tuple(found)


def harnesses(table: Any, where: str) -> dict[str, dict[str, Any]]:
    """The ``[harnesses]`` tables, validated, each as plain data with every key present.

    Raises:
        InvalidSpec: for a bad name, key, value or placeholder.
    """
    made = {}
    for name, value in _mapping(table, f"{where}, [harnesses]").items():
        place = f"{where}, harnesses.{name}"
        _named(_HARNESS_NAME, name, "harness", place)
        row = convert(value, HarnessTable, place)
        if not row.argv or not row.argv[0]:
            raise InvalidSpec("argv is empty", where=place, do='name the program, like argv = ["my-agent"]')
        for argument in row.argv:
            _placeholders(argument, tuple(p for p in PLACEHOLDERS if p != "token"), f"{place}.argv")
        _prompt_agrees(row, place)
        for variable, text in row.env.items():
            _named(_VARIABLE, variable, "environment variable", f"{place}.env")
            _placeholders(text, PLACEHOLDERS, f"{place}.env.{variable}")
            _no_secret(text, f"{place}.env.{variable}")
        made[name] = msgspec.to_builtins(row)
    return made


def providers(table: Any, where: str) -> dict[str, ProviderTable]:
    """The ``[providers]`` tables, validated.

    Raises:
        InvalidSpec: for a bad name, key, URL or credential reference.
    """
    made = {}
    for name, value in _mapping(table, f"{where}, [providers]").items():
        place = f"{where}, providers.{name}"
        _named(_PROVIDER_NAME, name, "provider", place)
        if name == "rehearsal":
            raise InvalidSpec("the provider 'rehearsal' is built in", where=place, do="choose another name")
        row = convert(value, ProviderTable, place)
        urls = row.urls()
        if not urls:
            raise InvalidSpec("no wire is named", where=f"{place}.wires", do=f"name some of {', '.join(WIRES)}")
        if isinstance(row.wires, dict) and row.base_url is not None:
            raise InvalidSpec("base_url and a table of wires contradict", where=place, do="leave base_url out")
        for wire, url in urls.items():
            _url(url, f"{place}, wire {wire}")
        if row.credential_env is not None and not _VARIABLE.fullmatch(row.credential_env):
            raise InvalidSpec(
                "credential_env is not the name of an environment variable",
                where=f"{place}.credential_env",
                do="give the variable's name, never the credential itself",
            )
        made[name] = row
    return made


def _mapping(table: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(table, Mapping):
        raise InvalidSpec("it is not a table", where=where, do="write it as a TOML table")
    return table


def _named(pattern: re.Pattern[str], name: str, what: str, where: str) -> None:
    if not pattern.fullmatch(name):
        raise InvalidSpec(f"{name!r} cannot be the name of a {what}", where=where, do=f"use {pattern.pattern}")


def _placeholders(text: str, known: tuple[str, ...], where: str) -> None:
    refuse_unknown(dict.fromkeys(_BRACES.findall(text)), known, f"{where}, placeholder in {text!r}")


def _prompt_agrees(row: HarnessTable, where: str) -> None:
    used = {p for argument in row.argv for p in _BRACES.findall(argument)}
    if row.prompt == "file" and "prompt_file" not in used and not any("{prompt_file}" in v for v in row.env.values()):
        raise InvalidSpec(
            "prompt = 'file', but {prompt_file} stands nowhere", where=where, do="put {prompt_file} into argv or env"
        )
    if "prompt_file" in used and row.prompt != "file":
        raise InvalidSpec("argv names {prompt_file}", where=where, do="set prompt = 'file'")
    if "prompt" in used and row.prompt != "argument":
        raise InvalidSpec("argv names {prompt}", where=where, do="set prompt = 'argument', or use {prompt_file}")


def _no_secret(text: str, where: str) -> None:
    if Redactor().text(text) != text:
        raise InvalidSpec("it looks like a credential", where=where, do="never store secrets here; use {token}")


def _url(url: str, where: str) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    why = None
    if parts.scheme not in ("http", "https") or not host:
        why = "it is not an http or https address"
    elif parts.username is not None or parts.password is not None:
        why = "it holds a credential"
    elif parts.query or parts.fragment:
        why = "it has a query or a fragment"
    elif parts.path.rstrip("/").endswith("/v1"):
        why = "it ends in /v1, which belongs to the wire's path"
    if why:
        raise InvalidSpec(f"bad base URL: {why}", where=where, do="write it like https://host or http://127.0.0.1:8000")
