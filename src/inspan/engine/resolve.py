"""Everything that can be refused is refused here, before anything is stored or started."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec

from inspan.engine.places import home_of, owner_at
from inspan.engine.records import Resolved
from inspan.errors import HarnessError, InvalidSpec, RepositoryError, SandboxError
from inspan.gateway.contract import Upstream
from inspan.harness.contract import Harness
from inspan.harness.packages import PROGRAMS
from inspan.harness.registry import SHIPPED, harness, refuse_reason, refuse_unknown_backends
from inspan.provider.registry import REHEARSAL, Provider, common_wire, credential, provider
from inspan.routing.backend import Backend, parse_backend
from inspan.sandbox.grants import grants
from inspan.sandbox.levels import choose
from inspan.spec.config import Configuration
from inspan.spec.egress import require_names
from inspan.spec.job import LEVELS, Job
from inspan.spec.levels import DEFAULT, promises
from inspan.spec.paths import State, user_config
from inspan.store.database import make_private_directory
from inspan.store.read import find_job, get_outcome, list_jobs
from inspan.workspace.build import overlay_possible
from inspan.workspace.gate_repository import holds
from inspan.workspace.plan import Bind
from inspan.workspace.repository import Repository, open_repository, resolve_base
from inspan.workspace.shares import refuse_unfit_shares

DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


class Submission(NamedTuple):
    """A job that can be run."""

    job: Job
    base: str
    backend: str
    resolved: Resolved
    retry_of: str | None


def resolve(job: Job, config: Configuration, state: State, environ: Mapping[str, str]) -> Submission:
    """Decide who works on ``job``, where and how.

    Args:
        job: validated.
        config: the effective configuration of the job's checkout.
        state: the state directory.
        environ: the environment of the command that asks.

    Raises:
        RepositoryError, UnknownName, InvalidSpec: the request cannot be understood.
        HarnessError: (``harness_missing``) the program is not here, or (``auth``) it needs a login of its own.
        ProviderError: no credential, or no common wire.
        SandboxError: the asked confinement cannot be had.
        StateError: the state cannot be read, or is of a newer version.
    """
    repository = open_repository(job.repo)
    base = _base(job, state, repository)
    refuse_unknown_backends(config)
    asked = parse_backend(_backend_text(job, config))
    worker = harness(asked.harness, config.harnesses)
    endpoint = provider(asked.provider, config)
    upstream = _upstream(job, asked, worker, endpoint, environ)
    path = environ.get("PATH") or DEFAULT_PATH
    installed = worker.locate(path, str(state.harness))
    if installed is None:
        raise _missing(worker, path, state)
    earlier = _earlier(job, state, repository)
    refuse_unfit_shares(state, repository, earlier[0] if earlier else base, job.share)
    list_jobs(state, limit=1)  # a state that cannot be read, or a newer one, is refused before anything is written
    make_private_directory(state.root)  # levels are probed in it
    rehearsal = upstream.kind == "rehearsal"
    minimum = _minimum(config, asked)
    level = choose(
        job.sandbox,
        state_dir=str(state.root),
        rehearsal=rehearsal,
        allow_none=config.allow_none,
        minimum=minimum,
    )
    if job.read_only and not promises(level).read_only:
        raise SandboxError(
            f"Level {level} cannot keep a read-only job from writing.", where="sandbox", do="Use --sandbox sandbox."
        )
    egress = _egress(job, config, asked, level)
    resolved = Resolved(
        harness=asked.harness,
        provider=upstream.provider,
        model=asked.model,
        upstream=upstream,
        level=level,
        path=path,
        workspace=_workspace(level, state),
        repository=repository,
        harness_config=config.harnesses.get(asked.harness),
        harness_version=installed.version,
        deciders=_deciders(worker),
        credential_env=None if rehearsal else endpoint.credential_env,
        limits=config.limits,
        pass_env=config.pass_env,
        setup_inputs=config.setup_inputs if job.setup == config.setup else (),
        writable=_writable(job, state, repository, level, environ),
        minimum=minimum,
        egress=egress,
        private=tuple(text for text in config.egress.private if text in egress),
        rehearsal=_scenario(job.rehearse)[1] if job.rehearse is not None else None,
        continue_result=earlier[1] if earlier else None,
        config_digest=config.repository_digest,
    )
    final = msgspec.structs.replace(asked, provider=upstream.provider)
    return Submission(job, earlier[0] if earlier else base, str(final), resolved, job.continue_from)


def _base(job: Job, state: State, repository: Repository) -> str:
    """The commit a job starts from: one of the checkout's, or one the gate made of it (a snapshot, a result)."""
    try:
        return resolve_base(repository, job.base)
    except RepositoryError:
        if job.base is not None and holds(state, repository, job.base):
            return job.base
        raise


def _backend_text(job: Job, config: Configuration) -> str:
    text = job.backend or config.default_backend
    if text is None:
        raise InvalidSpec(
            "The job names no backend and none is configured.",
            where="--backend, the key backend of the user's configuration, INSPAN_BACKEND",
            do="Give --backend harness@provider/model, like claude-code@anthropic/MODEL.",
        )
    return text


