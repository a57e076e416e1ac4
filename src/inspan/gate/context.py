"""Everything one gate run depends on, put together by the caller; none of it comes from where a worker could write."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal

import msgspec

from inspan.gate.installed import module_names
from inspan.gate.tests.trees import Blob, content, files
from inspan.redact import Redactor
from inspan.sandbox.contract import Limits
from inspan.sandbox.tools import Toolset
from inspan.spec.job import Job
from inspan.spec.paths import State
from inspan.workspace.build import SetupLayer
from inspan.workspace.changeset import Changeset
from inspan.workspace.gate_repository import gate_git
from inspan.workspace.git import TrustedGit
from inspan.workspace.layout import Owner
from inspan.workspace.repository import Repository


class GateContext(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate is given.

    Attributes:
        state, repo: where things are.
        job: the validated job: checks, scope and permissions as asked, never as a workspace has them.
        changeset: what the trusted side collected.
        attempt: ``<job>.a<n>``.
        level, kind, owner: how checks are confined; the same as the agent was.
        toolset, env: the caller's tools and the allow-listed environment.
        setup: the frozen set-up layer; ``setup_for_checks`` replaces it when the result changed a set-up input.
        share: git-ignored directories shown read-only.
        harness_globs: settings files harness programs discover in a tree and obey.
        keep: stores bytes as an artifact and names them; None keeps nothing.
        on_progress: told what the gate is doing, for people.
        cancelled: asked while a check runs, whether a person has ended the job meanwhile.
    """

    state: State
    repo: Repository
    job: Job
    changeset: Changeset
    attempt: str
    level: str
    kind: Literal["overlay", "clone"]
    owner: Owner
    toolset: Toolset
    env: dict[str, str]
    redactor: Redactor
    setup: SetupLayer | None = None
    setup_for_checks: SetupLayer | None = None
    share: tuple[str, ...] = ()
    harness_globs: tuple[str, ...] = ()
    limits: Limits = Limits()
    keep: Callable[[bytes], str] | None = None
    on_progress: Callable[[str], None] | None = None
    cancelled: Callable[[], bool] | None = None

    @property
    def base(self) -> str:
        """The commit the workspace started from."""
        return self.changeset.base

    @property
    def result(self) -> str:
        """The commit to be judged: the gate's own, or base when nothing changed."""
        return self.changeset.result or self.changeset.base

    def git(self) -> TrustedGit:
        """The gate's repository."""
        return gate_git(self.state, self.repo)

    def say(self, text: str) -> None:
        """Tell people what is going on."""
        if self.on_progress is not None:
            self.on_progress(text)


class Trees(msgspec.Struct, frozen=True, kw_only=True):
    """The files of base and result, and their content on demand."""

    git: TrustedGit
    base: dict[str, Blob]
    result: dict[str, Blob]

    @property
    def changed(self) -> list[str]:
        """Paths that differ."""
        return sorted(p for p in self.base.keys() | self.result.keys() if self.base.get(p) != self.result.get(p))

    def before(self, path: str) -> bytes | None:
        """Bytes on base; a link gives its target, None where there is no file."""
        return self._bytes(self.base.get(path))

    def after(self, path: str) -> bytes | None:
        """Bytes on the result."""
        return self._bytes(self.result.get(path))

    def _bytes(self, blob: Blob | None) -> bytes | None:
        if blob is None:
            return None
        if blob.mode == "120000":
            return b"link to " + self.git.run("cat-file", "blob", blob.oid)
        found = content(self.git, blob)
        return found if found is not None else os.fsencode(f"{blob.mode} {blob.oid}")


def trees(context: GateContext) -> Trees:
    """The two trees of a gate run."""
    git = context.git()
    base = files(git, context.base)
    return Trees(git=git, base=base, result=base if context.result == context.base else files(git, context.result))


def installed(context: GateContext) -> frozenset[str]:
    """Names of the modules the checks find installed."""
    layers = [layer.lower for layer in (context.setup, context.setup_for_checks) if layer is not None]
    return module_names(context.toolset.path, layers)
