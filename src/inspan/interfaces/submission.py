"""From a job as asked to a job that can be driven: the same way for the command line and for Python."""

from __future__ import annotations

from collections.abc import Collection

from inspan.spec.config import Configuration, load
from inspan.spec.fill import fill
from inspan.spec.job import Job
from inspan.spec.validate import validated
from inspan.workspace.repository import open_repository


def completed(job: Job, given: Collection[str] = ()) -> tuple[Job, Configuration]:
    """The job, validated and filled from the configuration of its checkout, and that configuration.

    Args:
        job: as asked.
        given: fields that were said explicitly and are not to be filled, even when they equal the default.

    Raises:
        UsageError: for a bad job, a bad configuration or a directory that is no usable checkout.
    """
    asked = validated(job)
    configuration = load(open_repository(asked.repo).toplevel)
    return validated(fill(asked, configuration, given)), configuration
