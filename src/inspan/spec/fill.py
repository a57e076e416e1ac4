"""A job takes from the configuration what it does not say itself."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from inspan.spec.config import Configuration
from inspan.spec.job import Job

_PLAIN = ("backend", "sandbox", "timeout", "stall", "deliver")


def fill(job: Job, configuration: Configuration, given: Collection[str] = ()) -> Job:
    """``job`` with configured values in the fields that still hold their default.

    Args:
        job: as asked.
        configuration: the effective configuration.
        given: names of fields that were said explicitly and stay as they are, even when they equal the default.

    A waived check (``unchecked``) takes no configured checks, and a read-only job nothing that only a change needs.
    """
    defaults = {f.name: f.default for f in msgspec.structs.fields(Job)}
    taken: dict[str, Any] = {}
    for field in (*_PLAIN, "scope", "checks", "setup", "share", "writable"):
        value = getattr(configuration, field)
        if field in given or getattr(job, field) != defaults[field] or value in (None, (), "auto"):
            continue
        if (field == "checks" and job.unchecked) or (job.read_only and field in ("scope", "deliver", "writable")):
            continue
        taken[field] = value
    return msgspec.structs.replace(job, **taken)
