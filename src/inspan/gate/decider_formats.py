"""The deciding keys of the settings of JavaScript, Go, Rust and continuous integration. Pure.

As in ``decider_keys``: a file becomes ``{key: value}``, and what cannot be read becomes its whole text.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

import yaml

from inspan.gate.decider_keys import Keys, flat

_LEAVES = 20_000
_COMPILER = re.compile(
    r"^(strict\w*|no(?!Emit|Lib$|Resolve)\w+|exact\w+|use\w+|alwaysStrict|skip\w+|allow\w+|checkJs|suppress\w+|paths|baseUrl|rootDirs|types|"
    r"typeRoots|isolatedDeclarations|plugins|customConditions)$"
)
_TSCONFIG = ("include", "exclude", "files", "extends", "references")
_CARGO_TARGET = ("test", "doctest", "harness", "path", "required-features", "doc")
_GO_LINTERS = ("linters", "linters-settings", "issues", "run", "severity", "exclusions", "formatters")
_SWALLOWED = re.compile(r"\|\|\s*(true|:|echo|exit 0)|;\s*(true|:|exit 0)\s*$|set \+e|\|\s*(tee|cat|head|tail|grep)\b")
_SPREADS = re.compile(r"GITHUB_(ENV|PATH)|BASH_ENV|PYTEST_ADDOPTS|NODE_OPTIONS|alias |git config|chmod .*(bin|usr)")


def relaxed_json(data: bytes) -> Any:
    """JSON with comments and trailing commas, as editors allow it.

    Raises:
        ValueError: it is not even that.
    """
    text = data.decode("utf-8")
    pieces = re.findall(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|[^"/]+|/', text, re.DOTALL)
    bare = "".join(p for p in pieces if not p.startswith(("//", "/*")))
    strings: list[str] = []

    def put(match: re.Match[str]) -> str:
        strings.append(match[0])
        return f'"{len(strings) - 1}"'

    masked = re.sub(r",(\s*[}\]])", r"\1", re.sub(r'"(?:\\.|[^"\\])*"', put, bare))
    return json.loads(re.sub(r'"(\d+)"', lambda m: strings[int(m[1])], masked))


def plain_yaml(data: bytes) -> Any:
    """YAML without anything that runs or multiplies.

    Raises:
        ValueError, yaml.YAMLError: it is no YAML, or its aliases make more of it than a person would write.
    """
    found = yaml.safe_load(data.decode("utf-8"))
    left, seen = [found], 0
    while left:
        value = left.pop()
        seen += 1
        if seen > _LEAVES:
            raise ValueError("too much")
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
    return found


def _any(data: bytes) -> Any:
    text = data.lstrip()
    return relaxed_json(data) if text[:1] in (b"{", b"/") else plain_yaml(data)


def tsconfig(data: bytes) -> Keys:
    """What of a TypeScript project decides its findings; never what it emits."""
    table = relaxed_json(data)
    options = table.get("compilerOptions") or {}
    out: Keys = {}
    for name, value in options.items():
        if _COMPILER.match(name):
            out |= flat(f"compilerOptions.{name}", value)
    for name in _TSCONFIG:
        if name in table:
            out[name] = table[name]
    return out


def lint_rules(data: bytes) -> Keys:
    """Every key of an ESLint, Stylelint or TSLint file in JSON or YAML; a rule is one key."""
    table = _any(data) or {}
    out: Keys = {}
    for name, value in table.items():
        if name == "rules" and isinstance(value, Mapping):
            out |= {f"rules.{rule}": setting for rule, setting in value.items()}
        elif name not in ("$schema", "root", "env", "settings", "parser"):
            out[str(name)] = value
    return out


def biome(data: bytes) -> Keys:
    """What of a Biome file is not about format."""
    table = relaxed_json(data)
    return {k: v for k, v in flat("", table).items() if not re.match(r"^\.(\$schema|formatter|\w+\.formatter)\b", k)}


def settings(data: bytes) -> Keys:
    """Every key of a JSON or YAML file that holds nothing but tool settings."""
    found = _any(data)
    if not isinstance(found, Mapping):
        raise ValueError("no table")
    out: Keys = {}
    for name, value in found.items():
        if name != "$schema":
            out |= flat(str(name), value)
    return out


def golangci(data: bytes) -> Keys:
    """What of a golangci-lint file decides its findings, in YAML, JSON or TOML."""
    table = _golangci(data)
    out: Keys = {}
    for name in _GO_LINTERS:
        if name in table:
            out |= flat(name, table[name])
    return {k: v for k, v in out.items() if not k.startswith(("run.timeout", "run.concurrency", "run.go"))}


def _golangci(data: bytes) -> Mapping[str, Any]:
    try:
        return plain_yaml(data) or {}
    except yaml.YAMLError:
        return tomllib.loads(data.decode("utf-8"))


def cargo(data: bytes) -> Keys:
    """Targets and their tests, lints, profiles and members of a Cargo manifest; never its dependencies."""
    table = tomllib.loads(data.decode("utf-8"))
    out: Keys = {}
    package = table.get("package", {})
    out |= {f"package.{k}": package[k] for k in ("autotests", "build", "links") if k in package}
    for kind in ("lib", "bin", "test", "example", "bench"):
        entries = [table[kind]] if isinstance(table.get(kind), dict) else table.get(kind, [])
        for entry in entries:
            name = "lib" if kind == "lib" else f"{kind}.{entry.get('name')}"
            out |= {f"{name}.{k}": entry[k] for k in _CARGO_TARGET if k in entry}
    for dotted in (
        "lints",
        "workspace.lints",
        "workspace.members",
        "workspace.exclude",
        "profile",
        "workspace.default-members",
    ):
        found: Any = table
        for part in dotted.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        if found is not None:
            out |= flat(dotted, found) if isinstance(found, Mapping) else {dotted: found}
    return {k: v for k, v in out.items() if _breaks(k, v)}


def _breaks(key: str, value: Any) -> bool:
    """Whether a manifest's key can take tests away: a target that is named, or said to be tested, takes none."""
    if key.rsplit(".", 1)[-1] in ("test", "doctest", "harness") and value is True:
        return False
    return not re.match(r"^(test|bin|example|bench)\.[^.]+\.(path|doc)$", key) and not re.match(
        r"^profile\.\w+\.(opt-level|lto|codegen-units|debug|strip|incremental|inherits)", key
    )


