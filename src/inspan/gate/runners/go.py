"""go test: every test program runs by way of ``-exec``, in Go's own form for programs that read its output.

Nothing but its standard output leaves a Go test program, so it is held against itself: an outcome without a beginning
is garbled, and a status of 0 counts only with the log that the testing package writes at the regular end of a run.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

import msgspec

from inspan.gate.results import TestRun, worst
from inspan.gate.runners.contract import Arranged, Call, Family, Left, Request
from inspan.gate.runners.evidence_files import Program, programs, status

_NOT_RUNNING = re.compile(r"^-(-?)(c|list|exec|n|h|help)(=.*)?$")
_RUN = re.compile(r"^=== RUN +(\S+)$")
_NAME = re.compile(r"^=== (?:NAME|CONT) +(\S*)$")
_DONE = re.compile(r"^\s*--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d+s\)$")
_OTHER = re.compile(r"^(=== (PAUSE|ATTR|ARTIFACTS) |--- BENCH: |PASS$|FAIL$|$)")
_WORDS = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
_LOG_HEAD = b"# test log\n"
_PANIC = re.compile(r"^(panic: |fatal error: |SIG[A-Z]+: )")
_UNBUILT = re.compile(r"^FAIL\t(\S+) \[(?:build|setup) failed\]$", re.MULTILINE)
_SAID = re.compile(r"\S+\.go:\d+: (.*\S)")
_LONGEST, _SEEN = 200, 1000


def _find(call: Call) -> tuple[str, ...] | None:
    name = posixpath.basename(call.words[0])
    rest = list(call.words[1:])
    if name == "gotestsum":
        return ()
    if name == "go" and rest[:1] == ["-C"]:
        rest = rest[2:]
    if name != "go" or rest[:1] != ["test"] or any(_NOT_RUNNING.match(w) for w in rest[1:]):
        return None
    return ()


def _arrange(request: Request, before: Arranged) -> Arranged:
    files = {**before.files, "go": request.program("go.sh"), "go-exec": request.source("go-exec.sh")}
    return msgspec.structs.replace(before, env=before.ahead(request), files=files)


class _Told:
    """What one test program's output tells."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.outcomes: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.items: set[str] = set()
        self.said: set[str] = set()
        self.open: dict[str, int] = {}
        self.current = ""
        self.garbled = 0
        self.last = ""

    def name(self, test: str) -> str:
        return "::".join((self.place, test))

    def mark(self, line: str) -> None:
        """A line of the testing package's."""
        run, named, done = _RUN.match(line), _NAME.match(line), _DONE.match(line)
        if run and run[1].startswith("Benchmark"):
            return
        if run:
            self.open[run[1]] = self.open.get(run[1], 0) + 1
            self.items.add(self.name(run[1]))
            self.current = run[1]
        elif named:
            self.current = named[1]
        elif done:
            if not self.open.get(done[2]):
                self.garbled += 1
                return
            self.open[done[2]] -= 1
            test_id = self.name(done[2])
            self.outcomes[test_id] = worst(_WORDS[done[1]], self.outcomes.get(test_id))
            self.current = done[2]
        elif not _OTHER.match(line):
            self.garbled += 1
        if line in ("PASS", "FAIL"):
            self.last = line

    def say(self, line: str) -> None:
        """A line that a test printed or failed with."""
        said, name = _SAID.search(line), self.name(self.current)
        if self.current and said and name not in self.said:
            self.said.add(name)
            self.texts[name] = said[1][:400]
        elif self.current and line.strip():
            self.texts.setdefault(name, line.strip()[:400])


def _told(program: Program, root: str) -> _Told:
    place = posixpath.relpath(program.head[0], root) if program.head else "?"
    told = _Told(place)
    for n, chunk in enumerate(program.output.decode("utf-8", "replace").split("\x16")):
        first, *rest = chunk.replace("\x0f", "").replace("\x0e", "").split("\n")
        if n == 0:
            rest = [first, *rest]
        else:
            told.mark(first[:_SEEN].rstrip("\r"))
        for line in rest:
            told.say(line[:_SEEN])
    return told


