"""From arguments to exit statuses; errors as text and as documents."""

from __future__ import annotations

import json

import click
import pytest

from inspan.errors import InspanError, InvalidSpec, SandboxError
from inspan.interfaces.cli import entry
from inspan.interfaces.cli.entry import run_command
from inspan.interfaces.cli.verbs import VERBS


def command(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    status = run_command(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = command(capsys=capsys)
    assert status == 2 and "Verbs:" in err and out == ""


def test_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = command("--help", capsys=capsys)
    assert status == 0 and all(f"  {name} " in out for name in VERBS)


@pytest.mark.parametrize(
    ("arguments", "what", "do"),
    [
        (["rnu"], "no verb is called 'rnu'", "'run'"),
        (["explain"], "no verb is called 'explain'", "use one of"),
        (["mcp"], "no verb is called 'mcp'", "ps"),
        (["--jsn"], "No such option", "--help"),
        (["run", "x", "--budget", "1usd"], "No such option", "--help"),
        (["run", "x", "--tier", "deep"], "No such option", "--help"),
        (["run", "x", "--judge", "a@b/c"], "No such option", "--help"),
        (["run", "x", "--timeout", "soon"], "not a valid float", "--help"),
        (["run"], "there is no prompt", "PROMPT"),
        (["run", "a", "--prompt-file", "b"], "two prompts", "PROMPT"),
        (["run", "x", "--check", "unit="], "empty command", "unit=pytest"),
        (["run", "x", "--read-only", "--deliver", "branch"], "delivers nothing", "--deliver"),
        (["show"], "Missing argument", "--help"),
        (["show", "nojob"], "no job", "inspan run"),
        (["harness", "instal", "x"], "No such command", "--help"),
        (["harness", "install", "nonesuch"], "nonesuch", "codex"),
    ],
)
def test_usage_errors(
    arguments: list[str], what: str, do: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, err = command(*arguments, capsys=capsys)
    assert (status, out) == (2, "")
    assert what in err and do in err
    status, out, err = command(*arguments, "--json", capsys=capsys)
    document = json.loads(out)
    assert status == document["exit_status"] == 2
    assert document["schema"] == "inspan.error/1" and what in document["what"] + err


class _Boom:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def main(self, **_: object) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidSpec("w", where="x", do="y"), 2),
        (SandboxError("w"), 1),
        (InspanError("w"), 1),
        (ZeroDivisionError("w"), 1),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
    ],
)
def test_statuses(
    error: BaseException, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(entry, "cli", _Boom(error))
    got, out, err = command("x", "--json", capsys=capsys)
    assert got == status
    if status != 130:
        document = json.loads(out)
        assert document["exit_status"] == status
        expected = None if isinstance(error, InvalidSpec) else getattr(error, "reason", "internal_error")
        assert document["reason"] == expected
    if isinstance(error, ZeroDivisionError):
        assert "Traceback" in err and "report it" in err


def test_an_error_never_shows_a_key_or_commands_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "sk-ant-" + "api03-" + "a1B2" * 8
    monkeypatch.setattr(entry, "cli", _Boom(InspanError(f"bad {key} \x1b[2J", where=key)))
    _, out, err = command("x", "--json", capsys=capsys)
    assert key not in out + err and "\x1b" not in err
    monkeypatch.setattr(entry, "cli", _Boom(ValueError(key)))
    _, out, err = command("x", "--json", capsys=capsys)
    assert key not in out + err
