"""The seam through which recovery tests end the driver at an exact place. Does nothing unless the variable is set."""

from __future__ import annotations

import os
import signal
from typing import Literal

VARIABLE = "INSPAN_TEST_KILL_AT"
"""``<step>:<side>``; the driver that reaches that place kills itself the hard way."""

Side = Literal["before", "after", "done"]
"""Before a step's work, after it but before the engine noted its result, and once that is noted."""


def reach(step: str, side: Side) -> None:
    """Say that the driver is at this place."""
    if os.environ.get(VARIABLE) == f"{step}:{side}":
        os.kill(os.getpid(), signal.SIGKILL)
