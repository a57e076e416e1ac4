"""Configuration: the repository's ``inspan.toml``, the user's ``config.toml``, ``INSPAN_*``; later wins.

The user's file is trusted. The repository's file is not: it may say how the work is checked and set up, and nothing
that chooses programs, providers, credentials, confinement or what is shared. Every effective value knows where it
came from.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from inspan.errors import InvalidSpec
from inspan.spec import backends, tables
from inspan.spec.backends import BackendTable, EgressTable
from inspan.spec.decode import convert, refuse_unknown
from inspan.spec.files import read_file
from inspan.spec.globs import Globs
from inspan.spec.job import Check, Deliver
from inspan.spec.limits import Limits, limits
from inspan.spec.paths import REPOSITORY_CONFIG, user_config
from inspan.spec.tables import GcTable, ProviderTable
from inspan.spec.validate import directories, known_level, seconds, share_path


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """The effective configuration.

    Attributes:
        backend: used when a job names none; None without one.
        sandbox: level used when a job says ``auto``; itself ``auto`` when nobody configured one.
        allow_none: level ``none`` may be chosen with a real provider.
        min_sandbox: the weakest level any job may use, None without such a demand.
        checks, scope, setup, setup_inputs: defaults of a job; ``setup_inputs`` are globs of the files the
            set-up commands read.
        share: git-ignored directories of the checkout shown read-only. writable: directories of the host the agent may
            write to. pass_env: names of environment variables let in.
        timeout, stall: seconds; None when not configured. deliver: None when not configured.
        backends: what is granted to a backend, by ``harness@provider/model``. egress: what holds for every grant.
        harnesses: declared harnesses by name, as they stand in the file. providers: declared providers.
        limits: of every process tree of a job. gc: how long what jobs leave behind is kept.
        origins: where each key's value comes from, ``default`` included.
        repository_digest: ``sha256:`` of the repository's file as read, None without one.
    """

    backend: str | None = None
    sandbox: str = "auto"
    allow_none: bool = False
    min_sandbox: str | None = None
    checks: tuple[Check, ...] = ()
    scope: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    setup_inputs: tuple[str, ...] = ()
    share: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    pass_env: tuple[str, ...] = ()
    timeout: float | None = None
    stall: float | None = None
    deliver: Deliver | None = None
    backends: dict[str, BackendTable] = msgspec.field(default_factory=dict)
    egress: EgressTable = EgressTable()
    harnesses: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    providers: dict[str, ProviderTable] = msgspec.field(default_factory=dict)
    limits: Limits = Limits()
    gc: GcTable = GcTable()
    origins: dict[str, str] = msgspec.field(default_factory=dict)
    repository_digest: str | None = None

    @property
    def default_backend(self) -> str | None:
        """The backend of a job that names none."""
        return self.backend


def _text(value: Any, where: str) -> str:
    return convert(value, str, where)


def _flag(value: Any, where: str) -> bool:
    return convert(value, bool, where)


def _level(value: Any, where: str) -> str:
    name = _text(value, where)
    known_level(name, where)
    return name


def _asked_level(value: Any, where: str) -> str:
    return "auto" if value == "auto" else _level(value, where)


def _seconds(value: Any, where: str) -> float:
    found = convert(value, float, where)
    seconds(where, found)
    return found


def _globs(value: Any, where: str) -> tuple[str, ...]:
    patterns = convert(value, tuple[str, ...], where)
    try:
        return Globs(patterns).patterns
    except InvalidSpec as error:
        raise InvalidSpec(error.what, where=where, do=error.do) from None


def _strings(value: Any, where: str) -> tuple[str, ...]:
    found = convert(value, tuple[str, ...], where)
    if any(not s.strip() or "\0" in s for s in found):
        raise InvalidSpec("an entry is empty or holds a NUL", where=where, do="remove it")
    return found


def _shares(value: Any, where: str) -> tuple[str, ...]:
    return tuple(share_path(s, where) for s in convert(value, tuple[str, ...], where))


def _directories(value: Any, where: str) -> tuple[str, ...]:
    return directories(convert(value, tuple[str, ...], where), where)


def _deliver(value: Any, where: str) -> str:
    return convert(value, Deliver, where)  # type: ignore[arg-type]


KEYS: Final[dict[str, Callable[[Any, str], Any]]] = {
    "backend": _text,
    "sandbox": _asked_level,
    "allow_none": _flag,
    "min_sandbox": _level,
    "checks": tables.checks,
    "scope": _globs,
    "setup": _strings,
    "setup_inputs": _globs,
    "share": _shares,
    "writable": _directories,
    "pass_env": _strings,
    "timeout": _seconds,
    "stall": _seconds,
    "deliver": _deliver,
    "backends": backends.backends,
    "egress": backends.egress,
    "harnesses": tables.harnesses,
    "providers": tables.providers,
    "limits": limits,
    "gc": tables.gc,
}
"""Every key of the user's ``config.toml``, with what reads it."""

