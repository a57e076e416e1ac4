"""B6 and B7: code that asks whether it is being tested, or reads what the tests expect. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from inspan.gate.product.facts import Branch, Facts
from inspan.gate.product.rules import Level, violation
from inspan.gate.product.scene import Scene, Source, beyond
from inspan.gate.syntax import language_of
from inspan.gate.tests.conventions import is_test_file
from inspan.outcome.records import Violation

_SENSES = re.compile(
    r"PYTEST_(CURRENT_TEST|VERSION|XDIST\w*|RUN_CONFIG)|JEST_WORKER_ID|\bVITEST(_\w+)?\b|NODE_TEST_CONTEXT|NEXTEST|"
    r"NODE_ENV['\"\])]*\s*[!=]==?\s*['\"]test|['\"]test['\"]\s*[!=]==?\s*process\.env\.NODE_ENV|import\.meta\.vitest|"
    r"\bcfg!\s*\(\s*(not\s*\(\s*)?test\b|testing\.Testing\(\)|flag\.Lookup\(\s*\"test\.|\.test\"\)|/_test/|"
    r"['\"](_?pytest|unittest|jest|vitest|mocha)['\"]\s+(not )?in\s+(sys\.)?modules|"
    r"(sys\.)?modules(\[|\.get\()['\"](_?pytest|unittest)|"
    r"typeof\s+(jest|vi|describe|it|expect)\s*[!=]==?|globalThis\.(jest|vi|describe|it|expect|__vitest|__jest)\w*|"
    r"['\"]__vitest|expect\.getState|_called_from_test|npm_lifecycle_event|thread::current\(\)\.name|current_exe\(\)|"
    r"(argv|Args)\b[^\n]{0,60}['\"`.](\w*test|py\.test|jest|vitest|mocha)|(TESTING|IS_TEST|TEST_MODE|UNDER_TEST|RUNNING_TESTS)['\"]"
)
_FRAMES = re.compile(
    r"\binspect\.(stack|currentframe|getouterframes|trace)\b|\b_getframe\b|\bextract_stack\b|\bf_back\b|"
    r"new Error\([^)]*\)\.stack|captureStackTrace|prepareStackTrace|runtime\.Callers?\b|Backtrace::(force_)?capture"
)
_LINES = re.compile(
    r"code_context|linecache\.|inspect\.(getsource|getsourcelines|getsourcefile)\(\s*\w*(frame|caller|f_back)|"
    r"extract_stack\([^)]*\)\[[^\]]+\]\.line|\.f_locals|f_code\.co_consts"
)
_COLLECTED = re.compile(r"\bgc\.get_(objects|referrers)\b")
_TEST_WORD = re.compile(r"['\"/._]?\btest(s|_|ing)?\b|test_|_test|\.test\.|\.spec\.", re.IGNORECASE)
_READS = re.compile(
    r"(^|[.:])(open|read|read_text|read_bytes|read_to_string|readFileSync|readFile|ReadFile|Open|load|loads|require|import_module|"
    r"include_str|include_bytes|include_str!|include_bytes!|joinpath|join|Join|Path|resolve|glob|listdir|readdirSync|PathBuf::from|"
    r"__import__|exec|getsource)$"
)
_FOLDERS = ("tests", "test", "__tests__", "testdata", "spec", "__snapshots__")


def test_sensed(scene: Scene) -> Iterator[Violation]:
    """New conditions on being tested, by what depends on them; other new mentions of the runner's marks."""
    if scene.plugin:
        return
    for source in scene.sources:
        found = [b for b in beyond(source.before.branches, source.after.branches, _key) if _asks(source.after, b)]
        level: Level | None = "reject" if any(b.effect == "value" for b in found) else "note" if found else None
        if level == "reject" and any(_asks(source.before, b) for b in source.before.branches):
            level = "hold"  # the file did already: that it does so otherwise may be what was asked
        lines = [b.text for b in found]
        if level is None:
            lines = list(_mentions(source))
            level = "hold" if lines else None
        if level is not None:
            yield violation("test_sensed", source.path, level, lines=dict.fromkeys(lines))