def _read(left: Left) -> TestRun:
    run = TestRun(source="output")
    outcomes: dict[str, str] = {}
    texts: dict[str, str] = {}
    collect: dict[str, tuple[str, str]] = {}
    items: set[str] = set()
    asserted: set[str] = set()
    loaded = finished = garbled = 0
    for program in programs(left.files, "gotest-", left.key):
        loaded += 1
        if program is None:
            garbled += 1
            continue
        told = _told(program, left.root)
        regular = program.log is not None and program.log.startswith(_LOG_HEAD)
        bad = program.status not in (None, 0)
        for test in [t for t, n in told.open.items() if n and bad]:
            told.outcomes[told.name(test)] = "failed"
        died = bool(bad and not regular)
        if died and "failed" not in told.outcomes.values():
            garbled += 1  # something ended it while no test was running: its word on the tests before is worth nothing
        if died:  # what it had not come to yet has no outcome of its own
            collect[told.place] = ("failed", f"the test program ended with status {program.status}")
        failed = {i for i, outcome in told.outcomes.items() if outcome == "failed"}
        asserted |= failed  # a test that was built and fails, by a panic too, fails by what the code does
        finished += bool(bad or (program.status == 0 and regular and told.last == "PASS"))
        garbled += told.garbled
        items |= told.items
        texts |= {i: told.texts[i] for i in failed if i in told.texts}
        for test_id, outcome in told.outcomes.items():
            outcomes[test_id] = worst(outcome, outcomes.get(test_id))
    collect |= _unbuilt(left)
    return msgspec.structs.replace(
        run,
        outcomes=outcomes,
        texts=texts,
        asserted=frozenset(asserted),
        collect=collect,
        items=frozenset(items),
        loaded=loaded + len(collect),
        sessions=loaded,
        finished=finished,
        garbled=garbled,
    )


def _unbuilt(left: Left) -> dict[str, tuple[str, str]]:
    """Packages that go could not build or set up, by directory; only where go's own status says that it failed."""
    runs = [n.removesuffix(".ended") for n in left.files if n.startswith("go-") and n.endswith(".ended")]
    places: dict[str, str] = {}
    for run in runs:
        if status(left.files[f"{run}.ended"], left.key) in (None, 0):
            continue
        for line in left.files.get(f"{run}.packages", b"").decode("utf-8", "replace").splitlines():
            package, _, directory = line.partition("\t")
            places[package] = posixpath.relpath(directory, left.root) if directory else package
    text = left.output.decode("utf-8", "replace") if places else ""
    return {places[p]: ("failed", "could not be built") for p in _UNBUILT.findall(text) if p in places}


_COMPILER = re.compile(r"^(?:\./)?\S+\.go:\d+:\d+: ")
_FAILURE = re.compile(r"^\s*--- FAIL: ")
_PACKAGE = re.compile(r"^(FAIL|# )\t?\S+")


def _digest(lines: list[str]) -> Iterator[str]:
    """Compiler errors, then of each failed test its name and what it said, then the packages that failed."""
    if not any(re.match(r"^(FAIL|ok)\s+\S+\s", line) or _FAILURE.match(line) for line in lines):
        return
    yield from [line[:_LONGEST] for line in lines if _COMPILER.match(line)][:12]
    said = 9
    for line in lines:
        if _FAILURE.match(line) or _PANIC.match(line):
            said = 0
            yield line.rstrip()[:_LONGEST]
        elif re.match(r"^\s+\S+\.go:\d+: ", line):
            yield line.rstrip()[:_LONGEST]
            said = 0
        elif said < 3 and line.startswith("    ") and "/src/testing/" not in line:
            said += 1
            yield line.rstrip()[:_LONGEST]
    yield from [line[:_LONGEST] for line in lines if re.match(r"^FAIL\s+\S+", line)][:8]


FAMILY = Family(name="go", find=_find, arrange=_arrange, read=_read, digest=_digest)
