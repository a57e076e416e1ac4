"""Attempts from outside: the runner with real processes, pipes, sandbox and gateway, at both levels.

Recipes 1, 2, 3, 11 and 14 of the list of reported pains, each with its negative control; then what a person or a crash
can do to a run: cancel, deadline, flood, dead drivers, dead runners.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import attempts
import psutil
import pytest
from attempts import LEVELS, request, require, said

from inspan.attempt.collect import executor_finding
from inspan.attempt.contract import TerminalRecord
from inspan.attempt.files import read_request
from inspan.attempt.start import cancel, start_or_adopt, wait
from inspan.gateway.journal import read_journal
from inspan.outcome.records import FacetState
from inspan.sandbox.contract import Limits
from inspan.spec.paths import AttemptPaths

START = {"print": {"type": "start"}}
GOOD_END = {"print": {"type": "end", "ok": True, "message": "done"}}
FOREVER = {"sleep": "forever"}


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    require(request.param, tmp_path)
    return str(request.param)


at_none = pytest.mark.parametrize("level", ["none"], indirect=True)
at_sandbox = pytest.mark.parametrize("level", ["sandbox"], indirect=True)


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path) -> Iterator[None]:
    """After every test: no process that was started for this state directory lives."""
    yield
    until = time.monotonic() + 5
    while left := living(str(tmp_path)):
        assert time.monotonic() < until, f"left running: {left}"
        time.sleep(0.05)


def living(text: str) -> list[str]:
    """Command lines of live processes that mention ``text``, but for ourselves."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or [])
        if text in line and process.info["pid"] != os.getpid() and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(line)
    return found


def run(state: Path, level: str, steps: list[dict[str, Any]], **changes: Any) -> tuple[TerminalRecord, AttemptPaths]:
    record = attempts.run(state, level, steps, **changes)
    return record, AttemptPaths(state / "attempts" / "j1.a1")


def begin(state: Path, level: str, steps: list[dict[str, Any]], **changes: Any) -> AttemptPaths:
    """Start an attempt and come back once its program runs."""
    paths = AttemptPaths(state / "attempts" / "j1.a1")
    start_or_adopt(paths, request(paths, level, [START, *steps], **changes), None)
    eventually(lambda: paths.events.exists() and attempts.events(paths))
    return paths


def eventually(condition: Any, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.02)


def runner_pid(paths: AttemptPaths) -> int:
    return int((paths.root / "starts").read_text().split()[0])


def reasons(record: TerminalRecord, paths: AttemptPaths) -> tuple[str, ...]:
    return executor_finding(record, read_journal(paths.wire), datetime.now(UTC))[0].reasons


# Recipe 1: the stream stops in the middle and the process stays.


def test_a_stream_that_stops_is_a_stall_that_names_the_last_event(tmp_path: Path, level: str) -> None:
    steps = [
        START,
        {"print": {"type": "text", "text": "looking"}},
        {"write": {"path": "kept.txt", "content": "work"}},
        {"print": {"type": "tool_result", "name": "bash", "text": "3 passed"}},
        FOREVER,
    ]
    record, paths = run(tmp_path, level, steps, stall=1.0)
    assert record.end == "stalled" and record.detail is not None and "tool_result: 3 passed" in record.detail
    assert record.survivors == ()
    assert (paths.workspace / "kept.txt").read_text() == "work"
    assert reasons(record, paths) == ("stalled",)


def test_a_heartbeat_with_a_counter_is_not_killed_and_the_same_without_one_is(tmp_path: Path, level: str) -> None:
    beat = {"repeat": {"times": 11, "every": 0.4, "steps": [{"print": {"type": "tool_result", "text": "beat {n}"}}]}}
    record, paths = run(tmp_path, level, [START, beat, GOOD_END], stall=2.0)
    assert record.end == "exited" and reasons(record, paths) == ()
    same = {"repeat": {"steps": [{"print": {"type": "tool_result", "text": "beat"}}], "every": 0.1}}
    record = attempts.run(tmp_path, level, [START, same], stall=1.0, name="j2.a1")
    assert record.end == "stalled"


