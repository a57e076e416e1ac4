"""Installing harness programs into Inspan's own prefix, ``<state>/harness/<name>/<version>``.

A version's directory appears whole, by one rename, or not at all; an interrupted installation leaves only a hidden
directory that the next one removes. Nothing of the vendor's runs on the host: the package has no scripts to run, and
the program's first start, which shows that it works here, happens in the sandbox.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from inspan.errors import HarnessError, InvalidSpec, SandboxError, StateError, UnknownName
from inspan.files import holding
from inspan.harness import npm
from inspan.harness.contract import Installed
from inspan.harness.locate import executable, shown
from inspan.harness.packages import PROGRAMS, Program, machine_for
from inspan.spec.nearest import suggestion
from inspan.spec.paths import State
from inspan.workspace.plan import Bind, MountPlan

Confine = Callable[[tuple[str, ...], tuple[Bind, ...]], tuple[int | None, bytes]]
"""``confine(argv, binds) -> (exit status, output)``: runs a program without network and with ``binds`` shown."""
FIRST_START_SECONDS = 60


def install(
    name: str,
    state: State,
    progress: Callable[[str], None],
    confine: Confine | None = None,
    *,
    version: str | None = None,
) -> Installed:
    """Install a harness program; when it is there already, say so and return it.

    Args:
        name: ``claude-code`` or ``codex``.
        progress: told in a short sentence what happens next.
        confine: how its first start is confined; the default sandbox when None.
        version: another version than the pinned one, whose digest Inspan then does not know.

    Raises:
        UnknownName: Inspan does not install a harness of that name.
        InvalidSpec: ``version`` is not one.
        HarnessError: no package for this machine, a failed download, a wrong digest, or a program that does not start.
        StateError: the state directory cannot be written.
    """
    program, machine = _known(name)
    wanted = program.version if version is None else _plain(version)
    final = state.harness / name / wanted
    try:
        state.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        final.parent.mkdir(parents=True, exist_ok=True)
        with holding(final.parent / ".lock"):  # a second installation waits and then finds the first one's result
            if executable(str(final / program.native(machine))):
                progress(f"{name} {wanted} is installed")
            else:
                _install(program, machine, wanted, final, state, progress, confine)
    except OSError as e:
        raise StateError(f"cannot install {name}: {e.strerror}", where=e.filename, do="make room or permission") from e
    file = str(final / program.native(machine))
    return Installed(argv=(file,), version=wanted, binds=shown([str(final)]), source="installed")


def _known(name: str) -> tuple[Program, str]:
    program = PROGRAMS.get(name)
    if program is None:
        what = "bare ships with Inspan" if name == "bare" else f"Inspan does not install a harness {name!r}"
        raise UnknownName(what, where="inspan harness install", do=suggestion(name, PROGRAMS))
    machine = machine_for(program)
    if machine is None:
        have = ", ".join(program.integrity)
        raise HarnessError(
            f"there is no {name} for this machine", where=f"packages for {have}", do="use another harness"
        )
    return program, machine


def _plain(version: str) -> str:
    """``version``, once it cannot be anything but one: it becomes a directory's name and a word of npm's."""
    if not re.fullmatch(r"\d+\.\d+\.\d+[0-9A-Za-z.-]*", version) or ".." in version:
        raise InvalidSpec(f"{version!r} is not a version", where="--version", do="write it like 1.2.3")
    return version


def _install(
    program: Program,
    machine: str,
    version: str,
    final: Path,
    state: State,
    progress: Callable[[str], None],
    confine: Confine | None,
) -> None:
    """Fetch into a hidden directory, try it out, make it visible."""
    part = final.with_name(f".{version}")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        package, package_version = program.npm(machine, version)
        integrity = program.integrity[machine] if version == program.version else None
        call = npm.found(state, progress)
        progress(f"fetching {package} {package_version}" + ("" if integrity else " (not pinned: digest unknown)"))
        npm.fetch(call, part, package, package_version, integrity)
        file = part / program.native(machine)
        if not executable(str(file)):
            raise HarnessError(f"{package} {package_version} holds no program", where=program.native(machine))
        _readable(part)
        progress(f"first start of {program.command} in the sandbox")
        progress(_first_start(str(file), str(part), version, confine or _sandboxed(state)))
        os.rename(part, final)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _first_start(file: str, directory: str, version: str, confine: Confine) -> str:
    """Run ``--version`` confined. Where there is no sandbox nothing is run, and the sentence returned says so."""
    try:
        status, output = confine((file, "--version"), shown([directory]))
    except SandboxError as e:
        return f"not started: {e.what}"
    said = output[:2000].decode("utf-8", "replace").strip()
    if status != 0 or version not in said:
        how = f"exit status {status}" if status is not None else f"no end within {FIRST_START_SECONDS} s"
        raise HarnessError(
            f"the program does not work here: {how}, {said[-300:] or 'no output'}",
            where=f"{os.path.basename(file)} --version in the sandbox",
            do="install another version with --version, or use another harness",
        )
    return f"works: {said.splitlines()[-1]}"


def _sandboxed(state: State) -> Confine:
    """What ``auto`` gives a job: an empty workspace and home, no network."""

    def confine(argv: tuple[str, ...], binds: tuple[Bind, ...]) -> tuple[int | None, bytes]:
        from inspan.sandbox.levels import AUTO, choose, owner
        from inspan.spec.levels import promises
        from inspan.workspace.passage import open_passage

        level = choose(AUTO, state_dir=str(state.root), rehearsal=False, allow_none=False)
        who, own_mounts = owner(level), promises(level).own_mounts
        scratch = tempfile.mkdtemp(prefix=".start-", dir=state.harness)
        workspace, home = os.path.join(scratch, "ws"), os.path.join(scratch, "home")
        try:
            for leaf in (workspace, home):
                os.mkdir(leaf, 0o700)
                os.chown(leaf, who.uid, who.gid)
            if not own_mounts:
                open_passage(state.root, Path(workspace), who)
            root = "/workspace" if own_mounts else workspace
            plan = MountPlan(kind="clone", root_inside=root, directory=workspace, home=home, uid=who.uid, gid=who.gid)
            return _run(level, argv, plan, binds)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    return confine


def _run(level: str, argv: tuple[str, ...], plan: MountPlan, binds: tuple[Bind, ...]) -> tuple[int | None, bytes]:
    """Start one confined program and wait for it."""
    from inspan.sandbox.contract import Confinement
    from inspan.sandbox.levels import driver
    from inspan.sandbox.tools import toolset
    from inspan.supervise.command import run_confined

    tools = toolset(os.defpath, checkout=None, home=plan.home, extra=binds)
    confinement = Confinement(plan=plan, argv=argv, env={"PATH": tools.path}, tools=tools.binds, ports=0)
    ran = run_confined(driver(level), confinement, timeout=FIRST_START_SECONDS)
    return ran.exit, ran.output


def _readable(directory: Path) -> None:
    """Let the sandbox's identity read and execute what npm unpacked, whatever the umask was."""
    for here, _, files in os.walk(directory):
        os.chmod(here, 0o755)  # noqa: S103
        for name in files:
            path = os.path.join(here, name)
            if not os.path.islink(path):
                os.chmod(path, 0o755 if os.stat(path).st_mode & 0o100 else 0o644)
