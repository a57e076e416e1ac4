"""The command line: one module per verb, loaded when it is used, so that ``--help`` and ``ps`` stay quick."""

from __future__ import annotations


def main() -> None:
    """The console script ``inspan``: run the command in ``sys.argv`` and exit with its status."""
    import sys

    from inspan.interfaces.cli.entry import run_command
    from inspan.interfaces.leaving import leave

    leave(run_command(sys.argv[1:]))