def deno(data: bytes) -> Keys:
    """Tasks, lint, test and resolution of a Deno file."""
    table = relaxed_json(data)
    out: Keys = {}
    for name in ("tasks", "lint", "test", "exclude", "imports", "compilerOptions", "nodeModulesDir"):
        if name in table:
            out |= flat(name, table[name])
    return out


def ignored(data: bytes) -> Keys:
    """The lines of a file that lists what a checker does not look at."""
    lines = [line.strip() for line in data.decode("utf-8", "surrogateescape").splitlines()]
    return {"lines": [line for line in lines if line and not line.startswith("#")]}


def hooks(data: bytes) -> Keys:
    """Hooks of pre-commit by repository and id, without the version they are pinned to."""
    table = plain_yaml(data) or {}
    out: Keys = {
        k: v for k, v in table.items() if k not in ("repos", "default_language_version", "minimum_pre_commit_version")
    }
    for repository in table.get("repos", []):
        for hook in repository.get("hooks", []):
            inner = {
                k: v for k, v in hook.items() if k not in ("id", "name", "additional_dependencies", "language_version")
            }
            out[f"hook {repository.get('repo')} {hook.get('id')}"] = inner
    return out


def workflow(data: bytes) -> Keys:
    """A workflow of GitHub as what makes it run and which commands it runs, whichever job they stand in.

    A job that is split keeps its keys; one that is allowed to fail, or runs on fewer occasions, does not.
    """
    table = plain_yaml(data)
    jobs = table.get("jobs")
    if not isinstance(jobs, Mapping):
        raise ValueError("no workflow")
    out: Keys = {"defaults": table.get("defaults"), "env": table.get("env")}
    out |= _occasions(table.get("on", table.get(True)))
    for job in jobs.values():
        around = {k: job[k] for k in ("if", "continue-on-error", "env", "defaults", "container") if k in job}
        matrix = (job.get("strategy") or {}).get("matrix")
        if "uses" in job:
            out[f"uses {job['uses']}"] = [around]
        for step in job.get("steps") or []:
            inner = {k: v for k, v in step.items() if k not in ("name", "id", "run", "timeout-minutes")}
            for command in _commands(str(step.get("run") or f"uses {str(step.get('uses')).split('@')[0]}")):
                key = f"run {command}" if "run" in step else command
                out[key] = [*out.get(key, []), {**around, **inner, **({"matrix": matrix} if matrix else {})}]
    return {k: v for k, v in out.items() if v is not None}


def _occasions(on: Any) -> Keys:
    if isinstance(on, str):
        return {f"on.{on}": {}}
    if isinstance(on, list):
        return {f"on.{name}": {} for name in on}
    return {f"on.{name}": value or {} for name, value in (on or {}).items()}


def _commands(run: str) -> list[str]:
    return [
        line.strip()
        for line in run.replace("\\\n", " ").splitlines()
        if line.strip() and not line.strip().startswith("#")
    ]


def narrower(key: str, before: Any, after: Any) -> bool:
    """Whether one key of a workflow lets less be checked than it did.

    What is added is harmless where it swallows no status and changes nothing of what runs beside it.
    """
    if before is None:
        return bool(key.startswith("run ") and (_SWALLOWED.search(key) or _SPREADS.search(key))) or key in (
            "defaults",
            "env",
        )
    if after is None:
        return not key.startswith("uses ")
    if key.startswith("on."):
        return before != after and not (after == {} and before)
    if key.startswith(("run ", "uses ")):
        return not all(any(_as_hard(old, new) for new in after) for old in before)
    return bool(before != after)


def _as_hard(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a step runs wherever it ran and counts as it did; a later version of an action is the same action."""
    same = {k: v for k, v in old.items() if k not in ("continue-on-error", "uses")}
    now = {k: v for k, v in new.items() if k not in ("continue-on-error", "uses")}
    soft = new.get("continue-on-error", False)
    return same == now and (soft in (False, None) or soft == old.get("continue-on-error"))
