"""pytest and unittest: a module of ours, loaded by the runner, appends one keyed line per outcome.

The module is copied under a fresh name for every run; only the environment (pytest) or the module's name after ``-m``
(unittest) differs from what the user asked for.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator

import msgspec

from inspan.gate.commands import python_module
from inspan.gate.results import TestRun, read_lines
from inspan.gate.runners.contract import Arranged, Call, Family, Left, Request

_PYTHONPATH = re.compile(r"((?<![\w$])PYTHONPATH=(['\"]?))")
_CACHE_OPTIONS = re.compile(r"--(lf|last-failed|ff|failed-first|nf|new-first|sw|stepwise|cache)\b")
_UNITTEST = re.compile(
    r"((?:^|[\s/;&|(])(?:python|python3|pypy3?)(?:\.\d+)*\s+(?:-[WX]\s+\S+\s+|-[A-Za-z]\S*\s+)*?-m\s+)unittest(?=\s|$|[;&|)])"
)
_RUNNING = frozenset(("uv", "poetry", "pdm", "hatch", "pipenv", "rye"))
_PYTEST = frozenset(("pytest", "py.test"))
_ASSERTED = ("assert ", "AssertionError", "Failed:", "[XPASS")
_SUMMARY = re.compile(r"^(FAILED|ERROR) \S+")
_RULE = re.compile(r"^(=+|_+|-+)( .* )?(\1)?$")
_LONGEST = 200


def _find_pytest(call: Call) -> tuple[str, ...] | None:
    words = list(call.words)
    name, module = posixpath.basename(words[0]), python_module(words)
    if name in _PYTEST or module in _PYTEST:
        return ()
    covered = name in ("coverage", "coverage3") and re.search(r"-m\s+(pytest|unittest)\b", " ".join(words))
    if (covered or module == "coverage") and "pytest" in words:
        return ()
    if name in _RUNNING and words[1:2] == ["run"] and any(posixpath.basename(w) in _PYTEST for w in words[2:]):
        return ()
    return None


def _find_unittest(call: Call) -> tuple[str, ...] | None:
    return () if python_module(list(call.words)) == "unittest" and _UNITTEST.search(call.line) else None


def _arrange(request: Request, arranged: Arranged, shim: str) -> Arranged:
    name = f"results_{request.token[:12]}"
    env = {
        **arranged.env,
        "PYTHONPATH": ":".join(filter(None, (request.shim_inside, arranged.env.get("PYTHONPATH")))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "INSPAN_EVIDENCE": request.results,
        "INSPAN_ROOT": request.root_inside,
    }
    if request.only:
        env["INSPAN_ONLY"] = request.only
    command = _with_shim(arranged.command, request.shim_inside)
    if shim == "pytest_evidence.py":
        cache = "" if _CACHE_OPTIONS.search(command) else " -p no:cacheprovider"
        env["PYTEST_ADDOPTS"] = f"-p {name}{cache}"
    else:
        command = _UNITTEST.sub(rf"\g<1>{name}", command)
    files = {**arranged.files, f"{name}.py": request.source(shim)}
    return msgspec.structs.replace(arranged, command=command, env=env, files=files)


def _with_shim(command: str, shim_inside: str) -> str:
    """Keep our directory on the path where the command sets PYTHONPATH itself."""

    def put(found: re.Match[str]) -> str:
        return f"{found[1]}{shim_inside}:" if found[2] else f"{found[1]}{shlex.quote(shim_inside)}:"

    return _PYTHONPATH.sub(put, command)


def _read(left: Left) -> TestRun:
    run = read_lines(left.files.get("results", b""), left.key)
    asserted = frozenset(i for i, text in run.texts.items() if text.startswith(_ASSERTED))
    return msgspec.structs.replace(run, asserted=asserted)


def _digest_pytest(lines: list[str]) -> Iterator[str]:
    """The assertion lines of each failure, then the summary."""
    if not any(_SUMMARY.match(line) or re.match(r"^=+ (FAILURES|ERRORS) =+$", line) for line in lines):
        return
    shown = 0
    for line in lines:
        if line.startswith(("E ", ">")) and shown < 24:
            shown += 1
            yield line[:_LONGEST]
    for line in lines:
        if _SUMMARY.match(line):
            yield line[:_LONGEST]
    tail = [line for line in lines if re.search(r"\d+ (passed|failed|error)", line)]
    yield from tail[-1:]


def _digest_unittest(lines: list[str]) -> Iterator[str]:
    """Head, last code line and error of each failure, then the summary."""
    if not any(re.match(r"^(FAIL|ERROR): \w+ \(|^Ran \d+ tests? in ", line) for line in lines):
        return
    block: list[str] = []
    inside = False
    for line in lines:
        if line.startswith(("FAIL: ", "ERROR: ")):
            inside, block = True, [line]
        elif inside and line.startswith(("======", "Ran ")):
            inside = False
            yield from (b[:_LONGEST] for b in (block[:1] + [b for b in block[1:] if not _RULE.match(b)][-3:]))
        elif inside and line.strip():
            block.append(line)
    yield from [line for line in lines if line.startswith(("FAILED", "Ran ", "OK"))][-2:]


PYTEST = Family(
    name="pytest",
    find=_find_pytest,
    arrange=lambda request, arranged: _arrange(request, arranged, "pytest_evidence.py"),
    read=_read,
    digest=_digest_pytest,
    foiled="PYTHONPATH",
)
UNITTEST = Family(
    name="unittest",
    find=_find_unittest,
    arrange=lambda request, arranged: _arrange(request, arranged, "unittest_evidence.py"),
    read=_read,
    digest=_digest_unittest,
    foiled="",  # its name in the command's own text is what is replaced
)
