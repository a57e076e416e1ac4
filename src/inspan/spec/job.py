"""A job: one unit of delegated work, as asked by a person or a program."""

from __future__ import annotations

from typing import Literal

import msgspec

LEVELS = ("none", "landlock", "sandbox", "gvisor", "container", "microvm")
"""Sandbox levels by strength. A level that is not built yet is refused by name, never replaced."""

Deliver = Literal["branch", "patch", "none"]


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One required check: ``command`` is run by ``sh -c`` in a fresh copy of the result; exit status 0 passes.

    Attributes:
        name: ``[a-z][a-z0-9_-]{0,30}``, unique within the job.
        command: a shell command line.
        timeout: seconds.
        junit: path, relative to the repository's root, of the JUnit XML file that the command writes, with ``*`` of
            several; their results per test then count. None where a known runner tells them, or nobody does.
    """

    name: str
    command: str
    timeout: float = 900.0
    junit: str | None = None


class Job(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked. Build it with keywords; ``inspan.spec.validate.validated`` checks and normalises it.

    Attributes:
        prompt: the task, as given to the harness.
        repo: path of a git repository (any directory inside it); absolute after validation.
        base: a revision; ``HEAD`` of the checkout when None.
        dirty: take the checkout's uncommitted state as base.
        backend: ``harness@provider/model``; the configured default when None.
        scope: globs the change must stay within; empty means the whole tree.
        may_change: globs of deciders (test configuration and the like) that this job may change.
        read_only: the job answers and changes nothing; enforced by mechanism.
        checks: required checks.
        unchecked: accept without any check or judge; recorded as a waiver.
        setup: shell commands run once per base, before any agent exists.
        share: git-ignored directories of the checkout shown read-only in the workspace, relative to its root.
        egress: destinations ``host:port`` that set-up and agent may reach besides the model, through the egress proxy.
        writable: directories of the host the agent may write to, beside its workspace; absolute after validation.
        timeout, stall: seconds until the deadline; seconds without a novel event or a model request in flight.
        sandbox: a level, or ``auto`` for the configured default.
        deliver: what happens to an accepted or unverified result.
        rehearse: a rehearsal scenario's name or a scenario file's path; stands in for any provider.
        continue_from: an earlier job whose kept patch is the starting point (``retry --continue``).
    """

    prompt: str
    repo: str = "."
    base: str | None = None
    dirty: bool = False
    backend: str | None = None
    scope: tuple[str, ...] = ()
    may_change: tuple[str, ...] = ()
    read_only: bool = False
    checks: tuple[Check, ...] = ()
    unchecked: bool = False
    setup: tuple[str, ...] = ()
    share: tuple[str, ...] = ()
    egress: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    timeout: float = 3600.0
    stall: float = 600.0
    sandbox: str = "auto"
    deliver: Deliver = "branch"
    rehearse: str | None = None
    continue_from: str | None = None
