"""In which direction a deciding key moved: what can only make checks harder to pass needs no permission. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from typing import Any

from inspan.gate.decider_keys import Keys

_GROWING = frozenset(("select", "extend-select", "extend-safe-fixes", "markers", "enable", "include"))
_SHRINKING_NAMES = """
    ignore extend-ignore omit exclude extend-exclude disable exclude_lines exclude_also ignores per-file-ignores
    ignorepatterns testpathignorepatterns coveragepathignorepatterns skip-dirs skip-files exclude-rules exclude-files
    exclude-dirs lines norecursedirs
"""
_SHRINKING = frozenset(_SHRINKING_NAMES.split())
_TRUE_IS_STRICT = re.compile(
    r"(^|[._-])(strict\w*|xfail_strict|warn_\w+|disallow_\w+|check_untyped_defs|"
    r"no(?!emit|resolve|lib|check|_)[a-z]\w+|"
    r"exactoptionalpropertytypes|useunknownincatchvariables|checkjs|check-coverage|enabled|overflow-checks|debug-assertions|"
    r"doctest|autotests|failonerror|forbidonly|enable-all|always_run)$",
    re.IGNORECASE,
)
_FALSE_IS_STRICT = re.compile(
    r"(^|[._-])(skiplibcheck|skipdefaultlibcheck|allow\w+|suppress\w+|nocheck|ignore_errors|ignore_missing_imports|"
    r"passwithnotests|continue-on-error|allow_failure)$",
    re.IGNORECASE,
)
_FLOOR = re.compile(
    r"(fail[-_]?under|cover|threshold|(^|[._\s-])min|floor|statements|branches|functions|lines|target|score)",
    re.IGNORECASE,
)
_CEILING = re.compile(r"(max[-_]?warnings|max[-_]complexity|max-\w+|mccabe)", re.IGNORECASE)
_SEVERITY = {"off": 0, "0": 0, "allow": 0, "info": 1, "warn": 1, "1": 1, "warning": 1, "on": 2, "error": 2, "2": 2,
             "deny": 2, "forbid": 3}  # fmt: skip
_STRICT_OPTIONS = frozenset(("--strict-markers", "--strict-config", "--strict", "-Werror", "--doctest-modules"))
_LOUD_OPTIONS = frozenset(
    ("-ra", "-rA", "-q", "-v", "-vv", "--tb=short", "--tb=long", "--showlocals", "-l", "--color=yes", "-n", "auto")
)
_NUMBER = re.compile(r"\d+(\.\d+)?")
_SOFT = re.compile(r"\|\||;|\|(?!\|)|&(?!&)|\bexit\b|\btrue\b")


def differing(before: Keys, after: Keys) -> Iterable[str]:
    """Keys whose change does not merely make checks stricter."""
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old != new and not stricter(key, old, new):
            yield key


def stricter(key: str, before: Any, after: Any) -> bool:
    """Whether this one change can only make checks harder to pass.

    Args:
        key: dotted name in its file; makefile rules begin with ``target``, variables with ``variable``.
        before, after: values, None where there is none.
    """
    name = key.rsplit(".", 1)[-1]
    if name == "addopts":
        return _options(before, after)
    if key.startswith("hook "):
        return before is None
    if key.startswith(("scripts.", "tasks.")):
        return _longer(before, after)
    if key.startswith(("target ", "variable ")):
        return _raised(key, before, after)
    if ".rules." in f".{key}" or key.startswith(("lints.", "workspace.lints.")):
        return _graver(before, after)
    return _by_name(name.lower(), before, after)


def _by_name(name: str, before: Any, after: Any) -> bool:
    if _TRUE_IS_STRICT.search(name):
        return str(after).lower() == "true"
    if _FALSE_IS_STRICT.search(name):
        return str(after).lower() in ("false", "none")
    if name in _GROWING:
        return before is not None and after is not None and _items(before) <= _items(after)
    if name in _SHRINKING and _number(after) is None:
        return before is not None and _items(after or []) <= _items(before)
    if _FLOOR.search(name):
        old, new = _number(before if before is not None else 0), _number(after)
        return old is not None and new is not None and new >= old
    if _CEILING.search(name):
        old, new = _number(before), _number(after)
        return new is not None and (before is None or (old is not None and new <= old))
    return False


def _items(value: Any) -> set[str]:
    if isinstance(value, str):
        return {v.strip() for v in re.split(r"[\n,]", value) if v.strip()}
    return {json.dumps(v, sort_keys=True, default=str) for v in value} if isinstance(value, list | tuple) else set()


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else float(str(value).rstrip("%"))
    except (TypeError, ValueError):
        return None


def _options(before: Any, after: Any) -> bool:
    """Whether options of a test runner were only made louder or stricter, or a floor was raised."""
    try:
        old, new = (shlex.split(v) if isinstance(v, str) else [str(i) for i in v or ()] for v in (before, after))
    except ValueError:
        return False
    gone, come = set(old) - set(new), set(new) - set(old)
    if _floor(new) < _floor(old):
        return False
    harmless = {o for o in gone | come if o.startswith("--cov-fail-under=")}
    come_well = {o for o in come if o in _LOUD_OPTIONS | _STRICT_OPTIONS or o.startswith("--cov=")}
    return come <= come_well | harmless and gone <= _LOUD_OPTIONS | harmless


def _floor(options: list[str]) -> float:
    named = [_number(o.split("=")[1]) for o in options if o.startswith("--cov-fail-under=")]
    return max((n for n in named if n is not None), default=0.0)


def _longer(before: Any, after: Any) -> bool:
    """Whether a script does all it did, in that order, and then something that cannot hide its status."""
    if not isinstance(before, str) or not isinstance(after, str) or not after.startswith(before):
        return False
    rest = after[len(before) :].strip()
    return rest.startswith("&&") and not _SOFT.search(rest.replace("&&", " "))


def _raised(key: str, before: Any, after: Any) -> bool:
    """Whether the same text only names a higher floor."""
    if not isinstance(before, str) or not isinstance(after, str) or not _FLOOR.search(before + key):
        return False
    if _NUMBER.sub("0", before) != _NUMBER.sub("0", after):
        return False
    pairs = list(zip(_NUMBER.finditer(before), _NUMBER.finditer(after), strict=True))
    moved = [(a, b) for a, b in pairs if a[0] != b[0]]
    return all(float(b[0]) > float(a[0]) and _FLOOR.search(before[: a.start()] or key) for a, b in moved)


def _graver(before: Any, after: Any) -> bool:
    """Whether a lint rule became graver; one that appears counts from nothing, one that vanishes goes to nothing."""
    old, new = _severity(before), _severity(after)
    if new is None or (before is not None and old is None):
        return False
    options = isinstance(before, list) and isinstance(after, list) and before[1:] != after[1:]
    return new >= (old or 0) and not options


def _severity(value: Any) -> int | None:
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("level")
    return _SEVERITY.get(str(value).lower())
