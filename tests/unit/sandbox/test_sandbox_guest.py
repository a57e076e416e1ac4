"""Level ``gvisor``: what is asked of ``runsc``, what is believed of its answers, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sandbox_jobs as jobs
from inspan.errors import SandboxError
from inspan.sandbox import guest, runsc
from inspan.sandbox.contract import Confinement
from inspan.spec.limits import Limits
from inspan.workspace.plan import Bind, MountPlan

NO_GUEST = """#!/bin/sh
# A runsc that boots nothing: whatever is to run in the guest runs on the host's kernel.
while :; do
    case "$1" in
    --version) echo "runsc version {version}"; exit 0 ;;
    flags) echo "  -platform string"; echo "        which platform to use: {platforms}"; exit 0 ;;
    exec) shift; [ "$1" = guest ] && shift; exec "$@" ;;
    run) exit {boots} ;;
    --*) shift ;;
    *) exit 0 ;;
    esac
done
"""


def program(place: Path, version: str = "1", platforms: str = "systrap (default), ptrace, kvm", boots: int = 0) -> Path:
    place.mkdir(exist_ok=True)
    made = place / "runsc"
    made.write_text(NO_GUEST.format(version=version, platforms=platforms, boots=boots))
    made.chmod(0o755)
    return made


@pytest.fixture
def confinement(tmp_path: Path) -> Confinement:
    made = MountPlan(
        kind="clone", root_inside="/code/project", directory=str(tmp_path), home=str(tmp_path), uid=1000, gid=1000
    )
    return Confinement(plan=made, argv=("prog", "x"), env={"A": "b"}, limits=Limits(file_size=7, open_files=9))


def test_the_first_runsc_on_the_path_is_taken_and_no_relative_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, second = program(tmp_path / "a"), program(tmp_path / "b")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"b:{first.parent}:{second.parent}")
    assert runsc.find() == str(first)
    monkeypatch.setenv("PATH", "b")
    monkeypatch.setattr(runsc, "_SYSTEM", ())
    with pytest.raises(SandboxError, match="no runsc") as caught:
        runsc.find()
    assert caught.value.reason == "sandbox_unavailable" and "apt" in (caught.value.do or "")


@pytest.mark.parametrize(
    ("platforms", "taken"),
    [("systrap (default), ptrace, kvm", ("systrap", "ptrace")), ("ptrace (default), kvm", ("ptrace",)),
     ("something else", ("systrap", "ptrace"))],
)  # fmt: skip
def test_platforms_are_those_it_names_the_better_first(tmp_path: Path, platforms: str, taken: tuple[str, ...]) -> None:
    assert runsc.about(str(program(tmp_path / "a", "0.0~7", platforms))) == ("0.0~7", taken)


def test_a_program_that_is_no_runsc_is_refused() -> None:
    with pytest.raises(SandboxError, match="does not say what it is"):
        runsc.about("/bin/true")


def test_the_bundle_grants_nothing_but_the_plan(confinement: Confinement, tmp_path: Path) -> None:
    bundle: dict[str, Any] = runsc.bundle(confinement)
    shared = {one["destination"]: one["source"] for one in bundle["mounts"] if one["type"] == "bind"}
    assert shared == {name: f"/guest{name}" for name in ("/home/agent", "/code/project")}
    for process in (bundle["process"], runsc.process(confinement)):
        assert process["capabilities"] == {} and process["noNewPrivileges"] is True
        bounds = {one["type"]: (one["soft"], one["hard"]) for one in process["rlimits"]}
        assert bounds == {"RLIMIT_CORE": (0, 0), "RLIMIT_FSIZE": (7, 7), "RLIMIT_NOFILE": (9, 9)}
    job = runsc.process(confinement)
    assert job["args"] == ["prog", "x"] and job["cwd"] == "/code/project" and "A=b" in job["env"]
    binds = (Bind(source=str(tmp_path), target="/g", writable=True), Bind(source=str(tmp_path), target="/r"))
    plan = msgspec.structs.replace(confinement.plan, read_only=True, binds=binds)
    fixed = runsc.bundle(msgspec.structs.replace(confinement, plan=plan))
    assert [one["destination"] for one in fixed["mounts"] if one["type"] == "bind"] == ["/g", "/home/agent"]
    # What lies below a place in the guest's memory would be covered by it.
    tools = (Bind(source=str(tmp_path), target="/tmp/tool"), Bind(source="/no/such", target="/tmp/none", optional=True))
    below = runsc.bundle(msgspec.structs.replace(confinement, tools=tools))
    assert "/tmp/tool" in [one["destination"] for one in below["mounts"] if one["type"] == "bind"]
    places = [one["destination"] for one in below["mounts"]]
    assert places.index("/tmp") < places.index("/tmp/tool") and "/tmp/none" not in places


def test_nothing_of_the_job_stands_on_a_command_line(confinement: Confinement) -> None:
    secret = msgspec.structs.replace(confinement, env={"TOKEN": "s3cret"})
    between = runsc.between(secret, "/usr/bin/runsc", "ptrace", 7, 8)
    assert "s3cret" not in " ".join([*between.argv, *between.arguments])
    assert "s3cret" in between.files["guest/process.json"]
    # What runsc keeps is nowhere in the tree the guest is given.
    assert not [target for target in between.shown.values() if target.startswith(between.root)]


def test_the_guests_word_for_its_kernel_is_held_against_the_hosts() -> None:
    own = Path("/proc/version").read_text().strip()
    assert guest._seen("Linux version 4.4.0\n") == {"guest_kernel": "Linux version 4.4.0", "host_kernel": own}
    assert guest._seen("Linux version 4.4.0\nls\n")["fails"] == ["ls"]
    for said in ("", "no such file\n", f"{own}\n"):
        with pytest.raises(SandboxError, match="not a guest"):
            guest._seen(said)


def test_who_was_left_is_read_from_the_guests_table() -> None:
    table = (
        "UID       PID       PPID      C         TTY       STIME     TIME      CMD\n"
        "0         1         0         3         ?         17:29     10ms      sleep\n"
        "0         4         1         10        ?         17:29     10ms      sleep\n"
        "0         5         1         10        ?         17:29     10ms      a name\n"
    )
    assert guest._left(table.encode()) == ("a name", "sleep")
    assert guest._left(b"") == guest._left(b"\xff no table\n") == ()


def test_the_next_platform_is_tried_and_the_last_failure_told(
    monkeypatch: pytest.MonkeyPatch, confinement: Confinement, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(program(tmp_path / "a", "two").parent))
    tried: list[str] = []

    def fails(confinement: Confinement, streams: object, path: str, platform: str) -> Any:
        tried.append(platform)
        assert confinement.limits.processes is None or confinement.limits.processes > guest.OWN_THREADS
        raise SandboxError(f"no {platform}")

    monkeypatch.setattr(guest, "_start", fails)
    with pytest.raises(SandboxError, match="no ptrace"):
        guest.GuestDriver().start(confinement, stdin=0, stdout=1, stderr=2)
    assert tried == ["systrap", "ptrace"]


@pytest.mark.parametrize(("boots", "words"), [(0, "not a guest: Linux version"), (1, "did not start")])
def test_a_runsc_that_boots_nothing_is_refused_before_the_program_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, boots: int, words: str
) -> None:
    jobs.require("sandbox")
    monkeypatch.setenv("PATH", f"{program(tmp_path / 'a', f'fake {boots}', boots=boots).parent}:{os.environ['PATH']}")
    plan = jobs.plan(tmp_path, "gvisor", kind="clone")
    with pytest.raises(SandboxError, match=words), jobs.started("gvisor", plan, ("sh", "-c", "echo ran > ran")):
        pass
    assert not Path(plan.directory, "ran").exists()
