"""What the command line costs before it does anything: ``--help``, ``ps`` and ``import inspan``."""

from __future__ import annotations

import os
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.timing import command_ms, interleaved, machine, median, processor_ms

ROUNDS = 15


def measure() -> dict[str, object]:
    """``help_ms``, ``ps_ms``, ``import_ms`` beside a bare interpreter and ``git --version`` in the same rounds."""
    inspan = str(Path(sys.executable).with_name("inspan"))
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "INSPAN_HOME": f"{home}/state", "INSPAN_CONFIG": f"{home}/config.toml"}
        sides = {
            "help_ms": lambda: command_ms([inspan, "--help"], env),
            "ps_ms": lambda: command_ms([inspan, "ps"], env),
            "import_ms": lambda: command_ms([sys.executable, "-c", "import inspan"], env),
            "python_ms": lambda: command_ms([sys.executable, "-c", "pass"], env),
            "git_version_ms": lambda: command_ms(["git", "--version"], env),
        }
        for side in sides.values():
            side()  # warm the disk cache and the bytecode once
        costs: dict[str, list[float]] = {name: [] for name in sides}

        def counted(name: str) -> float:
            wall, processor = processor_ms(sides[name])
            costs[name].append(processor)
            return wall

        kept = interleaved({name: partial(counted, name) for name in sides}, ROUNDS)
    medians = {name: median(values) for name, values in kept.items()}
    medians |= {name.replace("_ms", "_cpu_ms"): median(values) for name, values in costs.items()}
    return {
        "figures": {name: medians[name] for name in sorted(medians) if name.startswith(("help", "ps", "import"))},
        "peers": {name: medians[name] for name in sorted(medians) if name.startswith(("python", "git"))},
        "machine": machine(),
        "method": f"whole processes, median of {ROUNDS} interleaved rounds after one warm-up; cpu: user and system",
    }
