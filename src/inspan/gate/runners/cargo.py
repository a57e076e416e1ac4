"""cargo test: every test program runs by way of cargo's own ``runner`` setting, rustdoc by its ``RUSTDOC``.

libtest has no structured output on a stable toolchain. Its test programs are asked for a log beside their output: the
outcomes are the log's, and the counts of the one result line must equal them, so that neither a printed line nor an
early end passes for a result. Doc tests have only their output, held against its own counts.
"""

from __future__ import annotations

import platform
import posixpath
import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from inspan.gate.results import TestRun, worst
from inspan.gate.runners.contract import Arranged, Call, Family, Left, Request
from inspan.gate.runners.evidence_files import Program, programs, status
from inspan.gate.runners.evidence_files import text as printed

_RUNNER = "inspan-cargo-run"
"""Found on PATH: a path of its own would be split at spaces."""
_NOT_RUNNING = frozenset(("--no-run", "--help", "-h", "--list"))
_RUNNING = re.compile(r"^running (\d+) tests?$", re.MULTILINE)
_RESULT = re.compile(
    r"^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; (\d+) measured; (\d+) filtered out; "
    r"finished in \S+s$",
    re.MULTILINE,
)
_LOGGED = re.compile(r"^(ok|failed|ignored)\b.*? (\S+)$")
_MEASURED = re.compile(r"^test: +\d|^bench")
_DOC = re.compile(
    r"^test (\S+) - (?:(\S.*?) )?\(line (\d+)\)(?: - [a-z ]+)? \.\.\. (ok|FAILED|failed|ignored)(?:,.*)?$", re.MULTILINE
)
_STDOUT = re.compile(r"^---- (\S.*?) stdout ----$", re.MULTILINE)
_PANICKED = re.compile(r"panicked at (?:'(.*)', \S+:\d+:\d+$|\S+:\d+:\d+:\n(.*)$)", re.MULTILINE)
_UNBUILT = re.compile(r"^error(?:\[E\d+\])?: could not compile ", re.MULTILINE)
_WORDS = {"ok": "passed", "failed": "failed", "ignored": "skipped"}
_LONGEST = 200


def _find(call: Call) -> tuple[str, ...] | None:
    if posixpath.basename(call.words[0]) != "cargo":
        return None
    rest = [w for w in call.words[1:] if not w.startswith("+")]
    tests = rest[:1] in (["test"], ["t"]) or rest[:2] == ["nextest", "run"]
    own = rest[: rest.index("--")] if "--" in rest else rest
    return () if tests and not _NOT_RUNNING & set(own) and "--list" not in rest else None


def _arrange(request: Request, before: Arranged) -> Arranged:
    machine = platform.machine().upper()
    env = dict(before.ahead(request)) | {
        f"CARGO_TARGET_{machine}_UNKNOWN_LINUX_{libc}_RUNNER": _RUNNER for libc in ("GNU", "MUSL")
    }
    files = {
        **before.files,
        "cargo": request.program("cargo.sh"),
        "rustdoc": request.program("rustdoc.sh"),
        _RUNNER: request.source("cargo-run.sh"),
    }
    return msgspec.structs.replace(before, env=env, files=files)


class _Told(msgspec.Struct, kw_only=True):
    """What one test program told: outcomes by name, in order, and whether it all fits together."""

    outcomes: dict[str, str]
    texts: dict[str, str]
    began: bool
    ended: bool
    garbled: int = 0


def _unit(program: Program) -> _Told:
    """A program of libtest's: outcomes from its log, counts from its output."""
    text = printed(program.output)
    outcomes: dict[str, str] = {}
    garbled = 0
    for line in printed(program.log or b"").splitlines():
        found = _LOGGED.match(line)
        if found:
            outcomes[found[2]] = worst(_WORDS[found[1]], outcomes.get(found[2]))
        elif line.strip() and not _MEASURED.match(line):
            garbled += 1
    results = _RESULT.findall(text)
    ended = len(results) == 1 and _counted(results) == Counter(outcomes.values())
    garbled += bool(results) and not ended
    return _Told(outcomes=outcomes, texts=_texts(text), began=True, ended=ended, garbled=garbled)


def _documented(program: Program) -> _Told:
    """rustdoc's doc tests: named by their item, a further one of the same item by its number, never by their line."""
    text = printed(program.output)
    outcomes: dict[str, str] = {}
    seen: Counter[str] = Counter()
    said = _texts(text)
    texts: dict[str, str] = {}
    for match in sorted(_DOC.finditer(text), key=lambda found: int(found[3])):
        path, item, word = match[1], match[2] or "crate", match[4]
        seen[f"{path}::doc::{item}"] += 1
        number = seen[f"{path}::doc::{item}"]
        name = f"{path}::doc::{item}" + (f"[{number}]" if number > 1 else "")
        outcomes[name] = _WORDS[word.lower()]
        title = match[0].removeprefix("test ").rsplit(" ... ", 1)[0]
        if title in said:
            texts[name] = said[title]
    running = [int(n) for n in _RUNNING.findall(text)]
    results = _RESULT.findall(text)
    ended = (
        len(running) == len(results)
        and sum(running) == len(outcomes)
        and _counted(results) == Counter(outcomes.values())
    )
    begun = bool(running or results or outcomes)
    return _Told(
        outcomes=outcomes, texts=texts, began=begun or bool(program.status), ended=ended, garbled=begun and not ended
    )


