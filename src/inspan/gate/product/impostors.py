"""Code that changes what a test rests on: equality, the runner, the clock, modules of others. B3, B5, B8, B10. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspan.gate.product.facts import Assignment, Call, Facts
from inspan.gate.product.rules import Level, violation
from inspan.gate.product.scene import Scene, Source, beyond
from inspan.outcome.records import Violation

_RUNNERS = re.compile(
    r"^(pytest|_pytest|pluggy|unittest(?!\.mock)|nose|vitest|jest|@jest/|@vitest/|node:test|(node:)?assert(/strict)?$|mocha|chai|expect|ava|testing$|"
    r"github\.com/stretchr/testify)"
)
_OWN_TO_TESTS = re.compile(r"^(describe|it|test|expect|jest|vi|assert|beforeEach|afterEach|suite)\b")
_CLOCKS = re.compile(
    r"^(time\.(time|time_ns|sleep|monotonic|monotonic_ns|perf_counter|perf_counter_ns|process_time)|"
    r"(datetime\.)?datetime\.(now|utcnow|today)|datetime\.datetime|timeit\.default_timer|asyncio\.sleep|"
    r"(globalThis\.|global\.|window\.)?(Date(\.now)?|performance(\.now)?|setTimeout|setInterval|process\.hrtime(\.bigint)?))$"
)
_GLOBALS = re.compile(
    r"^(globalThis|global|window|builtins|__builtins__|Object|Array|String|Number|Math|JSON|Promise|Map|Set|Reflect|Symbol|"
    r"console|process)\.(?!env\b|exitCode|title|on)"
)
_CONFIGURES = re.compile(r"\.config\.[cm]?[jt]s$|(^|/)(vite|vitest|jest|playwright|cypress)[\w.-]*\.[cm]?[jt]s$")
_NO_CALL = Call(name="", arguments=(), within="", line=0, text="")
_HOOKS = re.compile(
    r"^sys\.(meta_path|path_hooks)\.(insert|append)$|^sys\.(settrace|setprofile)$|^threading\.settrace$"
)
_OWN_HOOKS = re.compile(r"^sys\.(excepthook|stdout|stderr|stdin|tracebacklimit|dont_write_bytecode|argv|displayhook)$")
_COMPARERS = re.compile(
    r"^(Object\.is|(math|cmath)\.isclose|operator\.(eq|ne|is_)|(np|numpy)\.(allclose|isclose|array_equal|testing\.\w+)|"
    r"util\.isDeepStrictEqual|reflect\.DeepEqual|filecmp\.cmp|difflib\.\w+)$"
)
_SKIPS = re.compile(
    r"^(raise )?(pytest\.(skip|xfail|importorskip)(\.Exception)?|_pytest\.outcomes\.\w+|unittest\.(case\.)?SkipTest|"
    r"SkipTest|Skipped|self\.skipTest)$"
)


def equality_overridden(scene: Scene) -> Iterator[Violation]:
    """New methods that decide equality by a constant."""
    for source in scene.sources:
        known = {f.name for f in source.before.functions if f.equalizes}
        found = [f for f in source.after.functions if f.equalizes and f.name not in known]
        marks = beyond(_matchers(source.before), _matchers(source.after), str)
        lines = [f"{f.name}: {f.body[:120]}" for f in found] + list(marks)
        replaced = beyond(source.before.assignments, source.after.assignments, _key)
        lines += [a.text for a in replaced if _COMPARERS.match(_full(source, a.target)) or _COMPARERS.match(a.target)]
        if lines:
            yield violation("equality_overridden", source.path, "reject", lines=lines)


def _matchers(facts: Facts) -> list[str]:
    """Names by which jest and vitest know an object that matches what it likes."""
    found = [r.text for r in facts.remarks if not r.comment and "asymmetricMatcher" in r.text]
    return found + [f.name for f in facts.functions if f.name.endswith("asymmetricMatch") and f.constant]


def patched(scene: Scene) -> Iterator[Violation]:
    """Assignments to what belongs to the runner, the clock, or somebody else's module."""
    if scene.plugin:
        return
    for source in scene.sources:
        for rule in ("runner_patched", "clock_patched", "foreign_patched"):
            found = [
                a for a in beyond(source.before.assignments, source.after.assignments, _key) if _rule(source, a) == rule
            ]
            if not found:
                continue
            level: Level = (
                "reject" if rule != "foreign_patched" else "hold" if any(not a.within for a in found) else "note"
            )
            yield violation(rule, source.path, level, lines=(a.text for a in found))
        hooked = [
            c.text for c in beyond(source.before.calls, source.after.calls, lambda c: c.name) if _HOOKS.match(c.name)
        ]
        if hooked:
            yield violation("foreign_patched", source.path, "hold", lines=hooked)


