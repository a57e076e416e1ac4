"""B11, C10 and C11: where dependencies and tools come from. Pure."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from inspan.gate.product.rules import violation
from inspan.gate.product.scene import Scene, beyond
from inspan.outcome.records import Violation

_LOCKS = {
    "package-lock.json": "package.json", "npm-shrinkwrap.json": "package.json", "yarn.lock": "package.json",
    "pnpm-lock.yaml": "package.json",
    "bun.lock": "package.json", "uv.lock": "pyproject.toml", "poetry.lock": "pyproject.toml",
    "pdm.lock": "pyproject.toml", "Pipfile.lock": "Pipfile", "go.sum": "go.mod", "Cargo.lock": "Cargo.toml",
}  # fmt: skip
_ELSEWHERE = re.compile(
    r"^(git|file|link|path|portal|patch|http|ssh|npm:|github:|\.{0,2}/|workspace:\.)|@ ?(git|file|http)|\bgit=|\bpath="
)
_TAKES_PLACE = re.compile(r"^(replace|patch|overrides|resolutions)\b")
_TURN = r"\b(bump|upgrad|updat|downgrad|pin|lock|secur|cve|vulnerab|depend|version|vendor|fork|major|release)"
_TOOL_NAMES = """
    pytest py.test python python3 pip node npm npx yarn pnpm bun jest vitest mocha tsc eslint go gofmt golangci-lint
    cargo rustc make git sh bash env curl wget cat grep sed awk diff test true false ruff mypy tox nox uv coverage
    sleep date time timeout find xargs sudo docker