def _upstream(job: Job, asked: Backend, worker: Harness, endpoint: Provider, environ: Mapping[str, str]) -> Upstream:
    wire = common_wire(endpoint, worker.wires, asked.harness)
    if job.rehearse is not None:
        scenario, _ = _scenario(job.rehearse)
        return Upstream(kind="rehearsal", provider=REHEARSAL, model=asked.model, wire=wire, scenario=scenario)
    if endpoint.name == REHEARSAL:
        raise InvalidSpec(
            "The rehearsal provider needs a scenario.",
            where=str(asked),
            do="Add --rehearse SCENARIO, like --rehearse write-file.",
        )
    refusal = refuse_reason(worker, endpoint.name, endpoint.wires)
    if refusal is not None:
        raise HarnessError(refusal, where=str(asked), do="Choose another backend.", reason="auth")
    credential(endpoint, environ)
    return Upstream(
        kind="http",
        provider=endpoint.name,
        model=asked.model,
        wire=wire,
        base_url=endpoint.wires[wire],
        credential_header=endpoint.header,
    )


def _minimum(config: Configuration, asked: Backend) -> str | None:
    """The stronger one of what the user demands of every job and of this backend's."""
    table = config.backends.get(str(asked))
    demanded = [name for name in (config.min_sandbox, table.min_sandbox if table else None) if name is not None]
    return max(demanded, key=LEVELS.index, default=None)


def _writable(
    job: Job, state: State, repository: Repository, level: str, environ: Mapping[str, str]
) -> tuple[Bind, ...]:
    """The user's grants, where the level confines anything; where it does not there is nothing to grant."""
    if not promises(level).confined:
        return ()
    places = (state.root, repository.toplevel, repository.git_dir, repository.common_dir, user_config())
    return grants(
        job.writable,
        home=home_of(environ),
        forbidden=[str(place) for place in places],
        owner=owner_at(level),
        own_mounts=promises(level).own_mounts,
    )


def _egress(job: Job, config: Configuration, asked: Backend, level: str) -> tuple[str, ...]:
    """Destinations granted by the job and to its backend; refused where the level cannot keep the job to them."""
    table = config.backends.get(str(asked))
    granted = tuple(dict.fromkeys((*job.egress, *(table.egress if table else ()))))
    require_names(granted, config.egress.private, f'--egress, [backends."{asked}"]')
    if granted and not promises(level).only_gateway:
        raise SandboxError(
            f"Level {level} has the host's network and cannot keep a job to granted destinations.",
            where="egress",
            do=f"Use --sandbox {DEFAULT}, or grant no egress.",
        )
    return granted


def _scenario(text: str) -> tuple[str, str]:
    """The scenario to be played, frozen now, and its name."""
    from inspan.gateway.rehearsal.scenario import SCENARIOS, load_scenario

    name = load_scenario(text).name
    if text in SCENARIOS or not os.path.isfile(text):
        return text, name
    with open(text, encoding="utf-8") as file:
        return file.read(), name


def _missing(worker: Harness, path: str, state: State) -> HarnessError:
    what = f"The program of harness {worker.name!r} is not installed."
    if worker.name not in PROGRAMS:
        do = "Put the program on PATH; for a declared harness, argv names it."
        return HarnessError(what, where=f"PATH={path}", do=do, reason="harness_missing")
    return HarnessError(
        what,
        where=f"{state.harness / worker.name}, PATH={path}",
        do=f"Run inspan harness install {worker.name}, or put the program on PATH.",
        reason="harness_missing",
    )


def _earlier(job: Job, state: State, repository: Repository) -> tuple[str, str] | None:
    """Base and result of the job to continue."""
    if job.continue_from is None:
        return None
    row = find_job(state, job.continue_from)
    outcome = get_outcome(state, row.id)
    if outcome is None:
        raise InvalidSpec(f"Job {row.id} has not ended.", where="continue_from", do="Wait for it, or cancel it first.")
    if os.path.realpath(row.repo) != repository.toplevel:
        raise InvalidSpec(f"Job {row.id} worked on {row.repo}.", where="continue_from", do="Name that repository.")
    if outcome.change is None or outcome.change.result is None:
        raise InvalidSpec(
            f"Job {row.id} left no change to continue from.", where="continue_from", do="Retry it without --continue."
        )
    return outcome.change.base, outcome.change.result


def _deciders(worker: Harness) -> tuple[str, ...]:
    """Settings files the worker obeys, and those of every shipped harness: the next job may use another one."""
    shipped = (pattern for name in SHIPPED for pattern in harness(name).deciders)
    return tuple(dict.fromkeys((*worker.deciders, *shipped)))


def _workspace(level: str, state: State) -> Literal["overlay", "clone"]:
    return "overlay" if promises(level).own_mounts and overlay_possible(state) else "clone"
