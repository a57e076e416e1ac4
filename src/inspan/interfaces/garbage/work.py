"""Whether the work of an ended attempt is anywhere besides its workspace. Read back and compared, never believed."""

from __future__ import annotations

import contextlib
import re

import msgspec

from inspan.attempt.files import read_request
from inspan.engine.records import Resolved
from inspan.errors import InspanError
from inspan.outcome.records import Change, Outcome
from inspan.spec.paths import AttemptPaths, State
from inspan.store.read import artifact
from inspan.store.records import JobRow
from inspan.workspace.build import find_setup
from inspan.workspace.changeset import collect
from inspan.workspace.gate_repository import gate_git, holds
from inspan.workspace.git import TrustedGit
from inspan.workspace.plan import MountPlan
from inspan.workspace.repository import Repository
from inspan.workspace.setup import SetupLayer

_OURS = re.compile(r"refs/(heads|remotes/.+)/(inspan|agent)/")  # the name of a remote may have slashes
_BRANCHES = 64
"""The user's youngest branches that a result is compared with when the commit it was delivered as is in none."""


def repository(row: JobRow) -> Repository | None:
    """The repository of a job, as it was found when the job was stored."""
    try:
        return msgspec.convert(row.resolved, Resolved).repository
    except msgspec.ValidationError:
        return None


def kept(state: State, outcome: Outcome) -> bool:
    """Whether the work is in the state besides the workspace."""
    change = outcome.change
    if change is None or change.result is None:
        return False
    if not change.files:
        return True
    digest = outcome.artifacts.get("patch")
    try:
        return digest is not None and len(artifact(state, digest)) > 0
    except InspanError:
        return False


def beyond(state: State, repo: Repository, outcome: Outcome, paths: AttemptPaths) -> str | None:
    """What the workspace holds that the outcome does not; None once it was shown that there is nothing.

    The workspace is read again as it was when the job ended, and the two changes are compared.
    """
    change = outcome.change
    if change is None:
        return "its outcome names no change"
    name = f"gc.{paths.root.name}"
    try:
        plan = read_request(paths).plan
        found = collect(state, repo, change.base, plan, name, setup=_setup(state, repo, plan))
    except (InspanError, OSError) as error:
        return f"its workspace cannot be compared with the outcome: {error}"
    finally:
        with contextlib.suppress(InspanError, OSError):
            gate_git(state, repo).call("update-ref", "-d", f"refs/inspan/attempt/{name}")
    return _difference(change, found.change)


def _setup(state: State, repo: Repository, plan: MountPlan) -> SetupLayer | None:
    place = state.repo(repo.key) / "setup"
    keys = [lower.removeprefix(f"{place}/").split("/")[0] for lower in plan.lowers if lower.startswith(f"{place}/")]
    return find_setup(state, repo, keys[0]) if keys else None


def _difference(before: Change, now: Change) -> str | None:
    if now.digest != before.digest:
        old, new = {f.path for f in before.files}, {f.path for f in now.files}
        names = sorted(new - old) or sorted(new)
        return f"its workspace holds what the outcome does not: {', '.join(names[:3]) or 'another change'}"
    more = sorted(set(now.ignored) - set(before.ignored))
    return f"its workspace holds ignored files the outcome does not name: {', '.join(more[:3])}" if more else None


def merged(state: State, repo: Repository, outcome: Outcome) -> bool:
    """Whether a branch of the user's own holds the result: as the delivered commit, or every changed path as it is."""
    change = outcome.change
    if change is None or change.result is None:
        return False
    if not change.files:
        return True
    try:
        return _contains(repo, outcome.delivery.commit) or _stands(state, repo, change)
    except (InspanError, OSError):
        return False  # the repository is gone: nobody can say


def _tips(repo: Repository, *options: str) -> list[str]:
    """Commits of the user's own branches, youngest first: neither ours nor an agent's, here or on a remote."""
    git = TrustedGit(repo.git_dir, repo.object_format)
    form = "--format=%(objectname) %(refname)"
    done = git.call("for-each-ref", "--sort=-committerdate", form, *options, "refs/heads", "refs/remotes")
    lines = [line.split(" ", 1) for line in done.stdout.decode("utf-8", "replace").splitlines()]
    return [line[0] for line in lines if len(line) == 2 and not _OURS.match(line[1])]


def _contains(repo: Repository, commit: str | None) -> bool:
    return commit is not None and bool(_tips(repo, f"--contains={commit}"))


def _stands(state: State, repo: Repository, change: Change) -> bool:
    """A squashed or picked change is another commit; what counts is that the paths are as the result has them."""
    if change.result is None or not holds(state, repo, change.result):
        return False
    paths = {file.path.encode("utf-8", "surrogateescape") for file in change.files}
    git = gate_git(state, repo)
    for tip in dict.fromkeys(_tips(repo)[:_BRANCHES]):
        done = git.call("diff-tree", "-r", "-z", "--name-only", "--no-renames", change.result, tip)
        if done.returncode == 0 and not paths & set(done.stdout.split(b"\0")):
            return True
    return False
