"""The Python interface: ``inspan.run(Job(...))``."""

from __future__ import annotations


class Run:
    """A started job."""


def run() -> Run:
    """Start a job."""
    return Run()
