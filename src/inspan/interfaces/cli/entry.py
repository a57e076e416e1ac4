"""From arguments to an exit status: the one place where errors become text and numbers."""

from __future__ import annotations

import contextlib
import os
import sys

import click

from inspan import __version__
from inspan.errors import InspanError
from inspan.interfaces.cli.verbs import LazyGroup

_INTERRUPTED = 130


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Every verb has its own --help. Machine output is --json: one document on standard output.",
)
@click.version_option(__version__, message="%(version)s")
def cli() -> None:
    """Put coding agents in harness: a job in, evidence out."""


def run_command(arguments: list[str]) -> int:
    """Run one command line and return its exit status."""
    as_json = "--json" in arguments
    try:
        status = cli.main(args=arguments, prog_name="inspan", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except InspanError as error:
        return _refused(error, as_json)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return 2
    except click.UsageError as error:
        return _refused(error, as_json)
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except BrokenPipeError:
        _close_stdout()
        return 1
    except Exception as error:
        return _refused(error, as_json)


def _refused(error: Exception, as_json: bool) -> int:
    from inspan.interfaces.cli.refusal import internal_error, refuse, usage_error

    if isinstance(error, click.UsageError):
        error = usage_error(error)
    return refuse(error if isinstance(error, InspanError) else internal_error(error), as_json=as_json)


def _close_stdout() -> None:
    """The reader of our output has gone: nothing more can be said to it, not even when Python flushes at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
