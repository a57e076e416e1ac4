"""``inspan run``."""

from __future__ import annotations

import sys
from typing import Any

import click

from inspan.errors import InvalidSpec
from inspan.interfaces.cli.work import work
from inspan.sandbox.levels import AUTO, LEVELS
from inspan.spec.checkparse import parse_checks
from inspan.spec.job import Job


@click.command(short_help="Run a job and say what became of it.")
@click.argument("prompt", required=False)
@click.option("--prompt-file", metavar="F", help="Read the prompt from a file.")
@click.option("--repo", default=".", metavar="P", help="A directory of the repository (default: here).")
@click.option("--base", metavar="REV", help="Start from this commit, branch or tag (default: HEAD).")
@click.option("--dirty", is_flag=True, help="Start from the checkout as it is, uncommitted work included.")
@click.option("--backend", metavar="H@P/M", help="Who works: harness@provider/model.")
@click.option("--scope", multiple=True, metavar="GLOB", help="The change must stay within these paths.")
@click.option("--may-change", multiple=True, metavar="GLOB", help="Files that decide the checks and may change.")
@click.option("--read-only", is_flag=True, help="The job answers and changes nothing.")
@click.option("--check", "checks", multiple=True, metavar="[NAME=]CMD", help="A command that must pass on the result.")
@click.option("--unchecked", is_flag=True, help="Accept the change without any check; noted in the outcome.")
@click.option("--setup", multiple=True, metavar="CMD", help="A command that prepares the workspace, once per base.")
@click.option("--share", multiple=True, metavar="DIR", help="Show a git-ignored directory of the checkout, read-only.")
@click.option("--egress", multiple=True, metavar="HOST:PORT", help="Let set-up and agent reach this, beside the model.")
@click.option("--writable", multiple=True, metavar="DIR", help="Let the agent write to this directory of the host.")
@click.option("--timeout", type=float, metavar="S", help="Seconds until the deadline (default: 3600).")
@click.option(
    "--stall", type=float, metavar="S", help="Seconds without anything new before it is ended (default: 600)."
)
@click.option("--sandbox", metavar="LEVEL", help=f"{', '.join((AUTO, *LEVELS))} (default: auto).")
@click.option(
    "--deliver", metavar="HOW", help="What becomes of a good result: branch, patch or none (default: branch)."
)
@click.option("--rehearse", metavar="SCENARIO", help="A scripted model stands in for the provider: a name or a file.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as one JSON document.")
@click.option("--detach", is_flag=True, help="Start the job, print its id and return.")
def run(prompt: str | None, prompt_file: str | None, as_json: bool, detach: bool, **flags: Any) -> int:
    """Run a job: PROMPT says what is to be done; '-' reads it from standard input.

    Exit status: 0 accepted or no change, 1 failed, 2 usage or configuration error, 3 rejected, 4 unverified, 5 parked,
    130 cancelled. With --detach, 0 once the job is queued.
    """
    fields: dict[str, Any] = {
        key: value for key, value in flags.items() if not (value is None or value is False or value == ())
    }
    if "checks" in fields:
        fields["checks"] = parse_checks(fields["checks"])
    if fields.get("read_only") and fields.get("deliver") not in (None, "none"):
        raise InvalidSpec("a read-only job delivers nothing", where="--deliver", do="leave --deliver out")
    job = Job(prompt=_prompt(prompt, prompt_file), **fields)
    return work(job, given=set(fields), as_json=as_json, detach=detach)


def _prompt(prompt: str | None, prompt_file: str | None) -> str:
    if (prompt is None) == (prompt_file is None):
        what = "there is no prompt" if prompt is None else "there are two prompts"
        raise InvalidSpec(what, where="PROMPT, --prompt-file", do="give one of: PROMPT, '-' (stdin), --prompt-file F")
    if prompt_file is not None:
        return _read(prompt_file)
    if prompt != "-":
        return prompt or ""
    if sys.stdin is None or sys.stdin.isatty():
        raise InvalidSpec("standard input is a terminal", where="PROMPT -", do="pipe the prompt in, or give it as text")
    return _decoded(sys.stdin.buffer.read(), "standard input")


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return _decoded(file.read(), path)
    except OSError as error:
        raise InvalidSpec(
            f"the prompt file cannot be read: {error.strerror}", where=path, do="name a readable file"
        ) from None


def _decoded(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidSpec("the prompt is not UTF-8", where=where, do="convert it to UTF-8") from None
