"""Whatever can be refused is refused before anything is stored; what is accepted is frozen."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest

from inspan.engine.context import Context
from inspan.engine.records import Resolved, dump, load
from inspan.engine.resolve import resolve
from inspan.engine.setup_key import key_of
from inspan.errors import (
    HarnessError,
    InspanError,
    InvalidSpec,
    ProviderError,
    RepositoryError,
    SandboxError,
    UnknownName,
)
from inspan.sandbox import levels
from inspan.sandbox.tools import Toolset
from inspan.spec.backends import BackendTable, EgressTable
from inspan.spec.config import Configuration
from inspan.spec.job import Job
from inspan.spec.paths import state

SCENARIO = "schema: inspan.rehearsal/1\nname: mine\nsteps:\n  - say: hello\n"


def a_job(checkout: Path, **fields: object) -> Job:
    values = {"prompt": "p", "repo": str(checkout), "backend": "bare@rehearsal/m", "rehearse": "write-file"} | fields
    return Job(**values)  # type: ignore[arg-type]


def environment(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **more}


def test_what_was_decided_survives_as_text(repository: Path) -> None:
    found = resolve(a_job(repository, sandbox="none"), Configuration(), state(), environment())
    assert found.backend == "bare@rehearsal/m" and len(found.base) == 40
    assert load(dump(found.resolved), Resolved) == found.resolved
    assert (found.resolved.level, found.resolved.workspace, found.resolved.rehearsal) == ("none", "clone", "write-file")


def test_a_rehearsal_stands_in_for_any_provider_without_its_credential(repository: Path) -> None:
    found = resolve(
        a_job(repository, backend="bare@anthropic/claude", sandbox="none"), Configuration(), state(), environment()
    )
    assert found.backend == "bare@rehearsal/claude" and found.resolved.provider == "rehearsal"
    assert found.resolved.upstream.kind == "rehearsal" and found.resolved.credential_env is None


def test_a_scenario_file_is_frozen(repository: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(SCENARIO)
    found = resolve(a_job(repository, rehearse=str(file), sandbox="none"), Configuration(), state(), environment())
    file.write_text("changed")
    assert found.resolved.upstream.scenario == SCENARIO and found.resolved.rehearsal == "mine"


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"backend": "bear@rehearsal/m"}, UnknownName, "bear"),
        ({"backend": "bare@antropic/m"}, UnknownName, "antropic"),
        ({"backend": None}, InvalidSpec, "no backend"),
        ({"rehearse": None}, InvalidSpec, "scenario"),
        ({"rehearse": "write-fil"}, UnknownName, "write-fil"),
        ({"rehearse": "/nowhere/x.yaml"}, InvalidSpec, "no such scenario file"),
        ({"rehearse": None, "backend": "bare@anthropic/m"}, ProviderError, "ANTHROPIC_API_KEY"),
        ({"base": "no-such-branch"}, RepositoryError, "no-such-branch"),
        ({"repo": "/"}, RepositoryError, "git repository"),
        ({"continue_from": "j00000000000"}, UnknownName, "j00000000000"),
        ({"sandbox": "none", "read_only": True}, SandboxError, "read-only"),
    ],
)
def test_refusals_say_what_to_do_and_leave_nothing(repository: Path, fields, error, words: str) -> None:
    with pytest.raises(error) as caught:
        resolve(a_job(repository, **fields), Configuration(), state(), environment())
    assert words in str(caught.value) and isinstance(caught.value, InspanError) and caught.value.do
    assert not state().database.exists() and not state().attempts.exists()


def test_a_missing_program_is_named(repository: Path) -> None:
    table = {"argv": ["no-such-agent"], "prompt": "stdin", "wire": "openai-chat", "output": "text"}
    from inspan.spec.tables import harnesses

    config = Configuration(harnesses=harnesses({"mine": table}, "test"))
    with pytest.raises(HarnessError) as caught:
        resolve(a_job(repository, backend="mine@rehearsal/m"), config, state(), environment())
    assert caught.value.reason == "harness_missing" and caught.value.do and "PATH" in caught.value.do
    assert "inspan harness install" not in str(caught.value)  # Inspan has nothing to install for a declared one
    assert not state().database.exists()


def test_a_repository_without_commits_is_refused(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "empty")], check=True)
    with pytest.raises(RepositoryError, match="no commits"):
        resolve(a_job(tmp_path / "empty"), Configuration(), state(), environment())


def test_the_stronger_minimum_of_user_and_backend_counts(repository: Path) -> None:
    demanding = {"bare@rehearsal/m": BackendTable(min_sandbox="sandbox")}
    for config in (Configuration(backends=demanding), Configuration(backends=demanding, min_sandbox="none")):
        with pytest.raises(SandboxError, match="minimum sandbox"):
            resolve(a_job(repository, sandbox="none"), config, state(), environment())
    # Control: it is this backend's demand, and it is frozen with the job for the probe inside.
    found = resolve(a_job(repository, backend="bare@rehearsal/other", sandbox="none"), config, state(), environment())
    assert (found.resolved.level, found.resolved.minimum) == ("none", "none")
    with pytest.raises(UnknownName, match="microvm"):
        resolve(a_job(repository), Configuration(min_sandbox="microvm"), state(), environment())


def test_grants_are_judged_and_frozen(repository: Path, tmp_path: Path) -> None:
    fit = tmp_path / "data"
    fit.mkdir(mode=0o777)
    fit.chmod(0o777)
    try:
        found = resolve(a_job(repository, writable=(str(fit),)), Configuration(), state(), environment())
    except SandboxError as unavailable:
        pytest.skip(f"NORUN: no level that confines: {unavailable.what}")
    assert [bind.source for bind in found.resolved.writable] == ([str(fit)] if found.resolved.level != "none" else [])
    for unfit in (state().root, repository, repository / ".git", Path(os.environ["HOME"])):
        with pytest.raises(InvalidSpec, match="cannot be made writable"):
            resolve(a_job(repository, writable=(str(unfit),)), Configuration(), state(), environment())


def test_none_is_never_chosen_below_a_minimum(repository: Path) -> None:
    config = Configuration(min_sandbox="sandbox", allow_none=True)
    with pytest.raises(SandboxError, match="minimum"):
        resolve(a_job(repository, sandbox="none"), config, state(), environment())


def granting(**more: object) -> Configuration:
    rows = {
        "bare@rehearsal/m": BackendTable(egress=("index.example:443",)),
        "bare@rehearsal/other": BackendTable(egress=("a.org:1",)),
    }
    return Configuration(backends=rows, **more)  # type: ignore[arg-type]


def test_egress_is_what_the_job_and_its_backend_are_granted(repository: Path) -> None:
    if not levels.probe("sandbox", str(repository)).available:
        pytest.skip("NORUN: level sandbox does not work here")
    private = EgressTable(private=("127.0.0.1:9", "127.0.0.1:8"))
    asked = a_job(repository, egress=("127.0.0.1:9", "index.example:443"), sandbox="sandbox")
    found = resolve(asked, granting(egress=private), state(), environment()).resolved
    assert (found.egress, found.private) == (("127.0.0.1:9", "index.example:443"), ("127.0.0.1:9",))
    none = resolve(a_job(repository, sandbox="sandbox", backend="bare@rehearsal/x"), granting(), state(), environment())
    assert (none.resolved.egress, none.resolved.private) == ((), ())
    tools, asks = Toolset(binds=(), path="/bin", names=()), cast("Context", SimpleNamespace(environ=environment()))
    keys = [key_of(asks, r, "b" * 40, ["make"], tools) for r in (found, none.resolved, none.resolved)]
    assert keys[0] != keys[1] == keys[2], "what one job may reach is not done for another that may not"


@pytest.mark.parametrize(
    ("name", "near"), [("bear@rehearsal/m", "bare"), ("bare@rehersal/m", "rehearsal"), ("bare@x y/m", "bad backend")]
)
def test_a_table_of_an_unknown_backend_is_refused(repository: Path, name: str, near: str) -> None:
    """What it demands or grants would silently hold for nobody."""
    config = Configuration(backends={name: BackendTable(min_sandbox="sandbox")})
    with pytest.raises(InspanError, match=near):
        resolve(a_job(repository, sandbox="none"), config, state(), environment())
    other = Configuration(backends={"codex@openai/other": BackendTable()}, harnesses={})
    resolve(a_job(repository, sandbox="none"), other, state(), environment())  # control


def test_egress_is_refused_where_it_cannot_be_held(repository: Path) -> None:
    with pytest.raises(SandboxError, match="granted destinations"):
        resolve(a_job(repository, egress=("a.org:1",), sandbox="none"), Configuration(), state(), environment())
    with pytest.raises(SandboxError, match="granted destinations"):
        resolve(a_job(repository, sandbox="none"), granting(), state(), environment())
    resolve(a_job(repository, sandbox="none"), Configuration(), state(), environment())  # control


def test_an_address_is_granted_only_by_the_users_configuration(repository: Path) -> None:
    asked = a_job(repository, egress=("127.0.0.1:9",))
    with pytest.raises(InvalidSpec, match="private of"):
        resolve(asked, Configuration(), state(), environment())


def test_settings_of_every_shipped_harness_are_deciders(repository: Path) -> None:
    found = resolve(a_job(repository, sandbox="none"), Configuration(), state(), environment())
    assert {"**/.claude/**", "**/.codex/**"} <= set(found.resolved.deciders)
    assert msgspec.to_builtins(found.resolved)["deciders"]


@pytest.mark.parametrize(
    ("share", "why"),
    [("src", "holds tracked files"), ("loose", "does not ignore"), ("absent", "no directory"), ("lib", "tracked")],
)
def test_only_ignored_directories_of_the_checkout_are_shared(repository: Path, share: str, why: str) -> None:
    """A shared directory lies over the workspace: tracked code in it would be judged as it stands in the checkout."""
    for name in ("src/a.py", "lib/b.py", "loose/c", "deps/d", "venv/e"):
        (repository / name).parent.mkdir()
        (repository / name).write_text("x\n")
    (repository / ".gitignore").write_text("deps/\n")
    (repository / "venv/.gitignore").write_text("*\n")  # as python -m venv does
    git = ["git", "-C", str(repository)]
    for args in (["add", "src", "lib"], ["commit", "-qm", "code"], ["rm", "-q", "--cached", "-r", "lib"]):
        subprocess.run([*git, *args], check=True)  # lib is in the base, though no longer in the index
    with pytest.raises(InvalidSpec, match=why):
        resolve(a_job(repository, share=(share,), sandbox="none"), Configuration(), state(), environment())
    fine = a_job(repository, share=("deps", "venv"), sandbox="none")
    assert resolve(fine, Configuration(), state(), environment()).job.share == ("deps", "venv")