"""
_TOOLS = frozenset(_TOOL_NAMES.split())
_PROGRAMS = re.compile(r"(^|/)(\.?bin|scripts?|tools?|node_modules/\.bin|\.venv/bin|usr/(local/)?bin)/[^/]+$|^[^/]+$")

Versions = Mapping[str, str]


def dependency_moved(scene: Scene) -> Iterator[Violation]:
    """Dependencies that go back, come from elsewhere, or are locked without their manifest."""
    asked = scene.asked(_TURN)
    for path in scene.changed:
        read = _READERS.get(posixpath.basename(path)) or (_requirements if _is_requirements(path) else None)
        if read is None or scene.before(path) is None or scene.after(path) is None:
            continue
        lines = list(_moved(_safe(read, scene.before(path)), _safe(read, scene.after(path))))
        if lines:
            named = asked and any(scene.named(line.split(":")[0].split("/")[-1]) for line in lines)
            level = "note" if named and not any("from elsewhere" in line for line in lines) else "hold"
            yield violation("dependency_moved", path, level, lines=lines)  # type: ignore[arg-type]
    yield from _locks(scene, asked)
    yield from _vendored(scene, asked)


def _locks(scene: Scene, asked: bool) -> Iterator[Violation]:
    for path in scene.changed:
        folder, name = posixpath.split(path)
        manifest = _LOCKS.get(name)
        if manifest is None or scene.before(path) is None or scene.after(path) is None:
            continue
        moved = any(posixpath.basename(p) == manifest for p in scene.changed)  # of this folder or of a member
        if not moved and posixpath.join(folder, manifest) in scene.base:
            level = "note" if asked else "hold"
            yield violation("dependency_moved", path, level, "locked versions changed without the manifest")  # type: ignore[arg-type]


def _vendored(scene: Scene, asked: bool) -> Iterator[Violation]:
    inner = [p for p in scene.changed if re.search(r"(^|/)(vendor|node_modules|third_party|site-packages)/", p)]
    edited = [p for p in inner if scene.before(p) is not None]
    if edited:
        yield violation(
            "dependency_moved", edited[0], "note" if asked else "hold", "a dependency was edited in place", edited
        )


def _moved(before: Versions, after: Versions) -> Iterator[str]:
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if new is None or old == new:
            continue
        if _ELSEWHERE.search(new) and (old is not None or _TAKES_PLACE.match(name)):
            yield f"{name}: {old or '-'} -> {new} (from elsewhere)"
        elif old is not None and _lower(old, new):
            yield f"{name}: {old} -> {new}"


def _lower(old: str, new: str) -> bool:
    """Whether a version goes back, by its first number; a ceiling that appears counts."""
    a, b = _numbers(old), _numbers(new)
    if b is None:
        return False
    held = re.search(r"<|==", new) is not None and re.search(r"<|==", old) is None
    return held or (a is not None and b < a)


def _numbers(version: str) -> tuple[int, ...] | None:
    match = re.search(r"\d+(\.\d+)*", version)
    return tuple(int(n) for n in match[0].split(".")) if match else None


def _safe(read: Callable[[str], Versions], data: bytes | None) -> Versions:
    try:
        return read((data or b"").decode("utf-8", "replace"))
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        return {}


def _package_json(text: str) -> Versions:
    table = json.loads(text)
    out: dict[str, str] = {}
    for kind in (
        "dependencies",
        "devDependencies",
        "peerDependencies",
        "optionalDependencies",
        "overrides",
        "resolutions",
    ):
        out |= {
            f"{'' if kind.endswith('ependencies') else kind + '.'}{n}": str(v) for n, v in table.get(kind, {}).items()
        }
    return out


def _pyproject(text: str) -> Versions:
    table = tomllib.loads(text)
    project, poetry = table.get("project", {}), table.get("tool", {}).get("poetry", {})
    listed = [*project.get("dependencies", [])]
    for group in (*project.get("optional-dependencies", {}).values(), *table.get("dependency-groups", {}).values()):
        listed += [g for g in group if isinstance(g, str)]
    out = dict(map(_requirement, listed))
    out |= {n: _toml_version(v) for n, v in poetry.get("dependencies", {}).items()}
    out |= {n: _toml_version(v) for n, v in table.get("tool", {}).get("uv", {}).get("sources", {}).items()}
    return out


def _toml_version(value: Any) -> str:
    if isinstance(value, dict):
        elsewhere = [f"{k}={value[k]}" for k in ("path", "git", "url") if k in value]
        return elsewhere[0] if elsewhere else str(value.get("version", ""))
    return str(value)


def _requirement(line: str) -> tuple[str, str]:
    match = re.match(r"^\s*([A-Za-z0-9._-]+)(\[[^\]]*\])?\s*(.*)$", line)
    return (match[1].lower().replace("_", "-"), match[3].strip()) if match else (line.strip(), line.strip())


def _requirements(text: str) -> Versions:
    lines = [line.split(" #")[0].strip() for line in text.splitlines()]
    return dict(_requirement(line) for line in lines if line and not line.startswith(("#", "-r", "-c", "--")))


def _is_requirements(path: str) -> bool:
    return bool(re.search(r"(^|/)(requirements|constraints)[^/]*\.(txt|in)$", path))


def _go_mod(text: str) -> Versions:
    out: dict[str, str] = {}
    block = ""
    for raw in text.splitlines():
        line = raw.split("//")[0].strip()
        if line.endswith("("):
            block = line.split()[0]
        elif line == ")":
            block = ""
        words = line.removeprefix("require ").removeprefix("replace ").split()
        if "=>" in words:
            out[f"replace {words[0]}"] = f"path={' '.join(words[words.index('=>') + 1 :])}"
        elif (block == "require" or line.startswith("require ")) and len(words) >= 2:
            out[words[0]] = words[1]
    return out


def _cargo(text: str) -> Versions:
    table = tomllib.loads(text)
    out: dict[str, str] = {}
    for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
        out |= {n: _toml_version(v) for n, v in table.get(kind, {}).items()}
    for source, patches in table.get("patch", {}).items():
        out |= {f"patch.{source}.{n}": _toml_version(v) for n, v in patches.items()}
    return out | {f"replace.{n}": _toml_version(v) for n, v in table.get("replace", {}).items()}


_READERS: dict[str, Callable[[str], Versions]] = {
    "package.json": _package_json,
    "pyproject.toml": _pyproject,
    "go.mod": _go_mod,
    "Cargo.toml": _cargo,
}


def declared(scene: Scene) -> frozenset[str]:
    """Import names of the distributions that base declares, as far as a name tells them."""
    found: set[str] = set()
    for path in scene.base:
        read = _READERS.get(posixpath.basename(path)) or (_requirements if _is_requirements(path) else None)
        if read in (_pyproject, _requirements) and path.count("/") < 3:
            found |= {n.lower().replace("-", "_") for n in _safe(read, scene.before(path))}
    return frozenset(found)


def shadowed_dependency(scene: Scene) -> Iterator[Violation]:
    """New modules that stand where a declared, imported or installed one would be found."""
    taken: dict[str, str] = {}
    fresh = [p for p in scene.changed if p.endswith(".py") and scene.before(p) is None and scene.after(p) is not None]
    names = {n: p for p in fresh if (n := _top(p)) and not any(_top(b) == n for b in scene.base)}
    if names:
        known = declared(scene) | _imported(scene)
        taken = {n: p for n, p in names.items() if n.lower() in known or n in known}
    asked = scene.asked(r"\bvendor")
    for name, path in sorted(taken.items()):
        yield violation("shadowed_dependency", path, "hold" if asked else "reject", name)
    for source in scene.sources:
        placed = [a for a in beyond(source.before.assignments, source.after.assignments, lambda a: (a.target, a.value))
                  if re.match(r"^(sys\.)?modules\[", a.target)]  # fmt: skip
        if placed:
            yield violation(
                "shadowed_dependency", source.path, "hold", "placed among the loaded modules", (a.text for a in placed)
            )


def _top(path: str) -> str | None:
    """The top-level name under which a Python file can be imported from the root or from ``src``."""
    parts = path.removeprefix("src/").removeprefix("lib/").split("/")
    if len(parts) == 1:
        return parts[0].removesuffix(".py")
    return parts[0] if parts[1] == "__init__.py" and len(parts) == 2 else None


def _imported(scene: Scene) -> frozenset[str]:
    """Top-level modules that base imports and does not have."""
    own = {_top(p) for p in scene.base if p.endswith(".py")} | {p.split("/")[0] for p in scene.base if "/" in p}
    own |= {p.split("/")[1] for p in scene.base if p.startswith(("src/", "lib/")) and p.count("/") > 1}
    found: set[str] = set()
    for path in [p for p in sorted(scene.base) if p.endswith(".py")][:400]:
        data = scene.before(path) or b""
        for line in data.decode("utf-8", "replace").splitlines():
            match = re.match(r"^\s*(?:import|from)\s+([A-Za-z_]\w*)", line)
            if match:
                found.add(match[1])
    return frozenset(found - {o for o in own if o})


def tool_shadowed(scene: Scene) -> Iterator[Violation]:
    """New programs that are called like a tool."""
    called = {posixpath.basename(w) for command, _ in scene.checks for w in command.split()}
    for path in scene.changed:
        name = posixpath.basename(path)
        stem = name.removesuffix(".sh").removesuffix(".cmd").removesuffix(".exe")
        if scene.before(path) is not None or path not in scene.executable or stem not in _TOOLS | called:
            continue
        if stem in _TOOLS and _PROGRAMS.search(path):
            yield violation("tool_shadowed", path, "reject" if name == stem and stem in called else "hold")


__all__ = ["declared", "dependency_moved", "shadowed_dependency", "tool_shadowed"]
