"""The verbs there are, with the line ``--help`` shows. A verb whose capability is not built is absent."""

from __future__ import annotations

from importlib import import_module
from typing import Final, NamedTuple

import click

from inspan.errors import UnknownName
from inspan.spec.nearest import suggestion


class Verb(NamedTuple):
    """Where a verb's command is (``module:attribute``) and what it does in one line."""

    place: str
    text: str


_HERE = "inspan.interfaces.cli"
VERBS: Final[dict[str, Verb]] = {
    "init": Verb(f"{_HERE}.init:init", "Find the repository's checks and write inspan.toml."),
    "run": Verb(f"{_HERE}.run:run", "Run a job and say what became of it."),
    "ps": Verb(f"{_HERE}.ps:ps", "List jobs, newest first."),
    "show": Verb(f"{_HERE}.show:show", "Show a job and its outcome."),
    "logs": Verb(f"{_HERE}.logs:logs", "Show what happened in a job."),
    "diff": Verb(f"{_HERE}.diff:diff", "Print the patch a job made."),
    "cancel": Verb(f"{_HERE}.cancel:cancel", "Cancel jobs that run or wait."),
    "retry": Verb(f"{_HERE}.retry:retry", "Run a job again, from its base or from its patch."),
    "doctor": Verb(f"{_HERE}.doctor:doctor", "Show what works on this machine, by trying it."),
    "gc": Verb(f"{_HERE}.gc:gc", "Remove what ended jobs left on disk, never work that is not kept elsewhere."),
    "harness": Verb(f"{_HERE}.harness:harness_group", "List or install harness programs."),
    "config": Verb(f"{_HERE}.config:config", "Print each effective setting with where it came from."),
}
"""Every verb, in the order of the help."""


class LazyGroup(click.Group):
    """A group whose commands are imported only when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every verb."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb."""
        verb = VERBS.get(cmd_name)
        if verb is None:
            return None
        module, _, attribute = verb.place.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The named verb.

        Raises:
            UnknownName: naming the nearest.
        """
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise UnknownName(f"no verb is called {args[0]!r}", where="the command line", do=suggestion(args[0], VERBS))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs, without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.text) for name, verb in VERBS.items()])
