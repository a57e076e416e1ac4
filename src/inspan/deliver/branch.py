"""A result as a branch of the user's repository: objects by a pack, one reference created, nothing else touched.

The user's index, work tree, HEAD, configuration and hooks play no part: objects are unpacked and one reference is made
with a compare-and-swap that only succeeds while it does not exist. Root writes into somebody else's repository as its
owner: a link that stands there leads nowhere the owner could not go, and everything written is the owner's. Where the
owner cannot reach the repository (a mount below root's home), root writes, never through a link, and gives it away.
"""

from __future__ import annotations

import os
import re

import msgspec

from inspan.errors import DeliveryError
from inspan.outcome.reasons import Verdict
from inspan.outcome.records import Change, DeliveryRecord
from inspan.spec.paths import State
from inspan.workspace.gate_repository import gate_git
from inspan.workspace.git import TrustedGit
from inspan.workspace.repository import Repository

NAME, EMAIL = "Inspan", "inspan@localhost"
"""Author and committer of a delivered commit; never a person's identity, and never the agent's."""

_DELIVERED = (Verdict.ACCEPTED, Verdict.UNVERIFIED)
_RECEIPT = re.compile(r"^sha256:[0-9a-f]{64}$")


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """What is delivered, and what its commit says.

    Attributes:
        job: the job's id; the branch is ``inspan/<job>``.
        verdict, reason: of the gates.
        receipt: the receipt the outcome carries.
        verified_receipt: the receipt computed again from the stored evidence; delivery needs both to be the same.
        change: the collected change; its ``result`` is the gate's commit.
        title: first line of the commit message, from the job's prompt.
        summary: the agent's own summary, quoted as a claim; None without one.
        rehearsal: name of the scenario that stood in for a provider, None for real work.
        when: seconds since 1970, UTC, written as author and commit time; fixed per job, so that a repeated delivery
            makes the same commit.
    """

    job: str
    verdict: Verdict
    reason: str
    receipt: str
    verified_receipt: str
    change: Change
    title: str
    when: int
    summary: str | None = None
    rehearsal: str | None = None


def branch_ref(job: str) -> str:
    """The full name of a job's branch."""
    return f"refs/heads/inspan/{job}"


def _plain(line: str) -> str:
    """One line without what commands a terminal, hides text in it, or is refused in a commit."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in line)


def message(delivery: Delivery) -> str:
    """The commit message: a subject, what this commit is, and trailers a program can read."""
    subject = _plain(re.sub(r"\s+", " ", delivery.title).strip())[:68] or f"Job {delivery.job}"
    if delivery.rehearsal:
        subject = f"[rehearsal] {subject}"
    body = [f"Result of Inspan job {delivery.job}: {delivery.verdict.value} ({delivery.reason})."]
    if delivery.verdict is Verdict.UNVERIFIED:
        body.append("Not verified: read the change before you use it.")
    if delivery.rehearsal:
        body.append(f"A rehearsal ({delivery.rehearsal}): a scripted model server stood in for the provider.")
    if delivery.summary:
        quoted = "\n".join(f"> {_plain(line)}" for line in delivery.summary.strip().splitlines()[:20])
        body.append(f"The agent said:\n{quoted}")
    trailers = [
        f"Inspan-Job: {delivery.job}",
        f"Inspan-Verdict: {delivery.verdict.value}",
        f"Inspan-Receipt: {delivery.receipt}",
    ]
    if delivery.rehearsal:
        trailers.append(f"Inspan-Rehearsal: {delivery.rehearsal}")
    return "\n\n".join([subject, *body, "\n".join(trailers)]) + "\n"


def deliver_branch(state: State, repo: Repository, delivery: Delivery) -> DeliveryRecord:
    """Create ``refs/heads/inspan/<job>`` in the user's repository. Delivering the same job again finds the same branch.

    Raises:
        DeliveryError: the verdict does not allow it, the receipt does not verify, the branch exists with other content,
            or the user's repository cannot be written.
    """
    result = verified(delivery)
    ref = branch_ref(delivery.job)
    gate = gate_git(state, repo)
    if gate.call("check-ref-format", ref).returncode:
        raise DeliveryError(f"{ref} is not a valid reference name", where=delivery.job)
    commit = _commit(gate, delivery, result)
    owner = _owner(repo)
    user = TrustedGit(repo.common_dir, repo.object_format, user=owner)
    private = owner is not None and not _reachable(user)
    if private:
        user = TrustedGit(repo.common_dir, repo.object_format)
    there = _ref(user, ref)
    if there is None:
        written = _objects(gate, user, commit, delivery.change.base)
        if private:
            _refuse_links(repo, ref, written)
        _transfer(gate, user, written)
        done = user.call(
            "update-ref", "--no-deref", "-m", f"inspan: job {delivery.job}", ref, commit, "0" * len(commit)
        )
        if private and owner is not None:
            _give_back(repo, ref, written, owner)
        there = _ref(user, ref)
        if there is None:
            raise DeliveryError(
                f"the branch could not be created: {done.stderr.decode('utf-8', 'replace').strip()[-400:]}",
                where=f"{repo.toplevel}, {ref}",
                do="delete or rename whatever is in the way, then retry",
            )
    if there != commit:
        raise DeliveryError(
            "the branch exists and holds something else",
            where=f"{repo.toplevel}, {ref} at {there[:12]}",
            do=f"rename it (git branch -m inspan/{delivery.job} NEW), then retry",
        )
    return DeliveryRecord(kind="branch", ref=ref, commit=commit)


def verified(delivery: Delivery) -> str:
    """The commit to deliver, once verdict and receipt allow it.

    Raises:
        DeliveryError: they do not, or there is no change.
    """
    if delivery.verdict not in _DELIVERED:
        raise DeliveryError(
            f"work that ended {delivery.verdict.value} is not delivered",
            where=delivery.job,
            do=f"read it with: inspan diff {delivery.job}",
        )
    if not _RECEIPT.match(delivery.receipt) or delivery.receipt != delivery.verified_receipt:
        raise DeliveryError("the receipt does not match the evidence", where=delivery.job, do="run the job again")
    if delivery.change.result is None or delivery.change.result == delivery.change.base:
        raise DeliveryError("there is no change to deliver", where=delivery.job)
    return delivery.change.result


def _commit(gate: TrustedGit, delivery: Delivery, result: str) -> str:
    """The delivered commit: the result's tree on base. The same input gives the same commit."""
    tree = gate.line("rev-parse", "--verify", f"{result}^{{tree}}")
    git = TrustedGit(gate.git_dir, gate.object_format)
    stamp = f"{delivery.when} +0000"
    for role in ("AUTHOR", "COMMITTER"):
        git.env |= {f"GIT_{role}_NAME": NAME, f"GIT_{role}_EMAIL": EMAIL, f"GIT_{role}_DATE": stamp}
    text = message(delivery).encode("utf-8", "replace")
    made = git.run("commit-tree", "--no-gpg-sign", tree, "-p", delivery.change.base, input=text)
    return made.decode().strip()


