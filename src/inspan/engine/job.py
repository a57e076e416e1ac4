"""The durable job: its stages in order. A changed order or a changed stage gets a new workflow name.

Each stage is a step of the durable engine: once its result is noted it never runs again. A driver that dies between two
stages is followed by one that goes on at the next; a stage that was cut off runs again and finds what it had done.
"""

from __future__ import annotations

from inspan.engine import durable
from inspan.engine.collect import collect
from inspan.engine.execute import execute
from inspan.engine.finish import deliver, free, settle, write
from inspan.engine.gating import gate
from inspan.engine.prepare import prepare
from inspan.engine.records import Progress, dump

STAGES = ("prepare", "execute", "collect", "gate", "decide", "deliver", "record", "free")
"""Names of the stages, in order."""

WORKFLOWS = ("job.v1",)
"""Names of the workflows this program can go on with."""


@durable.workflow("job.v1")
def run_job(job: str) -> str:
    """Run the job of this id to its outcome."""
    text = dump(Progress(job=job))
    for run in (prepare, execute, collect, gate, settle, deliver, write, free):
        text = run(text)
    return job
