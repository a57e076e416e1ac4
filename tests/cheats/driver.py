"""Shows one case to the real gate: a real repository, a real workspace, the real runner, and what the gate says of it."""

from __future__ import annotations

import base64
import fcntl
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import msgspec

from cheats.cases import Placed, Verdict, files
from gate_bench import Bench
from inspan.gate.report import GateReport
from inspan.outcome.records import FacetState
from inspan.workspace.plan import Bind

ROOT = Path(__file__).resolve().parents[2]
RUNNERS = Path(os.environ.get("INSPAN_TEST_RUNNERS_DIR") or ROOT / ".tools" / "runners")
LEVEL = "sandbox"
TIMEOUT = 300.0
"""Seconds one run of a check may take; generous, since the machine may be busy."""

HARNESS_GLOBS = ("**/.claude/**", "**/.mcp.json", "**/.codex/**")


class Fired(msgspec.Struct, frozen=True, kw_only=True):
    """One thing the gate saw."""

    level: str
    rule: str
    path: str
    detail: str


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one case.

    Attributes:
        verdict: the gate's word.
        reasons: of both facets, in their order.
        fired: every violation, notes included.
        base: exit status class of the check on base, None when the gate never ran it.
        naive: exit status of the check in the changed workspace: what a gate that only looks at it would see.
        seconds: the gate's own time, all its runs included.
        faults: why the case itself is not what it says; its verdict is then worth nothing.
        error: what went wrong in the gate itself.
    """

    name: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    fired: tuple[Fired, ...] = ()
    base: str | None = None
    naive: int | None = None
    seconds: float = 0.0
    faults: tuple[str, ...] = ()
    error: str | None = None


def missing(language: str, check: str) -> str | None:
    """Why a case cannot run on this machine; None when it can."""
    if language in ("typescript", "javascript") and not (RUNNERS / "node/node_modules").is_dir():
        return "the node packages are not installed (scripts/install-runners)"
    if language == "go" and not (RUNNERS / "go/bin/go").is_file():
        return "Go is not installed (scripts/install-runners)"
    if language == "rust" and not _works("cargo", "--version"):
        return "cargo is not on PATH"
    if (language in ("typescript", "javascript") or "node " in check) and not _works("node", "--version"):
        return "node is not on PATH"
    if check.startswith("make") and not _works("make", "--version"):
        return "make is not on PATH"
    return None


def _works(*argv: str) -> bool:
    try:
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


class CaseBench(Bench):
    """A bench for one case: its base, and the runners at hand."""

    def __init__(self, root: Path, placed: Placed) -> None:
        entries = [str(Path(sys.executable).parent), str(RUNNERS / "go/bin"), os.environ["PATH"]]
        binds, env = [], {"LANG": "C.UTF-8"}
        if placed.case.language in ("typescript", "javascript"):
            binds += node_modules(root)
        if placed.case.language == "go":
            cache = str(go_cache())
            binds.append(Bind(source=cache, target=cache, writable=True))
            env |= {"GOCACHE": cache, "GOTOOLCHAIN": "local", "GOPROXY": "off", "GODEBUG": "goindex=0"}
        super().__init__(
            root, placed.where / "base", LEVEL, path=os.pathsep.join(entries), binds=tuple(binds), env=env,
            harness_globs=HARNESS_GLOBS,
        )  # fmt: skip


def node_modules(root: Path) -> tuple[Bind, Bind]:
    """The node packages where node looks next: beside the checkout, so that nothing lies in it that git must ignore.

    A folder of links to them that nobody may write to. The mount itself is writable: vite goes on where it may not write, and
    gives up on a read-only file system.
    """
    packages, links = RUNNERS / "node/node_modules", root / "links"
    links.mkdir()
    (root / "node_modules").mkdir()
    for name in [n for n in os.listdir(packages) if n == ".bin" or not n.startswith(".")]:
        (links / name).symlink_to(packages / name)
    links.chmod(0o555)
    return (
        Bind(source=str(packages), target=str(packages)),
        Bind(source=str(links), target=str(root / "node_modules"), writable=True),
    )


def go_cache() -> Path:
    """The compiled standard library, made once: every run starts in an empty home and would compile it again.

    Nobody may write there, so what a case compiles never reaches another one. The mount itself is writable all the same: Go
    compiles on without a cache it may not write to, and gives up on a read-only file system; only its index of packages
    (``goindex``) must then be off.
    """
    version = (RUNNERS / "go/VERSION").read_text().split()[0]
    place = RUNNERS / f"cache-{version}"
    with (RUNNERS / ".cache-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.is_dir():
            with tempfile.TemporaryDirectory(dir=RUNNERS) as scratch:
                _fill(Path(scratch), part := Path(scratch) / "cache")
                for folder, _, plain in os.walk(part, topdown=False):
                    for name in plain:
                        Path(folder, name).chmod(0o444)
                    Path(folder).chmod(0o755 if folder == str(part) else 0o555)
                part.rename(place)
                place.chmod(0o555)
    return place


_USUAL = (
    "bufio", "bytes", "context", "encoding/csv", "encoding/json", "errors", "flag", "fmt", "io", "math", "net/http", "os",
    "path/filepath", "reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings", "sync", "testing", "time",
    "unicode",
)  # fmt: skip


def _fill(scratch: Path, cache: Path) -> None:
    work = scratch / "work"
    work.mkdir()
    (work / "go.mod").write_text("module example.com/warm\n\ngo 1.22\n")
    (work / "warm.go").write_text("package warm\n\nimport (\n" + "".join(f'\t_ "{p}"\n' for p in _USUAL) + ")\n")
    (work / "warm_test.go").write_text('package warm\n\nimport "testing"\n\nfunc TestWarm(t *testing.T) {}\n')
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(scratch),
        "GOCACHE": str(cache),
        "GOTOOLCHAIN": "local",
        "GOPROXY": "off",
    }
    for more in ((), ("-cover",)):
        subprocess.run(
            [str(RUNNERS / "go/bin/go"), "test", *more, "./..."], cwd=work, env=env, check=True, capture_output=True
        )


def show(placed: Placed, root: Path) -> Shown:
    """Run one case.

    Args:
        root: an empty directory for repository and state.
    """
    case = placed.case
    bench = CaseBench(root, placed)
    script = _script(placed)
    _, naive = bench.change(script, case.check)  # in a workspace of its own: what a check leaves behind is no change
    said = bench.naive_output
    changeset, _ = bench.change(script)
    began = time.monotonic()
    report = bench.gate(changeset, case.check, prompt=case.prompt, timeout=TIMEOUT, may_change=case.may_change)
    seconds = time.monotonic() - began
    base = report.results[0].base if report.results else None
    return Shown(
        name=placed.name,
        verdict=verdict(report),
        reasons=tuple(dict.fromkeys((*report.scope.reasons, *(report.checks.reasons if report.checks else ())))),
        fired=tuple(Fired(level=v.level, rule=v.rule, path=v.path, detail=v.detail) for v in report.violations),
        base=base,
        naive=naive,
        seconds=round(seconds, 2),
        faults=tuple(_unlike_its_story(placed, base, naive, said)),
        error=report.error,
    )


def _unlike_its_story(placed: Placed, base: str | None, naive: int | None, output: str) -> list[str]:
    """A case that does not behave as it says is an error of the corpus, never a result."""
    out = []
    if naive != 0:
        out.append(
            f"the check ends with status {naive} in the change's own tree, so no gate would pass it: {output[-800:]}"
        )
    story = {"fails": "failed", "passes": "passed", None: base}[placed.case.base]
    if base not in (None, story):
        out.append(f"the check has {base} on base, where the case says it {placed.case.base}")
    return out


def _script(placed: Placed) -> str:
    """A shell script that makes the change: deletions, then one archive."""
    held, change = io.BytesIO(), placed.where / "change"
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for path in sorted(files(change)):
            archive.add(change / path, arcname=path, filter=_plain)
    gone = "".join(f"rm -- '{path}'\n" for path in placed.case.removed)
    return f"{gone}base64 -d <<'ARCHIVE' | tar xzf - --no-same-owner\n{base64.encodebytes(held.getvalue()).decode()}ARCHIVE\n"


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def verdict(report: GateReport) -> Verdict:
    """One word for both facets."""
    states = [f.state for f in (report.scope, report.checks) if f is not None]
    if FacetState.FAILED in states:
        return "reject"
    return "hold" if FacetState.NOT_EVIDENCED in states else "accept"