# Recipe 2: the success record comes and something stays alive.


def test_a_child_that_holds_the_output_open_delays_nothing(tmp_path: Path, level: str) -> None:
    child = {"spawn": {"keep_output": True, "session": True, "steps": [FOREVER]}}
    began = time.monotonic()
    record, paths = run(tmp_path, level, [START, GOOD_END, child, {"exit": 0}])
    assert record.end == "exited" and record.survivors == () and reasons(record, paths) == ()
    assert record.message == "done"
    assert time.monotonic() - began < 20, "it must not wait for the pipe, which never closes"


def test_a_success_record_that_comes_late_is_waited_for(tmp_path: Path, level: str) -> None:
    child = {"spawn": {"keep_output": True, "session": False, "steps": [{"sleep": 0.2}]}}
    record, paths = run(tmp_path, level, [START, child, {"sleep": 1.5}, GOOD_END])
    assert record.end == "exited" and reasons(record, paths) == ()


def test_a_program_that_never_exits_after_its_terminal_record_is_reaped_as_finished(tmp_path: Path, level: str) -> None:
    record, paths = run(tmp_path, level, [START, GOOD_END, {"ignore": ["TERM"]}, FOREVER])
    assert record.end == "finished" and reasons(record, paths) == ()


@at_none
def test_a_terminal_record_before_the_deadline_decides(tmp_path: Path, level: str) -> None:
    record, paths = run(tmp_path, level, [START, {"sleep": 3.5}, GOOD_END, FOREVER], timeout=6)
    if attempts.events(paths)[-1]["at"] > read_request(paths).deadline:
        pytest.skip("NORUN: the machine is too slow for a record just before the deadline")
    assert record.end == "finished" and reasons(record, paths) == ()


@at_none
def test_a_terminal_record_that_only_our_signal_brought_does_not(tmp_path: Path, level: str) -> None:
    code = (
        "import json,signal,time,sys\n"
        "def end(*_):\n print(json.dumps({'type':'end','ok':True}),flush=True); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM,end); print(json.dumps({'type':'start'}),flush=True); time.sleep(600)\n"
    )
    record, paths = run(tmp_path, level, [], stall=0.7, config={"argv": [attempts.python(), "-c", code]})
    assert record.end == "stalled" and reasons(record, paths) == ("stalled",)


# Recipe 3: an error record, a failed turn, exit status 0.


@at_sandbox
def test_a_failed_turn_with_exit_zero_is_a_failure_and_a_completed_one_is_not(tmp_path: Path, level: str) -> None:
    bad = [
        START,
        {"print": {"type": "error", "message": "stream error"}},
        {"print": {"type": "turn", "ok": False}},
        {"print": {"type": "end", "ok": False, "message": "turn failed"}},
    ]
    record, paths = run(tmp_path, level, bad)
    assert record.exit_status == 0 and reasons(record, paths) == ("harness_crashed",)
    record = attempts.run(tmp_path, level, [START, {"print": {"type": "turn", "ok": True}}, GOOD_END], name="j2.a1")
    finding, _ = executor_finding(record, [], datetime.now(UTC))
    assert finding.state is FacetState.PASSED


# Recipe 11: a prompt longer than a command line takes, and a program that is not there.


@pytest.mark.parametrize("by", ["stdin", "file"])
def test_a_long_prompt_arrives_whole(tmp_path: Path, level: str, by: str) -> None:
    prompt = ("naïve — prompt " * 2000)[:16043]
    config: dict[str, Any] = {"prompt": by}
    steps = [START, {"read": True} if by == "stdin" else {"read_file": "/nowhere"}, GOOD_END]
    if by == "file":
        config["argv"] = [attempts.python(), "-c", READ_FILE, "{prompt_file}"]
    record, paths = run(tmp_path, level, steps, prompt=prompt, config=config)
    assert record.end == "exited"
    told = said(paths, "prompt")
    assert told["sha256"] == hashlib.sha256(prompt.encode()).hexdigest() and told["length"] == len(prompt)