def _counted(results: list[tuple[str, ...]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for _, passed, failed, ignored, *_rest in results:
        total.update(passed=int(passed), failed=int(failed), skipped=int(ignored))
    return +total


def _texts(text: str) -> dict[str, str]:
    """Of each failed test what it panicked with."""
    pieces = _STDOUT.split(text)
    out: dict[str, str] = {}
    for name, block in zip(pieces[1::2], pieces[2::2], strict=False):
        found = _PANICKED.search(block)
        if found:
            out[name] = (found[1] or found[2] or "").strip()[:400]
    return out


def _read(left: Left) -> TestRun:
    outcomes: dict[str, str] = {}
    texts: dict[str, str] = {}
    collect: dict[str, tuple[str, str]] = {}
    loaded = sessions = finished = garbled = 0
    died = False
    for program in programs(left.files, "libtest-", left.key):
        loaded += 1
        if program is None or len(program.head) < 2:
            garbled += 1
            continue
        kind, root = program.head[:2]
        if kind == "other":
            continue  # a program with a harness of its own says nothing of single tests
        where = posixpath.relpath(root, left.root)
        told = _documented(program) if kind == "doc" else _unit(program)
        bad = program.status not in (None, 0)
        died = died or bad
        sessions += told.began
        finished += told.began and program.status is not None and (bad or told.ended)
        garbled += told.garbled
        named = {name: _named(kind, where, name) for name in told.outcomes}
        for name, outcome in told.outcomes.items():
            outcomes[named[name]] = worst(outcome, outcomes.get(named[name]))
        texts |= {named[name]: text for name, text in told.texts.items() if name in named}
        if bad and not told.ended and kind != "doc":
            collect[where] = ("failed", f"the test program ended with status {program.status}")
    ends = [status(data, left.key) for name, data in left.files.items() if re.match(r"^cargo-.*\.ended$", name)]
    if any(end not in (None, 0) for end in ends):
        unbuilt = _UNBUILT.search(left.output.decode("utf-8", "replace"))
        if unbuilt or not died:
            collect[""] = ("failed", "could not be built")
    return TestRun(
        outcomes=outcomes,
        texts=texts,
        asserted=frozenset(i for i, outcome in outcomes.items() if outcome == "failed"),
        collect=collect,
        items=frozenset(outcomes),
        loaded=loaded + len(ends),
        sessions=sessions,
        finished=finished,
        garbled=garbled,
        source="output",
    )


def _named(kind: str, where: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(where, name)) if kind == "doc" else f"{where}::{name}"


_COMPILER = re.compile(r"^(error|warning: unused)(\[E\d+\])?: ")
_FOLLOWING = re.compile(r"^error: (test|doctest) failed|^error: \d+ targets?")
_PLACE = re.compile(r"^\s*--> \S+:\d+:\d+$")


def _digest(lines: list[str]) -> Iterator[str]:
    """Compiler errors with their place, then what each failed test panicked with, then the counts."""
    if not any(line.startswith("test result: ") or re.match(r"^error(\[E\d+\])?: ", line) for line in lines):
        return
    told = 0
    for at, line in enumerate(lines):
        if (
            line.startswith("error")
            and told < 8
            and not re.match(r"^error: (test|doctest) failed|^error: \d+ targets?", line)
        ):
            told += 1
            yield line[:_LONGEST]
            yield from [near.strip()[:_LONGEST] for near in lines[at + 1 : at + 4] if _PLACE.match(near)][:1]
    for at, line in enumerate(lines):
        if "panicked at " in line and told < 16:
            told += 1
            yield line[:_LONGEST]
            for near in lines[at + 1 : at + 4]:
                if re.match(r"^(stack backtrace:|note: )", near):
                    break
                if near.strip():
                    yield near[:_LONGEST]
    yield from [line[:_LONGEST] for line in lines if re.match(r"^test .* \.\.\. FAILED$", line)][:12]
    yield from [line[:_LONGEST] for line in lines if line.startswith("test result: FAILED")][:4]


_OWN_RUNNER = r"(?m)^\s*runner\s*="

FAMILY = Family(
    name="cargo",
    find=_find,
    arrange=_arrange,
    read=_read,
    digest=_digest,
    settings=((".cargo/config.toml", _OWN_RUNNER), (".cargo/config", _OWN_RUNNER)),
)
