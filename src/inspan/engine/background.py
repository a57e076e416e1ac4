"""``python -m inspan.engine.background [EXECUTOR]``: a driver of its own for the jobs another one left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from inspan.spec.paths import State


def settle_later(state: State, after: str | None = None) -> None:
    """Start a driver, in a session of its own, that ends what dead drivers left. Returns at once.

    Args:
        after: a driver that is about to leave; waited for first.
    """
    # -P: nothing in the caller's directory may shadow a module of ours
    subprocess.Popen(
        [sys.executable, "-P", "-m", "inspan.engine.background", *([after] if after else [])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "INSPAN_HOME": os.fspath(state.root)},
        start_new_session=True,
    )


def main(arguments: list[str]) -> None:
    """Take over and finish. The outcomes are in the state; there is nobody to tell."""
    from inspan.engine.driver import settle
    from inspan.spec.config import load
    from inspan.spec.paths import state

    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    settle(state=state(), config=load(None), after=arguments[0] if arguments else None)


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)  # the engine's threads are not waited for: everything is written