READ_FILE = (
    "import hashlib,json,sys; d=open(sys.argv[1],'rb').read(); "
    "print(json.dumps({'type':'prompt','length':len(d.decode()),'sha256':hashlib.sha256(d).hexdigest()}))"
)


def test_a_program_that_is_missing_is_spawn_failed(tmp_path: Path, level: str) -> None:
    record, paths = run(tmp_path, level, [], config={"argv": ["no-such-program-anywhere"]})
    assert record.end == "spawn_failed" and record.detail is not None and "do: " in record.detail
    assert reasons(record, paths) == ("spawn_failed",)


@at_sandbox
def test_standard_input_without_a_prompt_is_at_its_end(tmp_path: Path, level: str) -> None:
    config = {"prompt": "argument"}
    record, paths = run(tmp_path, level, [START, {"read": True}, GOOD_END], config=config)
    assert record.end == "exited" and said(paths, "prompt")["length"] == 0


# Recipe 14: what a run leaves behind, and what it gets to see.


def test_a_daemon_is_gone_and_a_secret_is_nowhere(tmp_path: Path, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    canary = "canary-1f3870be274f6c49b3e31a0c6728957f"
    monkeypatch.setenv("CANARY_API_KEY", canary)
    daemon = {"spawn": {"detach": True, "session": True, "steps": [{"ignore": ["TERM", "HUP"]}, FOREVER]}}
    looks = {"run": "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a CANARY > environ.txt; true"}
    steps = [START, daemon, {"environment": True}, looks, {"sleep": 0.3}, GOOD_END]
    record, paths = run(tmp_path, level, steps, env={"LC_TIME": "C.UTF-8"})
    assert record.end == "exited" and record.survivors == ()
    assert len(record.orphans) == 1, "the daemon is in the census"
    env = said(paths, "environment")["env"]
    assert "CANARY_API_KEY" not in env
    assert env["LC_TIME"] == "C.UTF-8", "control: what was let through arrives"
    stored = [
        p for p in paths.root.rglob("*") if p.is_file() and (level == "sandbox" or paths.workspace not in p.parents)
    ]
    assert len(stored) > 5
    assert [p for p in stored if canary.encode() in p.read_bytes()] == []
    assert canary.encode() not in Path(f"/proc/{os.getpid()}/cmdline").read_bytes()


@at_none
def test_a_secret_that_is_printed_is_redacted_everywhere(
    tmp_path: Path, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "canary-9e107d9d372bb6826bd81d3542a419d6"
    monkeypatch.setenv("OTHER_SECRET", canary)
    steps = [START, {"print": {"type": "text", "text": f"found {canary}"}}, {"stderr": canary}]
    hidden = "".join(f"\\u{ord(c):04x}" for c in canary)
    steps += [{"print": '{"type": "text", "text": "' + hidden + '"}'}]
    steps += [{"report": {"summary": canary}}, {"print": {"type": "end", "ok": True, "message": canary}}]
    record, paths = run(tmp_path, level, steps)
    assert record.message == "[redacted]" and record.report is not None and canary not in record.report
    ours = [paths.stdout, paths.stderr, paths.events, paths.record, paths.runner_log]
    assert [p.name for p in ours if canary in p.read_text()] == []
    assert "[redacted]" in paths.stdout.read_text()
    assert [e["text"] for e in attempts.events(paths) if e["kind"] == "text"] == ["found [redacted]", "[redacted]"]


class Endpoint(BaseHTTPRequestHandler):
    """A provider that remembers the credentials it was shown."""

    shown: ClassVar[list[str | None]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        Endpoint.shown.append(self.headers["x-api-key"])
        said = {"type": "text", "text": "hello"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        body = {"id": "m", "type": "message", "role": "assistant", "model": "any", "content": [said], "usage": usage}
        data = json.dumps(body | {"stop_reason": "end_turn"}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


def test_the_credential_reaches_the_provider_and_nothing_else(tmp_path: Path, level: str) -> None:
    secret = "credential-8f14e45fceea167a5a36dedd4bea2543"
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Endpoint.shown.clear()
    paths = AttemptPaths(tmp_path / "attempts" / "j1.a1")
    upstream = {"kind": "http", "base_url": f"http://127.0.0.1:{server.server_port}", "credential_header": "x-api-key"}
    looks = {
        "run": "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -ac credential-8f1[4]e > found.txt"
    }
    steps = [START, {"model": {}}, {"environment": True}, looks, FOREVER]
    start_or_adopt(paths, request(paths, level, steps, upstream=upstream | {"scenario": None}), secret)
    found = paths.workspace / "found.txt"
    eventually(lambda: found.exists() and found.read_text().strip())
    process = Path(f"/proc/{runner_pid(paths)}")
    assert secret.encode() not in (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
    cancel(paths)
    wait(paths)
    server.shutdown()
    server.server_close()
    assert Endpoint.shown == [secret], "control: it did arrive where it belongs"
    assert found.read_text().strip() == "0"
    stored = [p for p in paths.root.rglob("*") if p.is_file()]
    assert [p for p in stored if secret.encode() in p.read_bytes()] == []


# What a program finds.


def test_signals_are_at_their_defaults_in_the_program(tmp_path: Path, level: str) -> None:
    code = (
        "import json,signal as s; print(json.dumps({'type':'signals','ignored':"
        "[n.name for n in (s.SIGINT,s.SIGHUP,s.SIGTERM) if s.getsignal(n)==s.SIG_IGN]}))"
    )
    _, paths = run(tmp_path, level, [], config={"argv": [attempts.python(), "-c", code]})
    assert said(paths, "signals")["ignored"] == []


def test_the_sandbox_was_proved_before_the_program_ran(tmp_path: Path) -> None:
    record, _ = run(tmp_path, "sandbox", [START, GOOD_END])
    assert record.proof["namespaces"]["net"] != record.proof["own"]["net"]
    record = attempts.run(tmp_path, "none", [START, GOOD_END], name="j2.a1")
    assert record.proof == {}, "control: level none proves nothing"


# Limits.


def test_a_flood_of_output_is_capped(tmp_path: Path, level: str) -> None:
    steps = [START, {"flood": 1 << 20}, FOREVER]
    record, paths = run(tmp_path, level, steps, limits=Limits(output_bytes=1 << 19))
    assert record.end == "output_capped" and reasons(record, paths) == ("output_capped",)
    assert paths.stdout.stat().st_size <= 1 << 19
    quiet = attempts.run(
        tmp_path, level, [START, {"flood": 1 << 17}, GOOD_END], name="j2.a1", limits=Limits(output_bytes=1 << 19)
    )
    assert quiet.end == "exited"


@at_none
def test_one_line_of_many_megabytes_is_survived(tmp_path: Path, level: str) -> None:
    record, paths = run(tmp_path, level, [START, {"line": 2 << 20}, GOOD_END])
    assert record.end == "exited" and reasons(record, paths) == ()
    assert record.output_bytes > 2 << 20


def test_the_deadline_ends_a_busy_program(tmp_path: Path, level: str) -> None:
    busy = {"repeat": {"every": 0.05, "steps": [{"print": {"type": "tool_result", "text": "{n}"}}]}}
    record, paths = run(tmp_path, level, [START, {"write": {"path": "kept.txt"}}, busy], timeout=4)
    assert record.end == "deadline" and reasons(record, paths) == ("deadline",)
    assert (paths.workspace / "kept.txt").exists()


@at_none
def test_a_deadline_that_has_passed_starts_nothing(tmp_path: Path, level: str) -> None:
    record, paths = run(tmp_path, level, [START], timeout=-1)
    assert record.end == "deadline" and not paths.stdout.exists()


def test_memory_is_limited(tmp_path: Path, level: str) -> None:
    steps = [START, {"allocate": 400 << 20}, {"sleep": 5}, GOOD_END]
    record, paths = run(tmp_path, level, steps, limits=Limits(memory=128 << 20))
    assert record.end == "limit" and reasons(record, paths) == ("limit_exceeded",)


def test_a_request_in_flight_is_progress_and_silence_is_not(tmp_path: Path, level: str) -> None:
    upstream = {"scenario": "hang"}
    record, _ = run(tmp_path, level, [START, {"model": {}}], upstream=upstream, stall=0.5, timeout=2)
    assert record.end == "deadline", "the request kept it alive"
    steps = [START, {"model": {}}]
    record = attempts.run(tmp_path, level, steps, upstream=upstream, stall=0.5, request_stall=0.4, name="j2.a1")
    assert record.end == "stalled"


@at_none
def test_errors_of_the_provider_are_the_cause_whatever_the_exit_status(tmp_path: Path, level: str) -> None:
    for number, (scenario, reason) in enumerate((("error-401", "auth"), ("error-429", "rate_limited"))):
        steps = [START, {"model": {}}, {"print": {"type": "end", "ok": True}}, {"exit": 0}]
        name = f"j{number}.a1"
        record = attempts.run(tmp_path, level, steps, upstream={"scenario": scenario}, name=name)
        assert reasons(record, AttemptPaths(tmp_path / "attempts" / name)) == (reason,)


@at_none
def test_a_question_nobody_can_answer_is_found(tmp_path: Path, level: str) -> None:
    steps = [START, {"print": {"type": "ask", "text": "May I delete everything?"}}, FOREVER]
    record, paths = run(tmp_path, level, steps, stall=1.0)
    assert record.end == "stalled" and record.detail is not None and "May I delete everything?" in record.detail
    assert reasons(record, paths) == ("permission_asked", "stalled")


@at_none
def test_a_full_disk_ends_the_run(tmp_path: Path, level: str) -> None:
    paths = AttemptPaths(tmp_path / "attempts" / "j1.a1")
    paths.root.mkdir(parents=True)
    paths.stdout.symlink_to("/dev/full")
    record, _ = run(tmp_path, level, [START, {"flood": 100_000}, FOREVER])
    assert record.end == "disk_full" and reasons(record, paths) == ("disk_full",)


@at_sandbox
def test_a_report_that_is_not_a_plain_small_file_is_none(tmp_path: Path, level: str) -> None:
    traps = ["ln -s /etc/passwd", "mkfifo", "mkdir", "head -c 70000 /dev/zero >"]
    for number, trap in enumerate(traps):
        steps = [START, {"run": f'{trap} "$INSPAN_REPORT"'}, GOOD_END]
        record = attempts.run(tmp_path, level, steps, name=f"j{number}.a1")
        assert record.end == "exited" and record.report is None
    record = attempts.run(tmp_path, level, [START, {"report": {"completed": True}}, GOOD_END], name="good.a1")
    assert record.report is not None and '"completed": true' in record.report


# People and crashes.


def test_a_cancel_ends_the_tree_and_keeps_the_work(tmp_path: Path, level: str) -> None:
    paths = begin(tmp_path, level, [{"write": {"path": "kept.txt"}}, {"ignore": ["TERM"]}, FOREVER])
    eventually((paths.workspace / "kept.txt").exists)
    cancel(paths)
    cancel(paths)
    record = wait(paths)
    assert record.end == "cancelled" and reasons(record, paths) == ("cancelled_by_user",)
    assert (paths.workspace / "kept.txt").exists()


@at_none
def test_a_cancel_before_the_start_starts_nothing(tmp_path: Path, level: str) -> None:
    paths = AttemptPaths(tmp_path / "attempts" / "j1.a1")
    asked = request(paths, level, [START])
    cancel(paths)
    start_or_adopt(paths, asked, None)
    assert wait(paths).end == "cancelled" and not paths.stdout.exists()


@at_none
def test_sigterm_cancels_and_sigint_and_sighup_do_not(tmp_path: Path, level: str) -> None:
    paths = begin(tmp_path, level, [FOREVER])
    for number in (signal.SIGINT, signal.SIGHUP):
        os.kill(runner_pid(paths), number)
    time.sleep(0.3)
    assert not paths.record.exists()
    os.kill(runner_pid(paths), signal.SIGTERM)
    assert wait(paths).end == "cancelled"


DRIVER = """
import sys, msgspec
from pathlib import Path
from inspan.attempt.contract import AttemptRequest
from inspan.attempt.start import start_or_adopt, wait
from inspan.spec.paths import AttemptPaths
paths = AttemptPaths(Path(sys.argv[1]))
start_or_adopt(paths, msgspec.json.decode(Path(sys.argv[2]).read_bytes(), type=AttemptRequest), None)
print(wait(paths).end, flush=True)
"""


def drive(paths: AttemptPaths, asked: Path) -> subprocess.Popen[bytes]:
    """A driver in a process of its own."""
    argv = [sys.executable, "-c", DRIVER, str(paths.root), str(asked)]
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)


def written(paths: AttemptPaths, level: str, steps: list[dict[str, Any]], **changes: Any) -> Path:
    """The request as a file for ``drive``."""
    import msgspec

    file = paths.root.parent / f"{paths.root.name}.asked.json"
    file.write_bytes(msgspec.json.encode(request(paths, level, steps, **changes)))
    return file


def test_a_killed_driver_costs_nothing_and_the_next_one_adopts(tmp_path: Path, level: str) -> None:
    paths = AttemptPaths(tmp_path / "attempts" / "j1.a1")
    asks = {"repeat": {"times": 20, "every": 0.1, "steps": [{"model": {}}]}}
    file = written(paths, level, [START, asks, GOOD_END])
    first = drive(paths, file)
    eventually(lambda: len(read_journal(paths.wire)) >= 3)
    first.kill()
    first.wait()
    before = len(read_journal(paths.wire))
    second = drive(paths, file)
    assert second.communicate(timeout=60)[0].strip() == b"exited"
    wire = read_journal(paths.wire)
    served = [r for r in wire if r.status == 200 and r.state == "done"]
    assert len(served) == 20 and before < 20, f"{before} before the kill, {len(served)} of 20 served in all"
    assert len((paths.root / "starts").read_text().splitlines()) == 1


def test_a_killed_runner_takes_the_tree_with_it_and_leaves_one_record(tmp_path: Path, level: str) -> None:
    daemon = {"spawn": {"detach": True, "steps": [{"repeat": {"every": 0.05, "steps": [{"run": "date >> beats"}]}}]}}
    paths = begin(tmp_path, level, [daemon, FOREVER])
    eventually((paths.workspace / "beats").exists)
    os.kill(runner_pid(paths), signal.SIGKILL)
    record = wait(paths)
    assert record.end == "crashed" and record.survivors == () and reasons(record, paths) == ("environment_lost",)
    assert not living("stub_harness.py " + str(tmp_path)), "the tree is dead when the record is there"
    beats = (paths.workspace / "beats").stat().st_size
    again = paths.record.read_bytes()
    start_or_adopt(paths, request(paths, level, [START, GOOD_END]), None)
    assert wait(paths) == record and paths.record.read_bytes() == again, "never started again under the same id"
    assert (paths.workspace / "beats").stat().st_size == beats


@at_sandbox
def test_drivers_that_come_at_once_start_one_runner(tmp_path: Path, level: str) -> None:
    for round_ in range(2):
        paths = AttemptPaths(tmp_path / "attempts" / f"r{round_}.a1")
        file = written(paths, level, [START, {"write": {"path": "ran-{n}"}}, {"sleep": 0.5}, GOOD_END])
        drivers = [drive(paths, file) for _ in range(4)]
        assert [d.communicate(timeout=60)[0].strip() for d in drivers] == [b"exited"] * 4
        assert len((paths.root / "starts").read_text().splitlines()) == 1


def test_drivers_killed_while_starting_start_at_most_one_program(tmp_path: Path) -> None:
    ended = []
    for round_ in range(4):
        paths = AttemptPaths(tmp_path / "attempts" / f"k{round_}.a1")
        counts = {"run": "echo x >> ../count-" + paths.root.name}
        file = written(paths, "none", [START, counts, {"sleep": 0.2}, GOOD_END])
        victim = drive(paths, file)
        time.sleep(0.08 + 0.05 * round_)
        victim.kill()
        victim.wait()
        second = drive(paths, file)
        ended.append(second.communicate(timeout=60)[0].strip())
        count = paths.root / f"count-{paths.root.name}"
        assert count.read_text().splitlines() == ["x"]
    assert ended == [b"exited"] * 4


@at_none
def test_two_that_notice_a_dead_runner_write_one_record(tmp_path: Path, level: str) -> None:
    paths = begin(tmp_path, level, [FOREVER])
    file = written(paths, level, [START])
    watching = [drive(paths, file) for _ in range(3)]
    time.sleep(0.5)
    os.kill(runner_pid(paths), signal.SIGKILL)
    assert [w.communicate(timeout=60)[0].strip() for w in watching] == [b"crashed"] * 3
    assert wait(paths).end == "crashed"


def test_the_repository_a_person_stands_in_cannot_shadow_our_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = tmp_path / "checkout"
    hostile.mkdir()
    for name in ("msgspec", "inspan", "aiohttp", "signal"):
        (hostile / f"{name}.py").write_text("raise SystemExit('shadowed')\n")
    monkeypatch.chdir(hostile)
    record, _ = run(tmp_path, "none", [START, GOOD_END])
    assert record.end == "exited"


BROKEN = """
import sys, time
from inspan.attempt import runner
from inspan.attempt.execution import Parts

def parts():
    if "{how}" == "raise":
        raise RuntimeError("a fault of our own")
    time.sleep(600)

if __name__ == "__main__":
    runner.OVERTIME = 0.5
    sys.exit(runner.main(sys.argv[1:], parts))
"""


@pytest.mark.parametrize(("how", "detail"), [("raise", "a fault of our own"), ("hang", "after the deadline")])
def test_a_runner_that_fails_or_hangs_still_leaves_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, detail: str
) -> None:
    (tmp_path / "broken_runner.py").write_text(BROKEN.replace("{how}", how))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    paths = AttemptPaths(tmp_path / "attempts" / "j1.a1")
    start_or_adopt(paths, request(paths, "none", [], timeout=1), None, runner="broken_runner")
    record = wait(paths)
    assert record.end == "crashed" and record.detail is not None and detail in record.detail


def test_a_runner_that_cannot_even_start_leaves_a_record(tmp_path: Path) -> None:
    paths = AttemptPaths(tmp_path / "attempts" / "j1.a1")
    start_or_adopt(paths, request(paths, "none", []), None, runner="no.such.module")
    record = wait(paths)
    assert record.end == "crashed" and record.detail is not None and "no.such" in record.detail


def test_events_are_handed_on_once_and_in_order(tmp_path: Path) -> None:
    paths = AttemptPaths(tmp_path / "attempts" / "j1.a1")
    steps = [{"repeat": {"times": 50, "every": 0.01, "steps": [{"print": {"type": "tool_result", "text": "{n}"}}]}}]
    start_or_adopt(paths, request(paths, "none", [*steps, GOOD_END]), None)
    seen: list[str] = []
    wait(paths, on_event=lambda event: seen.append(event["text"]))
    assert seen == [*map(str, range(50)), "done"]


def test_a_runner_killed_at_any_moment_leaves_nothing_alive(tmp_path: Path, level: str) -> None:
    ends = []
    for round_ in range(4):
        paths = AttemptPaths(tmp_path / "attempts" / f"m{round_}.a1")
        start_or_adopt(paths, request(paths, level, [START, FOREVER]), None)
        time.sleep(0.03 + 0.07 * round_)
        os.kill(runner_pid(paths), signal.SIGKILL)
        ends.append(wait(paths))
        assert not living(str(paths.root.parent / "stub_harness.py"))
    assert [(r.end, r.survivors) for r in ends] == [("crashed", ())] * 4