REPOSITORY_KEYS: Final = ("checks", "scope", "setup", "setup_inputs")
"""The keys the repository's untrusted ``inspan.toml`` may set."""

ENVIRONMENT: Final[dict[str, str]] = {
    "INSPAN_BACKEND": "backend",
    "INSPAN_SANDBOX": "sandbox",
    "INSPAN_ALLOW_NONE": "allow_none",
    "INSPAN_MIN_SANDBOX": "min_sandbox",
    "INSPAN_TIMEOUT": "timeout",
    "INSPAN_STALL": "stall",
    "INSPAN_DELIVER": "deliver",
}
"""Environment variables that set a key."""

OTHER_VARIABLES: Final = ("INSPAN_HOME", "INSPAN_CONFIG")
"""Variables with a meaning of their own: the state directory and the user's file."""

_INSIDE = ("REPORT", "BASE_URL", "API_KEY", "TOKEN", "TREE", "EVIDENCE", "ROOT", "ONLY")
_NOT_READ: Final = (*OTHER_VARIABLES, *(f"INSPAN_{word}" for word in _INSIDE))
# What Inspan sets inside its sandboxes, where a check may run Inspan itself; and a prefix for its own tests.
_TESTS = "INSPAN_TEST_"


def load(repo_toplevel: str | None, *, environ: Mapping[str, str] | None = None) -> Configuration:
    """Read and merge every source. Nothing is created; files that do not exist count as empty.

    Raises:
        InvalidSpec: for an unreadable or malformed file, an unknown key (names the nearest), a bad value, or a key the
            repository's file may not set.
        UnknownName: for an unknown sandbox level.
    """
    values: dict[str, Any] = {}
    origins = dict.fromkeys(KEYS, "default")
    digest = None
    user = user_config()
    if repo_toplevel is not None:
        path = Path(repo_toplevel) / REPOSITORY_CONFIG
        data = read_file(path, follow=False)
        if data is not None:
            digest = "sha256:" + hashlib.sha256(data).hexdigest()
            document = _toml(data, path)
            _refuse_untrusted(document, path, user)
            _merge(document, str(path), values, origins)
    data = read_file(user, follow=True)
    if data is not None:
        document = _toml(data, user)
        refuse_unknown(document, KEYS, str(user))
        _merge(document, str(user), values, origins)
    for variable, key, value in _environment(os.environ if environ is None else environ):
        values[key] = KEYS[key](value, variable)
        origins[key] = variable
    return Configuration(**values, origins=origins, repository_digest=digest)


def _merge(document: Mapping[str, Any], where: str, values: dict[str, Any], origins: dict[str, str]) -> None:
    for key, value in document.items():
        values[key] = KEYS[key](value, where if isinstance(value, Mapping) else f"{where}, {key}")
        origins[key] = where


def _environment(environ: Mapping[str, str]) -> list[tuple[str, str, Any]]:
    found: list[tuple[str, str, Any]] = []
    for variable in sorted(v for v in environ if v.startswith("INSPAN_")):
        if variable in _NOT_READ or variable.startswith(_TESTS):
            continue
        refuse_unknown({variable: None}, (*ENVIRONMENT, *OTHER_VARIABLES), "the environment")
        key, text = ENVIRONMENT[variable], environ[variable]
        if KEYS[key] is _seconds:
            found.append((variable, key, _number(text, variable)))
        elif KEYS[key] is _flag:
            found.append((variable, key, _truth(text, variable)))
        else:
            found.append((variable, key, text))
    return found


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidSpec(f"{text!r} is not a number", where=where, do="give seconds, like 600") from None


def _truth(text: str, where: str) -> bool:
    words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    if text.lower() not in words:
        raise InvalidSpec(f"{text!r} is neither yes nor no", where=where, do="give 1 or 0")
    return words[text.lower()]


def _refuse_untrusted(document: Mapping[str, Any], path: Path, user: Path) -> None:
    for key in document:
        if key in KEYS and key not in REPOSITORY_KEYS:
            raise InvalidSpec(
                f"the repository's file may not set {key!r}: whoever can change the repository would choose it",
                where=str(path),
                do=f"set it in {user}; here only {', '.join(REPOSITORY_KEYS)} are read",
            )
    refuse_unknown(document, REPOSITORY_KEYS, str(path))


def _toml(data: bytes, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidSpec(f"not a TOML document: {error}", where=str(path), do="correct the file") from None
