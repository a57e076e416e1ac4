"""Measuring whole commands and calls: medians of interleaved rounds, so that a busy moment hits both sides."""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence


def command_ms(argv: Sequence[str], env: Mapping[str, str] | None = None) -> float:
    """Milliseconds of one run of a command, start to exit.

    Raises:
        RuntimeError: when the command fails; a failed run is never a figure.
    """
    start = time.perf_counter()
    done = subprocess.run(argv, env=dict(env) if env is not None else None, capture_output=True, check=False)
    elapsed = (time.perf_counter() - start) * 1000
    if done.returncode != 0:
        raise RuntimeError(f"{argv[0]} exited with {done.returncode}: {done.stderr[-400:].decode(errors='replace')}")
    return elapsed


def processor_ms(action: Callable[[], float]) -> tuple[float, float]:
    """What ``action`` gives, and the milliseconds of processor time its child processes took: what a busy machine, that
    makes everything wait, does not change."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    given = action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return given, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def interleaved(sides: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Run every side once per round, in alternating order, and keep each side's figures."""
    kept: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds):
        order = list(sides) if number % 2 == 0 else list(reversed(sides))
        for name in order:
            kept[name].append(sides[name]())
    return kept


def median(values: Sequence[float]) -> float:
    """Median rounded to a hundredth."""
    return round(statistics.median(values), 2)


def machine() -> dict[str, object]:
    """The facts a reader needs to judge the figures."""
    return {
        "cores": os.cpu_count(),
        "load": [round(x, 2) for x in os.getloadavg()],
        "kernel": platform.release(),
        "python": platform.python_version(),
        "arch": platform.machine(),
    }
