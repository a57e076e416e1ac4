"""The programs themselves, called as their adapters say, against the gateway and its scripted provider.

No sandbox here: this shows that the call, the wire and the reader fit together. ``test_real_programs`` shows the rest.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
import pytest

from inspan.gateway.contract import Upstream, WireRecord
from inspan.gateway.journal import read_journal, usage
from inspan.gateway.server import Gateway
from inspan.harness.contract import Ending, Event, Harness, Launch, LaunchRequest
from inspan.harness.registry import harness
from inspan.redact import Redactor

PREFIX = Path(os.environ.get("INSPAN_TEST_HARNESS_DIR", Path(__file__).parents[2] / ".tools" / "harness"))
TOKEN = "worthless-outside-this-test"
PROGRAMS = [
    pytest.param(("bare", "openai-chat"), id="bare-chat"),
    pytest.param(("bare", "anthropic"), id="bare-anthropic"),
    pytest.param(("claude-code", "anthropic"), id="claude-code", marks=pytest.mark.real),
    pytest.param(("codex", "openai-responses"), id="codex", marks=pytest.mark.real),
]
# What whole jobs show with the real programs as well (test_real_programs) is ordinary here for the small one only.
SHOWN_BY_JOBS = [
    *PROGRAMS[:2],
    *(pytest.param(*p.values, id=p.id, marks=[*p.marks, pytest.mark.long]) for p in PROGRAMS[2:]),
]


class Run(NamedTuple):
    ending: Ending
    events: list[Event]
    wire: list[WireRecord]
    repo: Path
    skipped: int
    asked: list[bytes]


@contextmanager
def tapped(base_url: str, bodies: list[bytes]) -> Iterator[str]:
    """Stands before the gateway and keeps what the program asks the model."""
    target = urlsplit(base_url).netloc

    class Tap(BaseHTTPRequestHandler):
        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            bodies.append(body)
            upstream = HTTPConnection(target)
            upstream.request(self.command, self.path, body, {k: v for k, v in self.headers.items() if k != "Host"})
            answer = upstream.getresponse()
            try:
                data = answer.read()
            except (OSError, HTTPException):  # the scripted provider broke off
                return self.connection.close()
            self.send_response(answer.status)
            self.send_header("content-type", answer.headers.get("content-type") or "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return None

        do_POST = do_GET = do_HEAD = forward

        def log_message(self, *args: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Tap)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def serving(scenario: str, wire: str, repo: Path, journal: Path) -> Iterator[str]:
    """A gateway in a thread of its own; gives its base URL."""
    upstream = Upstream(
        kind="rehearsal",
        provider="rehearsal",
        model="any",
        wire=wire,
        scenario=scenario,
        workspace_inside=str(repo),
    )
    sock = socket.create_server(("127.0.0.1", 0))
    loop, stop = asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        gateway = Gateway(upstream, credential=None, journal=journal, redactor=Redactor(), token=TOKEN)
        await gateway.serve(sock)
        await stop.wait()
        await gateway.close()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
        sock.close()


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> tuple[Harness, str]:
    name, wire = request.param
    adapter = harness(name)
    if adapter.locate("", str(PREFIX)) is None:
        pytest.skip(f"NORUN: {name} is not installed (scripts/install-harnesses says why)")
    return adapter, wire


@pytest.fixture
def drive(program: tuple[Harness, str], repository: Path, tmp_path: Path):
    """Runs the program once on a scenario."""
    adapter, wire = program
    home = tmp_path / "home"

    def run(
        scenario: str,
        prompt: str = "create hello.txt",
        alter: Callable[[Launch], Launch] = lambda launch: launch,
        **changes: object,
    ) -> Run:
        asked: list[bytes] = []
        journal = tmp_path / "wire.jsonl"
        installed = adapter.locate("", str(PREFIX))
        assert installed is not None
        (home / "files").mkdir(parents=True, exist_ok=True)
        with serving(scenario, wire, repository, journal) as gateway, tapped(gateway, asked) as base_url:
            launch = adapter.launch(
                LaunchRequest(
                    installed=installed,
                    prompt=prompt,
                    model="any",
                    wire=wire,  # type: ignore[arg-type]
                    base_url=base_url,
                    token=TOKEN,
                    workspace_inside=str(repository),
                    home_inside=str(home),
                    files_inside=str(home / "files"),
                    report_inside=str(home / "report.json"),
                    **changes,  # type: ignore[arg-type]
                )
            )
            launch = alter(launch)
            for name, content in launch.files.items():
                (home / "files" / name).parent.mkdir(parents=True, exist_ok=True)
                (home / "files" / name).write_bytes(content)
            env = {"PATH": "/usr/bin:/bin", "HOME": str(home), "TERM": "dumb", "LANG": "C.UTF-8", **launch.env}
            done = subprocess.run(
                launch.argv, cwd=repository, env=env, input=launch.stdin or b"", capture_output=True, timeout=120
            )
        reader = adapter.reader()
        events = [e for line in done.stdout.splitlines() for e in reader.feed(line)]
        for line in done.stderr.splitlines():
            reader.feed_stderr(line)
        ending = reader.finish(done.returncode)
        return Run(ending, events, read_journal(journal), repository, reader.skipped, asked)

    return run


def strings(value: object) -> Iterator[str]:
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


def inference(run: Run) -> list[WireRecord]:
    return [record for record in run.wire if record.kind == "inference"]


def test_writes_the_file_and_says_so(drive) -> None:
    run = drive("write-file")
    assert (run.repo / "hello.txt").read_text() == "hello\n"
    assert (run.ending.complete, run.ending.ok, run.ending.error) == (True, True, None)
    assert run.ending.tools == 1 and run.ending.texts >= 1 and run.ending.message
    assert [e.kind for e in run.events if e.kind in ("start", "tool", "tool_result", "end")] == [
        *("start", "tool", "tool_result", "end"),
    ]
    assert run.skipped == 0
    assert len(inference(run)) == 2 and all(r.state == "done" and r.status == 200 for r in inference(run))


def test_both_meters_agree(drive) -> None:
    run = drive("write-file")
    metered = usage(run.wire)
    assert run.ending.usage is not None
    assert run.ending.usage == {field: getattr(metered, field) or 0 for field in run.ending.usage}
    assert run.ending.usage["output"] > 0


@pytest.mark.parametrize("program", SHOWN_BY_JOBS, indirect=True)
def test_talk_only(drive) -> None:
    run = drive("text-only")
    assert (run.ending.ok, run.ending.tools) == (True, 0) and run.ending.texts >= 1
    assert not (run.repo / "hello.txt").exists()


@pytest.mark.parametrize("program", SHOWN_BY_JOBS, indirect=True)
@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_refused_request_is_no_success_and_retries_are_bounded(drive, status: int) -> None:
    run = drive(f"error-{status}")
    assert (run.ending.complete, run.ending.ok) == (True, False)
    assert run.ending.error and (run.ending.tools, run.ending.texts) == (0, 0)
    assert run.ending.status in (status, None)
    assert 1 <= len(inference(run)) <= 9 and {r.status for r in inference(run)} == {status}


@pytest.mark.parametrize("program", SHOWN_BY_JOBS, indirect=True)
def test_a_full_context_is_no_success(drive) -> None:
    run = drive("error-400-context")
    assert (run.ending.complete, run.ending.ok) == (True, False)
    assert any(word in (run.ending.error or "").lower() for word in ("context", "too long"))


@pytest.mark.parametrize("program", SHOWN_BY_JOBS, indirect=True)
def test_a_broken_stream_is_no_success(drive) -> None:
    run = drive("drop")
    assert run.ending.ok is not True and run.ending.error
    assert 1 <= len(inference(run)) <= 9


def test_a_long_prompt_arrives_whole(drive, tmp_path: Path) -> None:
    prompt = "create hello.txt\n" + "\n".join(f"line {n}: 漢字 'quotes' \"too\" $(and) `more`" for n in range(4_000))
    assert len(prompt.encode()) > 150_000
    run = drive("text-only", prompt)
    assert run.ending.ok is True
    assert any(prompt in text for body in run.asked for text in strings(json.loads(body)))


def test_a_read_only_job_is_offered_no_tool_for_writing_files(drive, program: tuple[Harness, str]) -> None:
    run = drive("write-file", read_only=True)
    used = [e.data.get("name") for e in run.events if e.kind == "tool"]
    assert used and not {"write_file", "Write", "Edit"} & set(used)  # a shell remains: the mount is what holds
    assert run.ending.ok is True


def put_settings(repository: Path) -> None:
    """Settings, hooks and tool servers as a repository may bring them, each of which leaves OBEYED behind."""
    hook = {"hooks": [{"type": "command", "command": f"touch {repository}/OBEYED"}]}
    hooks = {"hooks": {"SessionStart": [hook], "Stop": [hook], "PreToolUse": [hook]}}
    server = f'[mcp_servers.x]\ncommand = "touch"\nargs = ["{repository}/OBEYED"]\n'
    settings = {
        ".claude/settings.json": json.dumps(hooks),
        ".claude/settings.local.json": json.dumps(hooks),
        ".mcp.json": json.dumps({"mcpServers": {"x": {"command": "touch", "args": [f"{repository}/OBEYED"]}}}),
        ".codex/config.toml": server,
        ".codex/hooks.json": json.dumps(hooks),
        "AGENTS.md": "INSTRUCTION-OF-AGENTS-MD",
        "CLAUDE.md": "INSTRUCTION-OF-CLAUDE-MD",
    }
    for name, text in settings.items():
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text(text)


@pytest.mark.parametrize("program", PROGRAMS[2:], indirect=True)
def test_the_repositorys_settings_are_not_obeyed_and_its_instructions_are(
    drive, program: tuple[Harness, str], repository: Path
) -> None:
    put_settings(repository)
    run = drive("write-file")
    assert run.ending.ok is True
    assert not (repository / "OBEYED").exists()
    asked = b"".join(run.asked)
    assert b"INSTRUCTION-OF-AGENTS-MD" in asked
    assert (b"INSTRUCTION-OF-CLAUDE-MD" in asked) is (program[0].name == "claude-code")


@pytest.mark.parametrize("program", PROGRAMS[2:], indirect=True)
def test_without_our_flags_the_settings_would_be_obeyed(drive, repository: Path) -> None:
    """Negative control of the test before."""
    put_settings(repository)

    def trusting(launch: Launch) -> Launch:
        argv = tuple({"user": "user,project,local"}.get(word, word) for word in launch.argv)
        trust = f'\n[projects."{repository}"]\ntrust_level = "trusted"\n'.encode()
        files = {k: v + trust if k == "config.toml" else v for k, v in launch.files.items()}
        return msgspec.structs.replace(launch, argv=argv, files=files)

    drive("write-file", alter=trusting)
    assert (repository / "OBEYED").exists()


@pytest.mark.parametrize("program", PROGRAMS[2:], indirect=True)
def test_a_session_is_resumed(drive) -> None:
    first = drive("text-only")
    assert first.ending.session
    second = drive("text-only", "and now?", session=first.ending.session)
    assert second.ending.ok is True and second.ending.session == first.ending.session