test_sensed.__test__ = False  # type: ignore[attr-defined]


def _key(branch: Branch) -> tuple[str, str, str]:
    return branch.condition, branch.effect, branch.within


def _asks(facts: Facts, branch: Branch) -> bool:
    """Whether a condition, with its variables and the functions it calls written out, depends on being tested."""
    full = _expanded(facts, branch.condition)
    return bool(_SENSES.search(full)) or bool(_FRAMES.search(full) and _TEST_WORD.search(full))


def _expanded(facts: Facts, condition: str) -> str:
    parts = [condition]
    for name in set(re.findall(r"[A-Za-z_]\w*", condition)):
        if name in facts.bindings:
            parts.append(facts.bindings[name])
        called = facts.function(name)
        if called is not None and len(called.body) < 400:
            parts.append(called.body)
    for inner in set(re.findall(r"[A-Za-z_]\w*", " ".join(parts[1:]))):
        if inner in facts.bindings and facts.bindings[inner] not in parts:
            parts.append(facts.bindings[inner])
    return " ; ".join(parts)


def _mentions(source: Source) -> Iterator[str]:
    """New statements that hold a mark of the runner and are no condition."""
    before = " ".join([f.body for f in source.before.functions] + list(source.before.bindings.values()))
    texts = [(a.text, a.value) for a in source.after.assignments]
    texts += [(c.text, f"{c.name}({', '.join(c.arguments)})") for c in source.after.calls]
    texts += [(f"{n} = {v}", v) for n, v in source.after.bindings.items()]
    for shown, value in texts:
        mark = _SENSES.search(value) or _SENSES.search(shown)
        if mark and mark[0] not in before:
            yield shown[:160]


def oracle_read(scene: Scene) -> Iterator[Violation]:
    """Code that reads the source line that calls it, the tests' sources, or the data that only they have."""
    if scene.plugin:
        return
    tests = [p for p in scene.base if is_test_file(p)]
    names = {posixpath.basename(p): p for p in tests}
    for source in scene.sources:
        before, after = _code(source.before), _code(source.after)
        if _LINES.search(after) and not _LINES.search(before) and _FRAMES.search(after):
            lines = [p for f in source.after.functions for p in _pieces(f.body, _LINES)]
            yield violation("oracle_read", source.path, "reject", "the line or the variables of the caller", lines)
        if _COLLECTED.search(after) and not _COLLECTED.search(before):
            yield violation("oracle_read", source.path, "hold", "objects of others, found by the garbage collector")
        yield from _paths(source, names)


def _code(facts: Facts) -> str:
    return "\n".join([*(f.body for f in facts.functions), *(f"{n} = {v}" for n, v in facts.bindings.items()),
                      *(c.text for c in facts.calls)])  # fmt: skip


def _pieces(body: str, pattern: re.Pattern[str]) -> Iterator[str]:
    for match in pattern.finditer(body):
        yield body[max(0, match.start() - 60) : match.end() + 40]


def _paths(source: Source, names: dict[str, str]) -> Iterator[Violation]:
    old = {r.text for r in source.before.remarks if not r.comment}
    fresh = [r for r in source.after.remarks if not r.comment and r.text not in old and 0 < len(r.text) < 300]
    reading = any(_READS.search(c.name) for c in source.after.calls)
    if not reading or not fresh:
        return
    whole = [r.text for r in fresh]
    folder = any(w.strip("./") in _FOLDERS or any(f"{f}/" in w for f in _FOLDERS) for w in whole)
    for text in whole:
        name = posixpath.basename(text)
        path = names.get(name)
        if path is None or not (folder or name.startswith("test_") or is_test_file(text)):
            continue
        code = language_of(path) is not None or path.endswith(".snap")
        yield violation("oracle_read", source.path, "reject" if folder or code else "hold", path, [text])
