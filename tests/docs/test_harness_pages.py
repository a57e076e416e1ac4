"""The harness pages and the code name the same things, and the how-to's example runs as it is printed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import get_args

import pytest

from inspan.harness.configured import _IN_ARGV, _IN_ENV, Configured, Table
from inspan.harness.contract import EventKind, LaunchRequest
from inspan.harness.packages import PROGRAMS
from inspan.harness.registry import SHIPPED, harness
from inspan.harness.vocabulary import TYPES

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = (DOCS / "reference" / "harness.md").read_text()
HOW_TO = (DOCS / "how-to" / "add-a-harness.md").read_text()


def section(title: str) -> str:
    return next(part for part in REFERENCE.split("\n## ") if part.startswith(title))


def first_column(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def test_configuration_keys() -> None:
    assert sorted(first_column(section("Declaring one"))) == sorted(Table.__struct_fields__)


def test_event_vocabulary() -> None:
    assert sorted(first_column(section("The event vocabulary"))) == sorted(TYPES)


def test_shipped_harnesses() -> None:
    assert sorted(first_column(section("Shipped"))) == sorted(SHIPPED)
    for name in SHIPPED:
        row = next(line for line in section("Shipped").splitlines() if line.startswith(f"| `{name}`"))
        assert [w for w in re.findall(r"`([a-z-]+)`", row) if w in get_args_of_wires()] == list(harness(name).wires)
        assert name not in PROGRAMS or PROGRAMS[name].version in row


def get_args_of_wires() -> tuple[str, ...]:
    from inspan.harness.contract import Wire

    return get_args(Wire)


def test_placeholders() -> None:
    named = set(re.findall(r"\{([a-z_]+)\}", section("Declaring one")))
    assert named == {*_IN_ARGV, *_IN_ENV}


def test_event_kinds() -> None:
    named = set(re.findall(r"`([a-z_]+)`", section("What an adapter's reader yields").split(")")[0]))
    assert named == set(get_args(EventKind))


def test_the_examples_of_tables_decode() -> None:
    tables = re.findall(r"```toml\n(\[harnesses.*?)```", REFERENCE + HOW_TO, re.DOTALL)
    assert len(tables) == 2
    for text in tables:
        for name, table in tomllib.loads(text)["harnesses"].items():
            Configured(name, table)


# ---- the how-to's example ---------------------------------------------------------------------------------------------


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page's files, installed the way pip would leave them."""
    files = dict(re.findall(r"```\w+ file=(\S+)\n(.*?)```", HOW_TO, re.DOTALL))
    assert sorted(files) == ["inspan_parrot.py", "parrot.py", "pyproject.toml"]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    project = tomllib.loads(files["pyproject.toml"])["project"]
    info = tmp_path / "inspan_parrot-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = project["entry-points"]["inspan.harnesses"].items()
    (info / "entry_points.txt").write_text("[inspan.harnesses]\n" + "".join(f"{k} = {v}\n" for k, v in points))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "inspan_parrot", raising=False)
    return tmp_path


@contextmanager
def model(status: int) -> Iterator[tuple[str, list[dict]]]:
    """A model that answers every request with "hello" or an error; what it was asked."""
    asked: list[dict] = []
    answer = {
        "choices": [{"message": {"content": "hello"}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *args: object) -> None:
            return None

    server = HTTPServer(("127.0.0.1", 0), Model)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("status", [200, 429])
@pytest.mark.parametrize("name", ["parrot", "inspan_parrot.Parrot"])
def test_the_example_runs(example: Path, name: str, status: int) -> None:
    parrot = harness(name)
    installed = parrot.locate(str(example), str(example / "none"))
    assert installed is not None
    with model(status) as (base_url, asked):
        launch = parrot.launch(
            LaunchRequest(
                installed=installed,
                prompt="say hello",
                model="any",
                wire="openai-chat",
                base_url=base_url,
                token="worthless",
                workspace_inside=str(example),
                home_inside=str(example),
                files_inside=str(example),
                report_inside=str(example / "report.json"),
            )
        )
        for file, content in launch.files.items():
            (example / file).write_bytes(content)
        done = subprocess.run(launch.argv, env=launch.env, capture_output=True)
    assert asked == [{"model": "any", "messages": [{"role": "user", "content": "say hello"}]}]
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    reader = parrot.reader()
    for line in lines:
        reader.feed(line)
    ending = reader.finish(0)
    assert reader.skipped == 1  # its banner
    if status == 200:
        assert (ending.complete, ending.ok, ending.message) == (True, True, "hello")
        assert ending.usage == {"input": 100, "cache_read": 0, "cache_write": 0, "output": 10, "reasoning": 0}
    else:
        assert (ending.complete, ending.ok, ending.status, ending.error) == (True, False, 429, "the model said no")
    for kept in range(len(lines)):
        cut = parrot.reader()
        for line in lines[:kept]:
            cut.feed(line)
        assert not cut.finish(0).complete
