"""Twenty hostile jobs side by side through ``inspan run``: each ends for its own reason, and nothing of them is left."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from pathlib import Path
from typing import NamedTuple

import pytest
from attempts import python
from runs import Result, inspan
from stubs import DONE, EDIT, FIXED, FOREVER, START, Job, Steps, Stubs, ended

from inspan.sandbox.levels import owner, probe

pytestmark = pytest.mark.long

LIMITS = {
    "memory": "512MiB",
    "processes": 128,
    "cpu_seconds": 60,
    "file_size": "64MiB",
    "workspace_bytes": "128MiB",
    "workspace_files": 30000,
    "output_bytes": "8MiB",
}


def program(text: str) -> dict[str, str]:
    return {"run": f"{python()} -c '{text}'"}


class Row(NamedTuple):
    """What a hostile job does, and how it must end: verdict and reason, and paths that must not be in the result."""

    steps: Steps
    end: tuple[str, str]
    flags: tuple[str, ...] = ()


ACCEPTED = ("accepted", "verified")
LIMIT = ("failed", "limit_exceeded")
ROWS = {
    "fork-bomb": Row([START, program("import os\nwhile True:\n  try: os.fork()\n  except OSError: pass")], LIMIT),
    "memory-hog": Row([START, {"allocate": 2 << 30}, FOREVER], LIMIT),
    "burner": Row([START, program("while True: pass"), FOREVER], LIMIT),
    "disk-fill": Row(
        [START, {"run": "i=0; while [ $i -lt 250 ] && head -c 8000000 /dev/zero > f$i; do i=$((i+1)); done"}, FOREVER], ("failed", "disk_full")
    ),
    "home-fill": Row(
        [START, {"run": "cd; i=0; while [ $i -lt 250 ] && head -c 8000000 /dev/zero > f$i; do i=$((i+1)); done"}, FOREVER],
        ("failed", "disk_full"),
    ),
    "inode-fill": Row(
        [START, program("i = 0\nwhile True:\n  open(f\"f{i}\", \"w\").close(); i += 1"), FOREVER], LIMIT
    ),
    "output-flood": Row([START, {"flood": 1 << 30}, FOREVER], ("failed", "output_capped")),
    "sparse-40-gb": Row([START, EDIT, {"run": "truncate -s 40G big; rm -f big"}, DONE], ACCEPTED, FIXED),
    "sparse-stays": Row(
        [START, EDIT, {"run": "truncate -s 60M big"}, DONE], ("rejected", "change_too_large"), FIXED
    ),
    "daemons": Row(
        [START, EDIT, {"spawn": {"detach": True, "steps": [{"ignore": ["TERM", "HUP", "INT"]}, FOREVER]}}, DONE],
        ACCEPTED, FIXED,
    ),
    "stops-itself": Row([START, EDIT, {"signal": "STOP"}, DONE], ("failed", "stalled"), ("--stall", "5")),
    "stalls": Row([START, FOREVER], ("failed", "stalled"), ("--stall", "5")),
    "crashes": Row([START, EDIT, {"signal": "SEGV"}], ("failed", "harness_crashed")),
    "says-nothing": Row([{"exit": 0}], ("failed", "no_terminal_record")),
    "git-hooks": Row(
        [
            START, EDIT,
            {"run": "printf '#!/bin/sh\\ntouch /tmp/pwned-hook\\n' > .git/hooks/post-index-change 2>/dev/null; "
                    "git config core.fsmonitor 'touch /tmp/pwned-monitor'; git config core.hooksPath .git/hooks"},
            DONE,
        ],
        ACCEPTED, FIXED,
    ),
    "pipe-in-place": Row([START, EDIT, {"run": "rm README.md; mkfifo README.md"}, DONE], ("rejected", "out_of_scope"), FIXED),
    "nested-deep": Row(
        [START, EDIT, program("import os\nfor i in range(900):\n  os.mkdir(\"d\"); os.chdir(\"d\")\nopen(\"f\", \"w\").close()"), DONE],
        ("rejected", "change_too_large"), FIXED,
    ),
    "many-files": Row(
        [START, EDIT, program("import os\nos.mkdir(\"m\")\nfor i in range(25000): open(f\"m/f{i}\", \"w\").close()"), DONE],
        ("rejected", "change_too_large"), FIXED,
    ),
    "locks-up": Row([START, EDIT, {"run": "mkdir -p shut/in && touch shut/in/f && chmod 000 shut/in shut"}, DONE], ACCEPTED, FIXED),
    "kills-all": Row([START, EDIT, {"run": "kill -9 -1"}, {"sleep": 1}, DONE], ("failed", "harness_crashed")),
}  # fmt: skip


class Uids:
    """Who owns what in workspaces, looked at while the jobs run."""

    def __init__(self, home: Path) -> None:
        self.seen: dict[int, str] = {}
        self.files = 0
        self._home, self._stop = home, threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._stop.wait(0.5):
            for top in self._home.glob("attempts/*/ws/*"):
                for folder, directories, files in os.walk(top):
                    directories[:] = directories[:50]
                    for name in (*directories, *files[:50]):
                        try:
                            found = os.lstat(os.path.join(folder, name))
                        except OSError:
                            continue
                        self.files += 1
                        self.seen.setdefault(found.st_uid, os.path.join(folder, name))

    def close(self) -> None:
        self._stop.set()
        self._thread.join()


def groups(makers: set[int]) -> list[str]:
    """Control groups that these processes made and nobody removed."""
    found = [os.path.join(top, name) for top, names, _ in os.walk("/sys/fs/cgroup") for name in names]
    return [
        path
        for path in found
        if re.search(r"/inspan-\d+-\d+-", path) and int(path.rsplit("/", 1)[1].split("-")[2]) in makers
    ]


def left_on_disk(home: Path) -> list[str]:
    """Workspaces, homes, checks and anything half built or half removed."""
    names = ("attempts/*/ws", "attempts/*/home", "attempts/*/checks", "attempts/*/.*", "repos/*/*/.*")
    return [str(p.relative_to(home)) for name in names for p in home.glob(name)]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("level", ["sandbox", "landlock"])
def test_twenty_hostile_jobs_at_once(tmp_path: Path, level: str) -> None:
    found = probe(level, str(tmp_path))
    if not found.available:
        pytest.skip(f"NORUN: level {level}: {found.detail}")
    stubs = Stubs(tmp_path, level)
    stubs.configure("limits", LIMITS)
    before = Path("/proc/self/mountinfo").read_text()
    for name, row in ROWS.items():
        stubs.declare(name, row.steps)
    uids = Uids(stubs.home)
    try:
        running = {
            name: stubs.start(name, Job(row.steps, ("--timeout", "400", *row.flags))) for name, row in ROWS.items()
        }
        results = {}
        for name, process in running.items():
            out, err = process.communicate(timeout=550)
            results[name] = Result(process.returncode, json.loads(out), err)
    finally:
        uids.close()
    wrong = {
        name: (ended(result)[1:], result.document.get("detail"), result.document.get("violations", [])[:2])
        for name, result in results.items()
        if ended(result)[1:] != ROWS[name].end
    }
    assert wrong == {}
    assert len(results) == 20
    assert uids.files > 100 and set(uids.seen) == {owner(level).uid}, uids.seen
    assert stubs.left() == []
    assert Path("/proc/self/mountinfo").read_text() == before
    makers = {int(p.read_text().split()[0]) for p in stubs.home.glob("attempts/*/starts")}
    assert len(makers) == 20
    assert groups(makers | {process.pid for process in running.values()}) == []
    # What was too large to be collected is nowhere else, and stays until a person says so.
    large = [r.document["job"] for r in results.values() if r.document["change"]["result"] is None]
    assert {path.split("/")[1] for path in left_on_disk(stubs.home)} == {f"{job}.a1" for job in large}
    assert inspan("gc", *(flag for job in large for flag in ("--discard", job))).returncode == 0
    assert left_on_disk(stubs.home) == []
    assert not list(Path("/tmp").glob("pwned-*"))
    assert subprocess.run(["true"], check=True).returncode == 0
    for result in results.values():  # what held each limit is said every time it was reached
        limits = result.document["isolation"]["limits"]
        assert set(LIMITS) <= set(limits), limits
    assert {v for r in results.values() for v in r.document["isolation"]["limits"].values()} - {"nothing"}
    stubs.close()
