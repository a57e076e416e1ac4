"""How tunnels end: with their tree, with the runner that serves them, with the command they belong to. Nothing is left."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attempts
import psutil
import pytest

import sandbox_jobs as jobs
from inspan.attempt.start import cancel, start_or_adopt, wait
from inspan.errors import HarnessError
from inspan.outcome.records import EgressRecord
from inspan.sandbox.contract import Confinement
from inspan.sandbox.levels import driver
from inspan.spec.paths import AttemptPaths
from inspan.supervise.command import run_confined

LEVEL = "sandbox"
START = {"print": {"type": "start"}}
HOLD = """
import os, socket, sys
s = socket.create_connection(("127.0.0.1", 8081), 60)
s.sendall(b"CONNECT %s HTTP/1.1\\r\\n\\r\\n" % sys.argv[1].encode())
assert s.recv(4096).split()[1] == b"200"
s.sendall(b"held")
s.settimeout(None)
s.recv(1)
"""


class Far:
    """A server of the host that takes what comes and says nothing.

    Attributes:
        place: ``host:port``.
        heard: set once a tunnel has carried bytes. over: set once that tunnel has ended.
    """

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._server.getsockname()[1]}"
        self.heard, self.over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        try:
            near, _ = self._server.accept()
        except OSError:
            return
        with near:
            try:
                while near.recv(100):
                    self.heard.set()
            except OSError:
                pass
        self.over.set()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join()


@pytest.fixture
def far(tmp_path: Path) -> Iterator[Far]:
    jobs.require(LEVEL)
    made = Far()
    yield made
    made.close()
    assert [p for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in " ".join(p.info["cmdline"] or [])] == []


def begin(state: Path, far: Far, **changes: Any) -> AttemptPaths:
    """An attempt whose program holds a tunnel open."""
    paths = AttemptPaths(state / "attempts" / "j1.a1")
    hold = f"{attempts.python()} -c {shlex.quote(HOLD)} {far.place}"
    grants = {"egress": (far.place,), "private": (far.place,)}
    start_or_adopt(paths, attempts.request(paths, LEVEL, [START, {"run": hold}], **grants, **changes), None)
    assert far.heard.wait(60), paths.stderr.read_text() if paths.stderr.exists() else "the program never started"
    return paths


def only(record: EgressRecord | None) -> tuple[str, str, int, int]:
    assert record is not None
    (line,) = record.decisions
    return line.decision, line.why, line.sent, line.received


def test_a_cancelled_attempt_takes_its_tunnels_with_it_and_keeps_their_log(tmp_path: Path, far: Far) -> None:
    paths = begin(tmp_path, far)
    cancel(paths)
    record = wait(paths)
    assert (record.end, record.survivors) == ("cancelled", ())
    assert far.over.wait(60)
    assert only(record.egress) == ("allowed", "granted", 4, 0)


@pytest.mark.long
def test_so_does_one_that_ends_at_its_deadline(tmp_path: Path, far: Far) -> None:
    record = wait(begin(tmp_path, far, timeout=20.0))
    assert record.end == "deadline"
    assert far.over.wait(60)
    assert only(record.egress) == ("allowed", "granted", 4, 0)


@pytest.mark.long
def test_a_killed_runner_takes_proxy_and_tree_with_it(tmp_path: Path, far: Far) -> None:
    paths = begin(tmp_path, far)
    os.kill(int((paths.root / "starts").read_text().split()[0]), signal.SIGKILL)
    assert far.over.wait(60)
    record = wait(paths)
    assert (record.end, record.survivors, record.egress) == ("crashed", (), None), "a log that is lost is not invented"


@pytest.mark.parametrize("how", [pytest.param("timeout", marks=pytest.mark.long), "cancelled"])
def test_a_command_that_is_ended_takes_its_tunnels_with_it(how: str, tmp_path: Path, far: Far) -> None:
    python, tools = jobs.python_inside()
    confinement = Confinement(
        plan=jobs.plan(tmp_path, LEVEL),
        argv=(python, "-I", "-c", HOLD, far.place),
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
        tools=tools,
        ports=0,
        egress=(far.place,),
        private=(far.place,),
    )
    before = len(os.listdir("/proc/self/fd"))
    patience = {"timeout": 15.0} if how == "timeout" else {"timeout": 120.0, "cancelled": far.heard.is_set}
    ran = run_confined(driver(LEVEL), confinement, **patience)  # type: ignore[arg-type]
    assert (ran.exit, ran.ended) == (None, how), ran.output
    assert far.over.wait(60)
    assert only(ran.egress) == ("allowed", "granted", 4, 0)
    assert [t.name for t in threading.enumerate() if t.name == "egress"] == []
    assert len(os.listdir("/proc/self/fd")) <= before


def test_one_that_cannot_be_started_leaves_no_proxy(tmp_path: Path) -> None:
    jobs.require(LEVEL)
    confinement = Confinement(
        plan=jobs.plan(tmp_path, LEVEL), argv=("no-such-program",), env={}, ports=0, egress=("a.example:1",)
    )
    with pytest.raises(HarnessError, match="no-such-program"):
        run_confined(driver(LEVEL), confinement, timeout=60)
    assert [t.name for t in threading.enumerate() if t.name == "egress"] == []
