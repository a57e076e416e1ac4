"""Nothing heavy is imported by a command that runs no job, and importing the package starts nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

HEAVY = ("dbos", "sqlalchemy", "aiohttp", "rich", "psutil", "importlib.metadata", "yaml", "tomlkit")
PROBE = """
import json, sys
{before}
from inspan.interfaces.cli.entry import run_command
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    status = run_command({arguments!r})
print(json.dumps([status, sorted(m for m in {heavy!r} if m in sys.modules)]))
"""


def imported(arguments: list[str], before: str = "") -> list:
    code = PROBE.format(arguments=arguments, heavy=HEAVY, before=before)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["run", "--help"], ["ps"], ["ps", "--json"], ["config", "--json"]]
)
def test_light(arguments: list[str]) -> None:
    assert imported(arguments) == [0, []]


def test_light_refusals() -> None:
    assert imported(["show", "nothing"])[1] == []
    assert imported(["nonsense"]) == [2, []]


def test_control_a_heavy_import_is_seen() -> None:
    assert imported(["--help"], before="import rich, importlib.metadata")[1] == ["importlib.metadata", "rich"]


def test_the_package_itself_is_light() -> None:
    code = (
        "import sys, inspan; assert inspan.Job; print([m for m in sys.modules if m.split('.')[0] in "
        "('dbos','sqlalchemy','aiohttp','rich','click','pathspec')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_public_name_lists_what_there_is() -> None:
    import inspan

    with pytest.raises(AttributeError, match="Job, Outcome"):
        inspan.jobb
