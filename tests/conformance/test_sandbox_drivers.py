"""One suite for every driver. What a level cannot do is declared in ``EXCEPTIONS``, with the reason, and shown."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
import urllib.request
from pathlib import Path

import msgspec
import pytest

import sandbox_jobs as jobs
from inspan.errors import HarnessError, SandboxError
from inspan.sandbox import census
from inspan.sandbox.contract import Limits
from inspan.sandbox.levels import home_inside, workspace_inside
from inspan.spec.levels import PROMISES, promises
from inspan.workspace.plan import Bind, MountPlan

# The ordinary run has one kind of workspace a level, and none of the levels that only other hosts need.
PAIRS = [
    pytest.param(("none", "clone"), id="none-clone"),
    pytest.param(("landlock", "clone"), id="landlock-clone", marks=pytest.mark.long),
    pytest.param(("sandbox", "overlay"), id="sandbox-overlay"),
    pytest.param(("sandbox", "clone"), id="sandbox-clone", marks=pytest.mark.long),
    pytest.param(("gvisor", "overlay"), id="gvisor-overlay", marks=pytest.mark.long),
    pytest.param(("gvisor", "clone"), id="gvisor-clone", marks=pytest.mark.long),
]

EXCEPTIONS = {
    ("none", "read_only"): "nothing stops a plain process from writing",
    ("none", "network"): "there is no network namespace",
    ("gvisor", "signals shown"): "the guest's /proc does not say which signals are ignored or blocked: they are sent",
    ("none", "files"): "nothing of the host is hidden or held",
}


@pytest.fixture(params=PAIRS)
def pair(request: pytest.FixtureRequest) -> tuple[str, str]:
    level, kind = request.param
    jobs.require(level)
    return level, kind


@pytest.fixture
def level(pair: tuple[str, str]) -> str:
    return pair[0]


@pytest.fixture
def kind(pair: tuple[str, str]) -> str:
    return pair[1]


@pytest.fixture
def plan(pair: tuple[str, str], tmp_path: Path) -> MountPlan:
    level, kind = pair
    return jobs.plan(tmp_path, level, kind=kind)


def test_every_pair_of_level_and_workspace_is_tried() -> None:
    possible = {
        (level, kind) for level in PROMISES for kind in ("clone", "overlay")
        if kind == "clone" or promises(level).own_mounts
    }  # fmt: skip
    print(f"{len(possible)} pairs, {len(EXCEPTIONS)} exceptions: {EXCEPTIONS}")
    assert {pair.values[0] for pair in PAIRS} == possible


def written(plan: MountPlan, name: str) -> Path:
    """Where a file written in the workspace is found on the host."""
    return Path(plan.directory if plan.kind == "clone" else plan.upper or "") / name


def test_the_workspace_is_there_and_what_is_written_comes_back(level: str, plan: MountPlan) -> None:
    ended = jobs.run(level, plan, "cat a.txt; echo new > b.txt; pwd; echo home > ~/h")
    assert ended.status == 0, ended.err
    inside = workspace_inside(level, plan)
    assert ended.out == f"base\n{inside}\n"
    assert written(plan, "b.txt").read_text() == "new\n"
    assert (Path(plan.home) / "h").read_text() == "home\n"


def test_nothing_runs_before_release(level: str, plan: MountPlan) -> None:
    with jobs.started(level, plan, ("sh", "-c", "echo ran > ran")) as (tree, _, _):
        time.sleep(0.2)
        assert not written(plan, "ran").exists()
        assert tree.wait(0) is None
        tree.release()
        assert tree.wait(30) == 0
    assert written(plan, "ran").exists()


def test_closing_a_held_tree_runs_nothing(level: str, plan: MountPlan) -> None:
    with jobs.started(level, plan, ("sh", "-c", "echo ran > ran")) as (tree, _, _):
        pass
    assert not written(plan, "ran").exists()
    assert tree.survivors() == []


@pytest.mark.parametrize("status", [0, 1, 3, 127])
def test_the_exit_status_is_the_programs(level: str, plan: MountPlan, status: int) -> None:
    ended = jobs.run(level, plan, f"exit {status}")
    assert ended.status == status
    assert ended.tree.executed


def test_the_environment_is_what_was_given(level: str, plan: MountPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_CALLER", "s3cret")
    ended = jobs.run(
        level, plan, "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c given", env={"MINE": "given"}
    )
    assert "MINE=given" in ended.out.splitlines()
    own = [line for line in ended.out.splitlines() if line.startswith(("HOME=", "SECRET"))]
    assert own == [f"HOME={home_inside(level, plan)}"]


def test_no_signal_is_ignored_or_blocked_and_new_files_can_be_read(level: str, plan: MountPlan) -> None:
    ignored, umask = signal.signal(signal.SIGHUP, signal.SIG_IGN), os.umask(0o077)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    try:
        ended = jobs.run(level, plan, "cat", "/proc/self/status")
        jobs.run(level, plan, "touch made")
    finally:
        signal.signal(signal.SIGHUP, ignored)
        os.umask(umask)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    fields = dict(line.split(":\t", 1) for line in ended.out.splitlines() if ":\t" in line)
    if (level, "signals shown") in EXCEPTIONS:
        fields = {"SigIgn": "0", "SigBlk": "0", "Umask": jobs.run(level, plan, "umask").out.strip()}
        assert [jobs.run(level, plan, f"kill -{name} $$; echo not ended").status for name in ("HUP", "USR1")] == [
            129,
            138,
        ]
    assert (int(fields["SigIgn"], 16), int(fields["SigBlk"], 16)) == (0, 0)
    assert fields["Umask"] == "0022"
    assert written(plan, "made").stat().st_mode & 0o777 == 0o644


def test_a_program_that_is_not_there_is_refused_at_the_start(level: str, plan: MountPlan) -> None:
    with pytest.raises(HarnessError) as caught, jobs.started(level, plan, ("no-such-program-here",)):
        pass
    assert caught.value.reason == "spawn_failed"


def test_a_file_that_cannot_be_executed_is_told_apart_from_a_program_that_failed(level: str, plan: MountPlan) -> None:
    made = Path(plan.directory if plan.kind == "clone" else plan.lowers[0]) / "broken"
    made.write_text("#!/no/such/interpreter\n")
    made.chmod(0o755)
    with jobs.started(level, plan, ("./broken",)) as (tree, _, _):
        tree.release()
        assert tree.wait(30) != 0
        assert tree.executed is False


def test_the_gateway_is_reached_from_inside(level: str, plan: MountPlan) -> None:
    python, tools = jobs.python_inside()
    client = "import sys,urllib.request as u; print(u.urlopen(sys.argv[1], timeout=20).read().decode())"
    with jobs.started(level, plan, (python, "-I", "-c", client, "URL"), tools=tools) as (tree, _, _):
        base_url = tree.base_url
    with jobs.started(
        level, plan, ("sh", "-c", 'exec "$0" -I -c "$1" "$(cat ~/url)"', python, client), tools=tools
    ) as (
        tree,
        out,
        err,
    ):
        (Path(plan.home) / "url").write_text(tree.base_url)
        os.chmod(Path(plan.home) / "url", 0o644)
        listener = tree.listeners[0]
        assert listener.getsockname()[0] == "127.0.0.1"
        tree.release()
        listener.settimeout(30)
        connection, _ = listener.accept()
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        connection.close()
        assert tree.wait(30) == 0, err.read_text()
        assert out.read_text() == "hello\n"
    assert base_url.startswith("http://127.0.0.1:")
    # Control: from outside, the same address is not the sandbox's listener.
    if promises(level).own_network:
        with pytest.raises(OSError), urllib.request.urlopen(tree.base_url, timeout=2):
            pass


def test_the_hosts_network_is_not_there(level: str, plan: MountPlan) -> None:
    python, tools = jobs.python_inside()
    client = "import socket,sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 10)"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        free = subprocess.run([sys.executable, "-I", "-c", client, port], capture_output=True, check=False)
        assert free.returncode == 0, free.stderr  # control: outside, the same program reaches it
        refused = jobs.run(level, plan, python, "-I", "-c", client, port, tools=tools)
    assert (refused.status == 0) is ((level, "network") in EXCEPTIONS)


def test_kill_ends_fifty_daemonised_processes_that_ignore_signals(level: str, plan: MountPlan) -> None:
    marker = f"daemon-{os.getpid()}-{time.monotonic_ns()}"
    python, tools = jobs.python_inside()
    program = textwrap.dedent(
        """
        import os, signal, sys, time
        for n in range(50):
            if os.fork() == 0:
                os.setsid()
                if os.fork():
                    os._exit(0)
                os.setsid() if os.getpid() != os.getsid(0) else None
                for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                    signal.signal(s, signal.SIG_IGN)
                os.closerange(0, 256)
                time.sleep(1000)
            os.wait()  # the one between: gone, so that whoever counts does not count it in passing
        print("up", flush=True)
        time.sleep(1000)
        """
    )
    with jobs.started(level, plan, (python, "-I", "-c", program, marker), tools=tools) as (tree, _, err):
        alive = jobs.watcher(level, tree.pid, marker)
        tree.release()
        until = time.monotonic() + 60
        while len(alive()) < 51 and time.monotonic() < until:
            time.sleep(0.05)
        assert len(alive()) >= 51, err.read_text()
        tree.kill()
        assert tree.wait(60) is not None
        # No patience here: dead means dead when wait returns.
        assert alive() == []
        assert tree.survivors() == []


def test_what_outlives_the_program_is_ended_with_it_and_named(level: str, plan: MountPlan) -> None:
    ended = jobs.run(
        level, plan, "(trap '' TERM HUP; setsid sleep 4321 <&- >&- 2>&- & ) ; sleep 0.2; echo done; exit 5"
    )
    assert ended.status == 5
    assert ended.tree.orphans == ("sleep",)
    assert jobs.alive_with("sleep\x004321") == []


def test_interrupt_reaches_the_program(level: str, plan: MountPlan) -> None:
    with jobs.started(
        level, plan, ("sh", "-c", "trap 'echo asked; exit 9' TERM; echo up; while :; do sleep 0.05; done")
    ) as (
        tree,
        out,
        _,
    ):
        tree.release()
        while "up" not in out.read_text():
            time.sleep(0.02)
        tree.interrupt()
        assert tree.wait(30) == 9
        assert "asked" in out.read_text()


@pytest.mark.parametrize("state", ["held", "running"])
def test_the_callers_death_is_the_trees_death(
    level: str, kind: str, tmp_path: Path, state: str, request: pytest.FixtureRequest
) -> None:
    marker = f"orphan-{os.getpid()}-{time.monotonic_ns()}"
    program = textwrap.dedent(
        f"""
        import sys, pathlib, time
        sys.path.insert(0, {str(Path(jobs.__file__).parent)!r})
        import sandbox_jobs as jobs
        base = pathlib.Path({str(tmp_path)!r})
        made = jobs.plan(base, {level!r}, kind={kind!r})
        script = "echo ran > ran; for i in 1 2 3; do (setsid sh -c 'trap : TERM HUP; while :; do sleep 1; done' {marker} &) ; done; sleep 1000"
        with jobs.started({level!r}, made, ("sh", "-c", script, {marker!r})) as (tree, out, err):
            print(tree.pid, flush=True)
            sys.stdin.readline()
            if {state!r} == "running":
                tree.release()
            time.sleep(1000)
        """
    )
    jobs.homes(tmp_path, level)
    caller = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    request.addfinalizer(caller.kill)
    assert caller.stdin is not None and caller.stdout is not None
    outermost = int(caller.stdout.readline())
    daemons = jobs.watcher(level, outermost, f"done\0{marker}")
    caller.stdin.write(b"\n")
    caller.stdin.flush()
    until = time.monotonic() + 60
    while state == "running" and len(daemons()) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    assert (len(daemons()) >= 3) is (state == "running")
    assert lives(outermost)
    caller.send_signal(signal.SIGKILL)
    caller.wait()
    caller.stdin.close()
    caller.stdout.close()
    assert jobs.none_left(daemons)
    assert jobs.gone(marker)
    until = time.monotonic() + 20
    while lives(outermost) and time.monotonic() < until:
        time.sleep(0.02)
    assert not lives(outermost)
    ran = list(jobs.homes(tmp_path, level).rglob(f"job{caller.pid}-*/**/ran"))
    assert bool(ran) is (state == "running")


def lives(pid: int) -> bool:
    found = census.processes().get(pid)
    return found is not None and not found.zombie


LIMIT_SCRIPTS = {
    "memory": (
        "import time\nx = []\nfor i in range(400):\n x.append(b'x' * (1 << 20)); time.sleep(.005)\n",
        Limits(memory=128 << 20),
    ),
    "processes": (
        "import os, time\nfor i in range(200):\n  try:\n    if os.fork() == 0: time.sleep(1000)\n  except OSError: pass\ntime.sleep(1000)\n",
        Limits(processes=40),
    ),
    "workspace_bytes": (
        "import time\nf = open('big', 'wb')\nfor i in range(64): f.write(b'x' * (1 << 20)); f.flush()\ntime.sleep(1000)\n",
        Limits(workspace_bytes=8 << 20),
    ),
    "workspace_files": (
        "import time\nfor i in range(3000): open(f'f{i}', 'w').close()\ntime.sleep(1000)\n",
        Limits(workspace_files=1000),
    ),
}


@pytest.mark.parametrize("limit", LIMIT_SCRIPTS)
def test_a_limit_ends_the_tree_and_is_named(level: str, plan: MountPlan, limit: str) -> None:
    program, limits = LIMIT_SCRIPTS[limit]
    python, tools = jobs.python_inside()
    ended = jobs.run(level, plan, python, "-I", "-c", program, tools=tools, limits=limits, timeout=120)
    assert ended.tree.exceeded == limit, (ended.status, ended.err)
    assert ended.tree.held[limit]
    assert ended.tree.survivors() == []


def test_what_is_shown_writable_is_within_the_limits_too(level: str, plan: MountPlan) -> None:
    desk = Path(plan.home).parent / "desk"
    desk.mkdir()
    jobs.give(desk, level)
    target = "/run/desk" if promises(level).own_mounts else str(desk)
    plan = msgspec.structs.replace(plan, binds=(*plan.binds, Bind(source=str(desk), target=target, writable=True)))
    fill = f"i=0; while [ $i -lt 250 ] && head -c 4194304 /dev/zero > {target}/f$i; do i=$((i+1)); done; sleep 200"
    ended = jobs.run(level, plan, fill, limits=Limits(workspace_bytes=16 << 20))
    assert ended.tree.exceeded == "workspace_bytes", (ended.status, ended.err)
    roomy = jobs.run(level, plan, f"head -c 1048576 /dev/zero > {target}/one", limits=Limits(workspace_bytes=16 << 20))
    assert (roomy.status, roomy.tree.exceeded) == (0, None), roomy.err  # the control


def test_within_the_limits_nothing_is_ended(level: str, plan: MountPlan) -> None:
    """Negative control of the limits: the same work under roomy ones."""
    python, tools = jobs.python_inside()
    program = "x = [b'x' * (1 << 20) for i in range(64)]\nfor i in range(100): open(f'f{i}', 'w').close()\n"
    ended = jobs.run(level, plan, python, "-I", "-c", program, tools=tools)
    assert (ended.status, ended.tree.exceeded) == (0, None), ended.err


def test_a_file_cannot_outgrow_its_limit(level: str, plan: MountPlan) -> None:
    ended = jobs.run(level, plan, "head -c 20000000 /dev/zero > big; echo $?", limits=Limits(file_size=1 << 20))
    assert ended.out.strip() != "0"
    assert written(plan, "big").stat().st_size <= 1 << 20


def test_teardown_leaves_nothing(level: str, kind: str, tmp_path: Path) -> None:
    def state() -> tuple[int, str, set[str]]:
        depths = ("*", "*/*", "*/*/*", "*/*/*/*")
        groups = {
            str(place) for depth in depths for place in Path("/sys/fs/cgroup").glob(f"{depth}/inspan-*-{os.getpid()}-*")
        }
        return len(os.listdir("/proc/self/fd")), Path("/proc/self/mounts").read_text(), groups

    jobs.run(level, jobs.plan(tmp_path, level, kind=kind), "true")
    before = state()
    for _ in range(3):
        jobs.run(level, jobs.plan(tmp_path, level, kind=kind), "sleep 100 & exit 0")
        with jobs.started(level, jobs.plan(tmp_path, level, kind=kind), ("sleep", "100")):
            pass
        with (
            pytest.raises(HarnessError),
            jobs.started(level, jobs.plan(tmp_path, level, kind=kind), ("no-such-program",)),
        ):
            pass
    after = state()
    assert after[0] == before[0]
    assert after[1] == before[1]
    assert after[2] - before[2] == set()


def test_kill_and_close_may_be_repeated(level: str, plan: MountPlan) -> None:
    with jobs.started(level, plan, ("sleep", "100")) as (tree, _, _):
        tree.release()
        tree.kill()
        tree.kill()
        assert tree.wait(30) is not None
        assert tree.wait(30) == tree.wait(0)
        tree.close()
        tree.close()
        tree.kill()


def test_wait_gives_up_after_its_timeout(level: str, plan: MountPlan) -> None:
    with jobs.started(level, plan, ("sleep", "100")) as (tree, _, _):
        tree.release()
        assert tree.wait(0.1) is None


def test_a_read_only_job_cannot_write(level: str, plan: MountPlan) -> None:
    fixed = msgspec.structs.replace(plan, read_only=True)
    if (level, "read_only") in EXCEPTIONS:
        with pytest.raises(SandboxError), jobs.started(level, fixed, ("true",)):
            pass
        return
    ended = jobs.run(level, fixed, "cat a.txt; echo x > b.txt; echo x > a.txt; touch ~/may")
    assert ended.out == "base\n"
    assert "Read-only" in ended.err or "Permission denied" in ended.err
    assert not written(plan, "b.txt").exists()
    assert jobs.run(level, plan, "echo x > b.txt").status == 0  # control: the same plan, writable


def test_a_granted_directory_is_written_and_its_neighbour_is_not(level: str, plan: MountPlan, tmp_path: Path) -> None:
    place = jobs.homes(tmp_path, level) / f"granted-{os.getpid()}-{level}-{plan.kind}"
    for name in ("data", "beside"):
        (place / name).mkdir(parents=True)
    jobs.give(place, level)
    data = str(place / "data")
    made = msgspec.structs.replace(plan, binds=(*plan.binds, Bind(source=data, target=data, writable=True)))
    ended = jobs.run(level, made, f"echo kept > {data}/kept; echo x > {place}/beside/x")
    assert (place / "data/kept").read_text() == "kept\n"
    assert (place / "beside/x").exists() is ((level, "files") in EXCEPTIONS), ended.err


def test_two_trees_at_once_do_not_touch_each_other(level: str, kind: str, tmp_path: Path) -> None:
    one, two = jobs.plan(tmp_path / "1", level, kind=kind), jobs.plan(tmp_path / "2", level, kind=kind)
    with (
        jobs.started(level, one, ("sleep", "1000")) as (first, _, _),
        jobs.started(level, two, ("sleep", "1000")) as (second, _, _),
    ):
        first.release()
        second.release()
        first.kill()
        assert first.wait(30) is not None
        assert second.wait(0.2) is None
        if first.listeners and promises(level).own_network:
            assert first.base_url == second.base_url
            assert isinstance(second.listeners[0], socket.socket)
