"""The one table of reasons. A reason's verdict, required action and precedence are defined here and derived everywhere else.

Precedence: when several reasons apply, the one with the *lowest* rank is the outcome's ``reason``; the rest stay in
``reasons``. Ranks express "the most specific cause wins, first cause over later wrappers": a person's cancel, then what
stopped the work before or during execution, then what a gate saw (that nothing was done before what the checks say about
nothing), then what is merely missing, then delivery, then the good ends.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class Verdict(StrEnum):
    """What became of a job. See ``docs/reference/outcome.md``."""

    ACCEPTED = "accepted"
    NO_CHANGE = "no_change"
    REJECTED = "rejected"
    UNVERIFIED = "unverified"
    FAILED = "failed"
    PARKED = "parked"
    CANCELLED = "cancelled"


class Action(StrEnum):
    """The one thing that moves a job forward."""

    NONE = "none"
    READ_CHANGE = "read_change"
    ADD_CHECKS = "add_checks"
    REVISE = "revise"
    NARROW_OR_PERMIT = "narrow_or_permit"
    RETRY = "retry"
    RETRY_LATER = "retry_later"
    RAISE_LIMIT = "raise_limit"
    FREE_SPACE = "free_space"
    FIX_SETUP = "fix_setup"
    FIX_CREDENTIAL = "fix_credential"
    ADD_CREDIT = "add_credit"
    CHOOSE_BACKEND = "choose_backend"
    INSTALL_HARNESS = "install_harness"
    ENABLE_SANDBOX = "enable_sandbox"
    APPROVE = "approve"
    RESOLVE_CONFLICT = "resolve_conflict"
    UPGRADE = "upgrade"
    REPORT_BUG = "report_bug"


class Facet(StrEnum):
    """One judged side of an outcome."""

    EXECUTOR = "executor"
    SCOPE = "scope"
    CHECKS = "checks"
    JUDGE = "judge"
    DELIVERY = "delivery"


class ReasonRow(NamedTuple):
    """One row of the table.

    Attributes:
        verdict: the verdict an outcome with this leading reason has.
        action: the required action.
        rank: precedence; lower wins.
        facet: the facet this reason explains; None when it ends a job outside any facet.
        text: one sentence for people.
    """

    verdict: Verdict
    action: Action
    rank: int
    facet: Facet | None
    text: str


_V, _A, _F = Verdict, Action, Facet


def _row(verdict: Verdict, action: Action, rank: int, facet: Facet | None, text: str) -> ReasonRow:
    return ReasonRow(verdict, action, rank, facet, text)


REASONS: Final[dict[str, ReasonRow]] = {
    # a person's word
    "cancelled_by_user": _row(_V.CANCELLED, _A.NONE, 0, _F.EXECUTOR, "A person cancelled the job."),
    # nothing could be started
    "state_too_new": _row(_V.FAILED, _A.UPGRADE, 10, None, "The state directory was written by a newer Inspan."),
    "sandbox_unavailable": _row(_V.FAILED, _A.ENABLE_SANDBOX, 11, _F.EXECUTOR, "The asked confinement cannot be had here."),
    "harness_missing": _row(_V.FAILED, _A.INSTALL_HARNESS, 12, _F.EXECUTOR, "The harness program is not installed."),
    "terms_not_acknowledged": _row(_V.FAILED, _A.APPROVE, 13, _F.EXECUTOR, "The provider's terms were not acknowledged."),
    "approval_required": _row(_V.PARKED, _A.APPROVE, 14, None, "The job waits for a person's approval."),
    "unreachable": _row(_V.FAILED, _A.RETRY, 15, None, "An earlier phase failed, so this job was never started."),
    "no_capacity": _row(_V.PARKED, _A.RETRY_LATER, 16, None, "No node has room for the job."),
    "no_capable_node": _row(_V.PARKED, _A.CHOOSE_BACKEND, 17, None, "No node can run the job."),
    "fleet_unreadable": _row(_V.FAILED, _A.RETRY, 18, None, "The fleet's state could not be read."),
    "setup_failed": _row(_V.FAILED, _A.FIX_SETUP, 19, _F.CHECKS, "A set-up command failed."),
    "spawn_failed": _row(_V.FAILED, _A.INSTALL_HARNESS, 20, _F.EXECUTOR, "The harness program could not be started."),
    # causes on the wire, most specific first
    "auth": _row(_V.FAILED, _A.FIX_CREDENTIAL, 30, _F.EXECUTOR, "The provider refused the credential."),
    "out_of_credits": _row(_V.FAILED, _A.ADD_CREDIT, 31, _F.EXECUTOR, "The account has no credit left."),
    "usage_window": _row(_V.PARKED, _A.RETRY_LATER, 32, _F.EXECUTOR, "The account's usage window is used up."),
    "rate_limited": _row(_V.PARKED, _A.RETRY_LATER, 33, _F.EXECUTOR, "The provider asked to slow down."),
    "context_length": _row(_V.FAILED, _A.CHOOSE_BACKEND, 34, _F.EXECUTOR, "The work does not fit the model's context."),
    "model_unavailable": _row(_V.FAILED, _A.CHOOSE_BACKEND, 35, _F.EXECUTOR, "The provider does not serve this model."),
    "wrong_model_served": _row(_V.FAILED, _A.CHOOSE_BACKEND, 36, _F.EXECUTOR, "Another model than the one asked for answered."),
    "budget_exhausted": _row(_V.FAILED, _A.RAISE_LIMIT, 37, _F.EXECUTOR, "The job's budget is used up."),
    "overloaded": _row(_V.FAILED, _A.RETRY, 38, _F.EXECUTOR, "The provider is overloaded."),
    "network": _row(_V.FAILED, _A.RETRY, 39, _F.EXECUTOR, "The provider could not be reached or the connection broke."),
    "provider_error": _row(_V.FAILED, _A.RETRY, 40, _F.EXECUTOR, "The provider answered with an error."),
    # causes on the machine
    "permission_asked": _row(_V.FAILED, _A.CHOOSE_BACKEND, 50, _F.EXECUTOR, "The harness asked a person who is not there."),
    "disk_full": _row(_V.FAILED, _A.FREE_SPACE, 51, _F.EXECUTOR, "The disk or the job's disk limit is full."),
    "output_capped": _row(_V.FAILED, _A.RAISE_LIMIT, 52, _F.EXECUTOR, "The harness wrote more output than allowed."),
    "limit_exceeded": _row(_V.FAILED, _A.RAISE_LIMIT, 53, _F.EXECUTOR, "A limit on memory, processes or files was exceeded."),
    "stalled": _row(_V.FAILED, _A.RETRY, 54, _F.EXECUTOR, "Nothing new happened for longer than the stall limit."),
    "stop_gate_capped": _row(_V.FAILED, _A.REVISE, 55, _F.EXECUTOR, "The harness was sent back too often."),
    "deadline": _row(_V.FAILED, _A.RAISE_LIMIT, 56, _F.EXECUTOR, "The deadline passed."),
    "lost_node": _row(_V.FAILED, _A.RETRY, 57, _F.EXECUTOR, "The machine that ran the job is gone."),
    "environment_lost": _row(_V.FAILED, _A.RETRY, 58, _F.EXECUTOR, "The runner or its workspace vanished."),
    "harness_crashed": _row(_V.FAILED, _A.RETRY, 59, _F.EXECUTOR, "The harness ended by a signal or with an error of its own."),
    "no_terminal_record": _row(_V.FAILED, _A.RETRY, 60, _F.EXECUTOR, "The harness ended without its final record."),
    "declared_incomplete": _row(_V.FAILED, _A.REVISE, 61, _F.EXECUTOR, "The agent itself reported the work as incomplete."),
    # what a gate saw
    "checkout_changed": _row(_V.REJECTED, _A.READ_CHANGE, 70, _F.SCOPE, "The user's checkout changed while the job ran."),
    "gate_tampered": _row(_V.REJECTED, _A.NARROW_OR_PERMIT, 71, _F.SCOPE, "Something that decides the checks was changed."),
    "out_of_scope": _row(_V.REJECTED, _A.NARROW_OR_PERMIT, 72, _F.SCOPE, "Something outside the scope was changed."),
    "change_too_large": _row(_V.REJECTED, _A.NARROW_OR_PERMIT, 73, _F.SCOPE, "The change exceeds the gate's size limits."),
    "no_activity": _row(_V.REJECTED, _A.RETRY, 74, _F.EXECUTOR, "The harness did nothing at all."),
    "text_only": _row(_V.REJECTED, _A.REVISE, 75, _F.EXECUTOR, "The harness only talked."),
    "no_change_undeclared": _row(_V.REJECTED, _A.REVISE, 76, _F.EXECUTOR, "Nothing changed and the agent did not say why."),
    "checks_weakened": _row(_V.REJECTED, _A.REVISE, 77, _F.CHECKS, "Tests were weakened, or the code was fitted to them."),
    "checks_failed": _row(_V.REJECTED, _A.REVISE, 78, _F.CHECKS, "A required check fails on the result."),
    "judge_rejected": _row(_V.REJECTED, _A.REVISE, 79, _F.JUDGE, "The judge rejected the change."),
    # what could not be seen
    "internal_error": _row(_V.FAILED, _A.REPORT_BUG, 84, None, "Inspan itself failed."),
    "gate_error": _row(_V.FAILED, _A.REPORT_BUG, 85, _F.CHECKS, "The gate itself failed, so nothing is proved."),
    "tests_other_tree": _row(_V.UNVERIFIED, _A.FIX_SETUP, 86, _F.CHECKS, "The environment would test another tree than the result."),
    "tests_changed": _row(_V.UNVERIFIED, _A.READ_CHANGE, 87, _F.CHECKS, "Named lines of the tests or of the code need a reader."),
    "judge_unavailable": _row(_V.UNVERIFIED, _A.READ_CHANGE, 88, _F.JUDGE, "The judge gave no usable answer."),
    "judge_not_independent": _row(_V.UNVERIFIED, _A.CHOOSE_BACKEND, 89, _F.JUDGE, "The judge is not independent of the worker."),
    "no_suite": _row(_V.UNVERIFIED, _A.ADD_CHECKS, 90, _F.CHECKS, "No check and no judge was asked for, so nothing is proved."),
    # delivery, after a good verdict of the gates
    "merge_conflict": _row(_V.FAILED, _A.RESOLVE_CONFLICT, 95, _F.DELIVERY, "The result conflicts with the target."),
    "base_moved": _row(_V.FAILED, _A.RETRY, 96, _F.DELIVERY, "The target moved while the job ran."),
    "delivery_failed": _row(_V.FAILED, _A.RETRY, 97, _F.DELIVERY, "The result could not be delivered."),
    # good ends
    "no_change_declared": _row(_V.NO_CHANGE, _A.NONE, 100, _F.EXECUTOR, "Nothing needed to change, declared with a reason and proved by checks."),
    "answered": _row(_V.NO_CHANGE, _A.NONE, 101, _F.EXECUTOR, "The read-only job was answered."),
    "verified": _row(_V.ACCEPTED, _A.NONE, 102, None, "Every required facet passed."),
}
"""Every reason an outcome can carry, by its word."""


def leading(reasons: tuple[str, ...]) -> str:
    """The reason that speaks for all: the lowest rank, then the first in time.

    Raises:
        KeyError: for a word that is not in the table.
        ValueError: for no reasons at all.
    """
    return min(reasons, key=lambda r: REASONS[r].rank)
