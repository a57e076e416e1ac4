"""The worker loop."""

import logging

log = logging.getLogger(__name__)


def run(queue, work):
    """Work on items until None comes; gives how many were done and how many failed."""
    done = failed = 0
    while (item := queue.get()) is not None:
        try:
            work(item)
        except Exception:
            log.exception("item failed: %r", item)
            failed += 1
        else:
            done += 1
    return done, failed
