"""Leaving a process that may have driven a job."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn


def leave(status: int) -> NoReturn:
    """Exit with ``status``; without waiting for the durable engine's idle threads when it was loaded.

    By then everything is written: the outcome, the rows, and the driver's lock is released.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if "dbos" in sys.modules:
        os._exit(status)
    sys.exit(status)
