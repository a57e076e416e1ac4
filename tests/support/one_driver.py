"""A driver as a program: ``one_driver.py run|settle``, the job as JSON on standard input, the outcome on standard output."""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    from inspan.engine import driver
    from inspan.engine.driver import drive, settle
    from inspan.outcome.records import encode
    from inspan.spec.config import load
    from inspan.spec.decode import convert
    from inspan.spec.job import Job
    from inspan.spec.paths import state
    from inspan.spec.validate import validated

    driver.PATIENCE = float(os.environ.get("INSPAN_TEST_PATIENCE", driver.PATIENCE))

    def tell(job: str, event) -> None:
        print(job, event.kind, file=sys.stderr, flush=True)

    if sys.argv[1] == "settle":
        print(json.dumps(settle(state=state(), config=load(None), on_event=tell)))
    else:
        job = validated(convert(json.load(sys.stdin), Job, "job"))
        outcome = drive(job, state=state(), config=load(job.repo), on_event=tell)
        sys.stdout.write(encode(outcome).decode())


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