def _ref(user: TrustedGit, ref: str) -> str | None:
    done = user.call("rev-parse", "--verify", "--quiet", "--end-of-options", ref)
    return done.stdout.decode().strip() or None if done.returncode == 0 else None


def _objects(gate: TrustedGit, user: TrustedGit, commit: str, base: str) -> list[str]:
    """Ids of the objects that ``commit`` has beyond what the user has."""
    had = [base]
    if user.call("cat-file", "-e", f"{base}^{{commit}}").returncode:  # a snapshot of uncommitted work is ours alone
        had = gate.line("rev-parse", f"{base}^@").split()
    wanted = "".join([f"{commit}\n", *(f"^{c}\n" for c in had)]).encode()
    return gate.run("rev-list", "--objects", "--no-object-names", "--stdin", input=wanted).decode().split()


def _transfer(gate: TrustedGit, user: TrustedGit, objects: list[str]) -> None:
    """Write objects into the user's store."""
    pack = gate.run("pack-objects", "--stdout", "--quiet", input="".join(f"{oid}\n" for oid in objects).encode())
    done = user.call("unpack-objects", "-q", "--strict", input=pack)
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip()[-400:]
        raise DeliveryError(
            f"the result's objects could not be written: {words}",
            where=user.git_dir,
            do="check the permissions and the free space of the repository, then retry",
        )


def _owner(repo: Repository) -> tuple[int, int] | None:
    """Whom to write as: the repository's owner where root delivers into somebody else's, else ourselves (None)."""
    owner = os.stat(repo.common_dir)
    return None if os.geteuid() != 0 or owner.st_uid == 0 else (owner.st_uid, owner.st_gid)


def _reachable(user: TrustedGit) -> bool:
    """Whether the repository's owner has a way to it."""
    try:
        return user.call("rev-parse", "--git-dir").returncode == 0
    except OSError:  # git itself is out of the owner's reach
        return False


def _places(ref: str, objects: list[str]) -> list[str]:
    """Everything that is written below the git directory, directories before what they hold."""
    parts = ref.split("/")
    above = ["/".join([*top, *parts[:depth]]) for top in ([], ["logs"]) for depth in range(1, len(parts) + 1)]
    return [
        "objects",
        "logs",
        *above,
        *(f"objects/{o[:2]}" for o in objects),
        *(f"objects/{o[:2]}/{o[2:]}" for o in objects),
    ]


def _refuse_links(repo: Repository, ref: str, objects: list[str]) -> None:
    for place in _places(ref, objects):
        if os.path.islink(os.path.join(repo.common_dir, place)):
            raise DeliveryError(
                "root does not write through a link in somebody else's repository",
                where=os.path.join(repo.common_dir, place),
                do="run as the owner of the repository, or replace the link by a directory",
            )


def _give_back(repo: Repository, ref: str, objects: list[str], owner: tuple[int, int]) -> None:
    """What root wrote belongs to the repository's owner."""
    for place in _places(ref, objects):
        path = os.path.join(repo.common_dir, place)
        if os.path.lexists(path) and os.lstat(path).st_uid == 0:
            os.lchown(path, *owner)
