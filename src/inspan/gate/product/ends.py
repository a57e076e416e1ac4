"""B4 and B9: processes that end early, and errors that end in nothing. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from inspan.gate.product.facts import Call, Caught
from inspan.gate.product.rules import Level, violation
from inspan.gate.product.scene import Scene, Source, beyond
from inspan.outcome.records import Violation

_EXITS = re.compile(
    r"^(os\._exit|sys\.exit|exit|quit|raise SystemExit|os\.abort|os\.kill|os\.execv\w*|"
    r"process\.exit|process\.reallyExit|"
    r"process\.kill|process\.abort|Deno\.exit|os\.Exit|syscall\.Exit|runtime\.Goexit|(std::)?process::exit|libc::_?exit)$"
)
_HARD = re.compile(
    r"^(os\._exit|os\.exec\w+|os\.Exit|syscall\.Exit|process\.(exit|reallyExit)|(std::)?process::exit|libc::_?exit|runtime\.Goexit)$"
)
_PROGRAMS = re.compile(
    r"(^|/)(__main__|main|cli|manage|bin|cmd|entry(point)?)\.\w+$|(^|/)(bin|cmd|scripts|cli|commands|bench|benchmarks|examples|demo)/"
)
_ENTRIES = re.compile(_PROGRAMS.pattern + r"|(^|/)(app|server|index|run|setup|console|daemon|worker)\.\w+$")
_ENTRY_FUNCTIONS = re.compile(
    r"(^|[._])(main|cli|run|start|serve|usage|fatal|die|fail|abort|help|shutdown|stop|terminate|quit|exit|command|on_?(signal|exit)|"
    r"handle_?(signal|exit|sig\w*|shutdown)|sig\w*handler|parse_?args)",
    re.IGNORECASE,
)


def early_exit(scene: Scene) -> Iterator[Violation]:
    """New calls that end the process with success outside of entry points."""
    for source in scene.sources:
        fresh = beyond(source.before.calls, source.after.calls, lambda c: (c.name, c.arguments, c.within))
        found = [c for c in fresh if _EXITS.match(c.name) and _successful(c)]
        found += [c for c in source.after.calls if c.name == "atexit.register" and "_exit" in c.text]
        if not found:
            continue
        levels = {_level(source, c) for c in found} - {None}
        level = next((lv for lv in ("reject", "hold", "note") if lv in levels), None)
        if level is not None:
            yield violation("early_exit", source.path, level, lines=(c.text for c in found))


def _successful(call: Call) -> bool:
    if call.name in ("os.kill", "process.kill", "os.abort", "process.abort") or call.name.startswith("os.exec"):
        return True
    empty = not call.arguments and bool(re.search(r"\(\s*\)", call.text))
    return empty or call.arguments[:1] in (("0",), ("None",))


def _level(source: Source, call: Call) -> Level | None:
    python, program = source.path.endswith(".py"), bool(_PROGRAMS.search(source.path))
    if _ENTRY_FUNCTIONS.search(call.within):
        return None if _ENTRIES.search(source.path) or call.within == "__main__" else "note"
    if not call.within and (program or not python) and _ENTRIES.search(source.path):
        return None
    if not call.within and not source.after.exports and not source.path.endswith((".go", ".rs")):
        return "note"  # a script of its own
    hard = bool(_HARD.match(call.name)) or (call.name == "exit" and not python)
    if program:
        return "hold" if hard else "note"
    return "reject" if hard else "hold"


def error_swallowed(scene: Scene) -> Iterator[Violation]:
    """New places where any error of code that stood on base is forgotten."""
    for source in scene.sources:
        old = [c for c in source.before.caught if c.broad and c.forgets]
        new = [c for c in source.after.caught if c.broad and c.forgets]
        more = {w for w, n in Counter(c.within for c in new).items() if n > sum(c.within == w for c in old)}
        found = [c for c in beyond(old, new, lambda c: (c.within, c.guarded)) if c.within in more]
        held = [c for c in found if _old(source, c)]
        if held:
            yield violation("error_swallowed", source.path, "hold", lines=(c.text for c in held))
        elif found:
            yield violation("error_swallowed", source.path, "note", "in new code", (c.text for c in found))


def _old(source: Source, caught: Caught) -> bool:
    """Whether what is guarded stood on base without a guard of this kind."""
    before = source.before.function(caught.within)
    text = before.body if before is not None else ""
    if not text:
        return False
    if "recover()" in caught.guarded or "finally" in caught.guarded:
        return True
    if source.path.endswith(".go"):
        return any(_handled(text, _callee(g)) for g in caught.guarded)
    if source.path.endswith(".rs"):
        return any(re.search(rf"{re.escape(g)}\s*(\?|\.unwrap\(\)|\.expect\(|\.map_err)|match {re.escape(g)}", text)
                   for g in caught.guarded)  # fmt: skip
    pieces = [g.removeprefix("return ").removesuffix(";").strip() for g in caught.guarded]
    return any(len(p) > 4 and (p in text or _callee(p) in text) for p in pieces)


def _handled(body: str, callee: str) -> bool:
    """Whether the error of a call went somewhere."""
    return bool(re.search(rf"\b(e|err\w*)\s*:?=\s*{re.escape(callee)}|return\b[^;{{}}]*{re.escape(callee)}", body))


def _callee(piece: str) -> str:
    """The call a guarded statement makes, which may have been put into other words."""
    match = re.search(r"([\w.:]{3,})\(", piece)
    return f"{match[1]}(" if match else piece
