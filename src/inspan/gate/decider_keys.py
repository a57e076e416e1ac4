"""What of a settings file decides a check: the file's keys, by format. Pure.

A file is reduced to ``{key: value}`` holding only the keys that decide; two versions of it are then compared key by
key. A file that cannot be parsed is reduced to one key, its whole text: doubt is a difference.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

Keys = dict[str, Any]
Reduce = Callable[[bytes], Keys]

WHOLE = "(whole file)"

_TOOLS = (
    "pytest", "coverage", "tox", "nox", "mypy", "pyright", "basedpyright", "pyre", "pylint", "flake8", "ruff", "bandit",
    "poe", "taskipy", "pdm.scripts", "hatch.envs", "hatch.build.hooks", "setuptools.cmdclass", "mutmut", "interrogate",
    "importlinter", "codespell", "pyproject-fmt", "inspan",
)  # fmt: skip
_INI = re.compile(
    r"^(tool:)?(pytest|tox|testenv.*|coverage.*|run|report|paths|mypy.*|flake8.*|pylint.*|pycodestyle|pydocstyle|importlinter.*)$"
)
_PACKAGE_JSON = (
    "scripts", "jest", "vitest", "mocha", "ava", "c8", "nyc", "tap", "eslintConfig", "eslintIgnore", "lint-staged",
    "husky", "pre-commit", "simple-git-hooks", "xo", "wireit", "nx", "imports", "babel", "stryker",
)  # fmt: skip


def whole(data: bytes) -> Keys:
    """Every byte decides."""
    return {WHOLE: data.decode("utf-8", "surrogateescape")}


def flat(prefix: str, value: Any) -> Keys:
    """Leaves of nested tables under dotted names; lists are leaves."""
    if not isinstance(value, Mapping) or not value:
        return {prefix: value}
    out: Keys = {}
    for name, inner in value.items():
        out |= flat(f"{prefix}.{name}", inner)
    return out


def _dig(table: Any, dotted: str) -> Any:
    for part in dotted.split("."):
        if not isinstance(table, Mapping) or part not in table:
            return None
        table = table[part]
    return table


def pyproject(data: bytes) -> Keys:
    """Tables of test, lint, type and coverage tools, build hooks and plugin entry points; never the dependencies."""
    table = tomllib.loads(data.decode("utf-8"))
    wanted = [f"tool.{t}" for t in _TOOLS]
    wanted += ["build-system.build-backend", "build-system.backend-path", "project.entry-points.pytest11"]
    wanted += ["tool.poetry.plugins.pytest11", "tool.uv.scripts", "tool.pytest-env"]
    out: Keys = {}
    for dotted in wanted:
        found = _dig(table, dotted)
        if found is not None:
            out |= flat(dotted, found)
    return out


def setup_py(data: bytes) -> Keys:
    """Whether the script installs plugins of a test runner; the rest of it describes a distribution."""
    return {"pytest11": data.count(b"pytest11")} if b"pytest11" in data else {}


def toml_tables(data: bytes) -> Keys:
    """Every key of a TOML file that holds nothing but tool settings."""
    out: Keys = {}
    for name, value in tomllib.loads(data.decode("utf-8")).items():
        out |= flat(name, value)
    return out


def ini(data: bytes) -> Keys:
    """Test, lint, type and coverage sections of an INI file, and pytest plugin entry points."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(data.decode("utf-8"))
    out: Keys = {}
    for section in parser.sections():
        for name, value in parser.items(section):
            plugin = section == "options.entry_points" and name == "pytest11"
            if _INI.match(section) or plugin:
                out[f"{section}.{name}"] = value
    return out


def ini_whole(data: bytes) -> Keys:
    """Every key of an INI file that holds nothing but tool settings."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(data.decode("utf-8"))
    return {f"{s}.{n}": v for s in parser.sections() for n, v in parser.items(s)}


def package_json(data: bytes) -> Keys:
    """Scripts and the sub-tables of test and lint tools; never the dependencies."""
    table = json.loads(data)
    out: Keys = {}
    for name in _PACKAGE_JSON:
        if name in table:
            out |= flat(name, table[name])
    return out


def recipes(data: bytes) -> Keys:
    """Rules and variables of a makefile or justfile: ``{"target test": text, "variable CC": text}``."""
    out: Keys = {}
    current: str | None = None
    for line in data.decode("utf-8", "surrogateescape").splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[:1] in (" ", "\t"):
            key = current if current is not None else "(preamble)"
            out[key] = f"{out.get(key, '')}{line.strip()}\n"
            continue
        assigned = re.match(r"^(?:export\s+|override\s+)*([\w.\-]+)\s*(?:[:?+!]{0,2}=)\s*(.*)$", line)
        if assigned:
            current = f"variable {assigned[1]}"
            out[current] = f"{out.get(current, '')}{line.strip()}\n"
            continue
        target = re.match(r"^([^:=#]+?)\s*:(?!=)", line)
        if target and target[1].split()[0] == ".PHONY":
            current = None  # a declaration without effect on what a rule does
            continue
        current = f"target {target[1].split()[0]}" if target else "(preamble)"
        out[current] = f"{out.get(current, '')}{line.strip()}\n"
    return out


def reduced(reduce: Reduce, data: bytes | None) -> Keys:
    """The deciding keys of one version of a file; none when it does not exist, its whole text when it is unreadable."""
    if data is None:
        return {}
    try:
        return reduce(data)
    except Exception:  # any parser, any error: the text itself is then what decides
        return whole(data)