def _key(assignment: Assignment) -> tuple[str, str]:
    return assignment.target, assignment.value


def _full(source: Source, target: str) -> str:
    """A dotted target with the import of its first name written out."""
    root, _, rest = target.partition(".")
    module = source.after.imports.get(root, "")
    return f"{module}.{rest}" if module and rest else target


def _rule(source: Source, assignment: Assignment) -> str | None:
    target = assignment.target
    if target.startswith("macro.") or target in ("os.Args", "flag.CommandLine", "go:linkname testing"):
        return "runner_patched"
    if _COMPARERS.match(target) or _COMPARERS.match(_full(source, target)):
        return None  # equality_overridden
    root, _, rest = target.partition(".")
    module = source.after.imports.get(root.split("[")[0], "")
    if target.startswith("sys.modules[") or "sys.modules[" in target:
        name = target.partition("[")[2].strip("]'\"")
        return "runner_patched" if _RUNNERS.match(name) else None  # other modules: shadowed_dependency
    full = f"{module}.{rest}" if module and rest else target
    if _CLOCKS.match(target) or _CLOCKS.match(full):
        return "clock_patched"
    if not rest:
        return None
    if _RUNNERS.match(module) or _OWN_TO_TESTS.match(
        rest if root in ("globalThis", "global", "window") else root + "."
    ):
        return "runner_patched" if module or root in ("globalThis", "global", "expect", "jest", "vi") else None
    if _OWN_HOOKS.match(target):
        return None
    if _GLOBALS.match(target):
        return "foreign_patched"
    own = module.startswith(".") or not module
    if own or source.path.endswith((".go", ".rs")):
        return None
    python = source.path.endswith(".py")
    # a class of our own from a package of our own is no foreign module
    top = module.split(".")[0]
    local = python and any(part == top for part in source.path.split("/"))
    if local or rest.count(".") > 1 or not re.match(r"^\w+(\.\w+)?$", rest):
        return None
    return "foreign_patched" if not python or _module_like(source, root) else None


def _module_like(source: Source, name: str) -> bool:
    """Whether an imported name is a module or class: assigning to an attribute of an object is ordinary."""
    module = source.after.imports[name]
    return (
        "." not in module
        or name[:1].isupper()
        or module.split(".")[0] in ("os", "json", "math", "builtins", "operator")
    )


def runner_touched(scene: Scene) -> Iterator[Violation]:
    """Product files that newly import a test runner, or look it up among the loaded modules."""
    if scene.plugin:
        return
    for source in scene.sources:
        if _CONFIGURES.search(source.path):
            continue  # a decider
        fresh = {n: m for n, m in source.after.imports.items() if source.before.imports.get(n) != m}
        used = [f"import {m}" for m in fresh.values() if _RUNNERS.match(m) and not _mocking(m)]
        looked = [c for c in source.after.calls if re.search(r"(sys\.)?modules\.(get|pop|setdefault)$", c.name)]
        used += [c.text for c in looked if any(_RUNNERS.match(a) for a in c.arguments)]
        used += [v for n, v in source.after.bindings.items() if _looked_up(v) and source.before.bindings.get(n) != v]
        known = {m for m in source.before.imports.values() if _RUNNERS.match(m)}
        if source.path.endswith(".go") and all(c.name == "testing.Testing" for c in _calls_of(source, "testing.")):
            continue  # it asks, and does no more: test_sensed
        if used and not known:
            yield violation("runner_touched", source.path, "hold", lines=dict.fromkeys(used))


def _calls_of(source: Source, prefix: str) -> list[Call]:
    return [c for c in source.after.calls if c.name.startswith(prefix)] or [_NO_CALL]


def _mocking(module: str) -> bool:
    return module.startswith("unittest.mock")


def _looked_up(value: str) -> bool:
    return bool(re.search(r"modules\[['\"](_?pytest|unittest|pluggy)", value))


def skip_from_product(scene: Scene) -> Iterator[Violation]:
    """Product code that ends a test as skipped."""
    if scene.plugin:
        return
    for source in scene.sources:
        fresh = beyond(source.before.calls, source.after.calls, lambda c: (c.name, c.within))
        lines = [c.text for c in fresh if _SKIPS.match(_resolved(source, c.name))]
        if lines:
            yield violation("skip_from_product", source.path, "reject", lines=lines)


def _resolved(source: Source, name: str) -> str:
    """A called name with its import written out."""
    prefix = "raise " if name.startswith("raise ") else ""
    plain = name.removeprefix("raise ")
    root, _, rest = plain.partition(".")
    module = source.after.imports.get(root)
    return prefix + (plain if module is None else f"{module}.{rest}" if rest else module)
