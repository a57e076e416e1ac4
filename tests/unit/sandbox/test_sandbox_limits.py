"""Measuring, counting, and control groups that hold what they say."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from inspan.sandbox import census, cgroups, maker, scope
from inspan.sandbox import limits as watching
from inspan.sandbox.contract import Limits
from inspan.sandbox.limits import Size, Watch, measure, mechanisms, nameless


def test_measure_counts_bytes_and_entries_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_bytes(b"x" * 100_000)
    (tmp_path / "out").symlink_to("/usr")
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "sparse", "wb") as out:
        out.truncate(1 << 40)
    found = measure([str(tmp_path), str(tmp_path / "absent")])
    assert found.files == 5
    assert 100_000 <= found.bytes < 1 << 20
    linked = measure([str(tmp_path / "out")])
    assert linked.files == 0


def test_nesting_does_not_hide_from_the_measure(tmp_path: Path) -> None:
    here = os.getcwd()
    try:
        os.chdir(tmp_path)
        for _ in range(60):
            os.mkdir("d" * 100)
            os.chdir("d" * 100)
    finally:
        os.chdir(here)
    assert measure([str(tmp_path)]).files > 1 << 40
    subprocess.run(["rm", "-rf", str(tmp_path / ("d" * 100))], check=True)


class _Nobody:
    """A tree without processes."""

    def members(self) -> list[census.Process]:
        return []

    def main_ended(self, seconds: float) -> bool:
        return False

    def on_main_end(self) -> None: ...

    def kill(self) -> None: ...


def _closed_directory(place: str) -> list[str | None]:
    """What the watch of an ordinary user says of a directory that may be written and not be read."""
    bound = Limits(workspace_bytes=1 << 20, workspace_files=10)
    left = [Size(1 << 30, 1000)]
    watching._left = lambda roots: left[0]
    watch = Watch(_Nobody(), bound, cgroups.Group("none", bound), [place])
    said = []
    for free in (Size((1 << 30) - (1 << 19), 995), Size((1 << 30) - (1 << 22), 995), Size(1 << 30, 900)):
        left[0], watch._next_measure = free, 0.0
        said.append(watch._look())
    return said


@pytest.mark.parametrize("mode", [0o300, 0o000, 0o700])
def test_what_cannot_be_looked_into_counts_as_what_the_disk_lost(mode: int) -> None:
    place = tempfile.mkdtemp()
    try:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                if os.geteuid() == 0:
                    os.chown(place, 65534, 65534)
                    os.setgroups([])
                    os.setresgid(65534, 65534, 65534)
                    os.setresuid(65534, 65534, 65534)
                os.mkdir(f"{place}/d")
                os.chmod(f"{place}/d", mode)
                closed = mode != 0o700
                expected = [None, "workspace_bytes", "workspace_files"] if closed else [None] * 3
                status = int(_closed_directory(place) != expected or measure([place]).closed != int(closed))
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        os.chmod(f"{place}/d", 0o700)
        shutil.rmtree(place)


def test_files_without_a_name_are_counted_once(tmp_path: Path) -> None:
    me = census.process(os.getpid())
    assert me is not None
    before = nameless([me]).bytes
    with open(tmp_path / "f", "wb") as out, open(tmp_path / "f", "rb"), os.fdopen(os.memfd_create("m"), "wb") as memory:
        out.write(b"x" * (1 << 20))
        memory.write(b"x" * (1 << 20))
        for file in (out, memory):
            file.flush()
        os.fsync(out.fileno())
        assert nameless([me]).bytes == before  # it has a name
        (tmp_path / "f").unlink()
        assert 1 << 20 <= nameless([me, me]).bytes - before < 3 << 19
    assert nameless([me]).bytes == before


def test_a_process_that_lets_nobody_look_counts_as_closed() -> None:
    hide = "import ctypes, sys; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); print(flush=True); sys.stdin.read()"
    child = subprocess.Popen([sys.executable, "-c", hide], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None and child.stdout.readline()
        found = census.process(child.pid)
        assert found is not None
        assert nameless([found]).closed == int(not os.access(f"/proc/{child.pid}/fd", os.R_OK, effective_ids=True))
        if os.geteuid() == 0:  # who sees everything sees that, too; another user does not
            looker = os.fork()
            if looker == 0:
                os.setresuid(65534, 65534, 65534)
                os._exit(int(nameless([found]) != Size(0, 0, 1)))
            assert os.waitstatus_to_exitcode(os.waitpid(looker, 0)[1]) == 0
    finally:
        child.kill()
        child.communicate()


def test_the_census_finds_descendants_and_marked_ones() -> None:
    marker = f"TEST_MARKER={time.monotonic_ns()}"
    name, value = marker.split("=")
    code = "import os, time\nif os.fork() == 0:\n  os.setsid()\ntime.sleep(100)\n"
    child = subprocess.Popen([sys.executable, "-c", code], env={name: value})
    try:
        while len(census.marked(marker.encode())) < 2:
            time.sleep(0.01)
        assert {process.pid for process in census.marked(marker.encode())} >= {child.pid}
        assert child.pid in {process.pid for process in census.descendants(os.getpid())}
        assert len(census.descendants(child.pid)) == 1
        assert census.marked(b"TEST_MARKER=another") == []
    finally:
        for process in census.marked(marker.encode()):
            os.kill(process.pid, 9)
        child.wait()


def test_a_process_name_with_parentheses_is_read_whole(tmp_path: Path) -> None:
    program = tmp_path / "a) (b"
    program.write_text(f"#!{sys.executable}\nimport time; time.sleep(100)\n")
    program.chmod(0o755)
    child = subprocess.Popen([str(program)])
    try:
        until = time.monotonic() + 20
        while census.processes()[child.pid].name != "a) (b" and time.monotonic() < until:
            time.sleep(0.01)
        found = census.processes()[child.pid]
        assert (found.name, found.parent) == ("a) (b", os.getpid())
    finally:
        child.kill()
        child.wait()


def test_groups_hold_what_they_say_and_go_away() -> None:
    made = cgroups.group(Limits(memory=256 << 20, processes=50, cpus=0.5, cpu_seconds=100))
    child = subprocess.Popen(["sleep", "100"])
    try:
        made.join(child.pid)
        if not made.held:
            pytest.skip("NORUN: no control group with a controller can be made here")
        assert child.pid in made.members()
        assert not made.out_of_memory() and not made.out_of_processes()
        assert (made.cpu_seconds() or 0) < 50
        places = [place.path for place in made._places]
        for limit, mechanism in made.held.items():
            version_two, version_one = FILES[limit]
            files = version_one if mechanism == "cgroup v1" else version_two
            assert any(Path(f"{place}/{files[0]}").is_file() for place in places)
            assert files[1] in [read(f"{place}/{files[0]}") for place in places]
        child.kill()
        child.wait()
    finally:
        child.kill()
        child.wait()
        made.remove()
    assert places
    assert not [place for place in places if os.path.exists(place)]


FILES = {  # what each version calls it, and what it holds afterwards
    "memory": (("memory.max", str(256 << 20)), ("memory.limit_in_bytes", str(256 << 20))),
    "processes": (("pids.max", "50"), ("pids.max", "50")),
    "cpus": (("cpu.max", "50000 100000"), ("cpu.cfs_quota_us", "50000")),
}


def read(path: str) -> str:
    return Path(path).read_text().strip() if os.path.exists(path) else ""


def test_a_group_nobody_may_make_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "_make", lambda _: False)
    monkeypatch.setattr(scope, "manager", lambda: None)
    made = cgroups.group(Limits())
    made.join(os.getpid())
    assert made.held == {} and made.members() == [] and made.cpu_seconds() is None


def test_the_order_of_preference_and_what_each_limit_says() -> None:
    bare = mechanisms(Limits(cpus=2.0, cpu_seconds=60.0), {}, processes="rlimit")
    assert bare["memory"] == "watch" and bare["processes"] == "rlimit" and bare["cpus"] == "nothing"
    assert bare["output_bytes"] == "reader"
    some = mechanisms(Limits(), {"memory": "cgroup v2", "processes": "systemd scope"}, processes="watch")
    assert (some["memory"], some["processes"]) == ("cgroup v2", "systemd scope")
    assert "cpus" not in some and "cpu_seconds" not in some
    assert mechanisms(Limits(memory=None), {}, processes="watch").keys().isdisjoint({"memory"})


LEFT = """
import os, subprocess, sys
from inspan.sandbox import cgroups, maker
from inspan.sandbox.contract import Limits
made = cgroups.group(Limits())
program = [sys.executable, "-c", "import os, time; os.setsid(); print('up', flush=True); time.sleep(1000)"]
child = subprocess.Popen(program, env={maker.MARKER: maker.identity() + "-x", "NAME": sys.argv[1]}, stdout=subprocess.PIPE)
child.stdout.readline()
made.join(child.pid)
print(maker.identity(), *[p.path for p in made._places], sep="\\n", flush=True)
sys.stdin.read()
os._exit(0)
"""


def test_what_a_dead_maker_left_is_swept_and_a_living_ones_is_not() -> None:
    name = f"left-{time.monotonic_ns()}"
    running = subprocess.Popen(
        [sys.executable, "-c", LEFT, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert running.stdout is not None and running.stdin is not None
        who = running.stdout.readline().strip()
        assert not maker.dead(who)
        maker.end_left()
        cgroups.sweep()
        assert len(census.marked(f"NAME={name}".encode())) == 1  # the control: its maker lives
        running.stdin.close()
        places = running.stdout.read().split()
        running.wait(60)
        assert maker.dead(who) and not maker.dead("1" + who) and not maker.dead("x")
        assert all(os.path.isdir(place) for place in places)
        maker.end_left()
        until = time.monotonic() + 60
        while census.marked(f"NAME={name}".encode()) and time.monotonic() < until:
            time.sleep(0.01)
        cgroups.sweep()
        assert census.marked(f"NAME={name}".encode()) == []
        assert not [place for place in places if os.path.exists(place)]
    finally:
        running.kill()
        running.wait()


def test_a_group_with_members_of_a_dead_maker_is_emptied() -> None:
    """Where the processes have no mark of ours any more, their group finds them."""
    name = f"unmarked-{time.monotonic_ns()}"
    unmarked = LEFT.replace('maker.MARKER: maker.identity() + "-x", ', "")
    done = subprocess.run(
        [sys.executable, "-c", unmarked, name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True
    )
    places = done.stdout.split()[1:]
    try:
        if not places:
            pytest.skip("NORUN: no control group can be made here")
        maker.end_left()
        assert len(census.marked(f"NAME={name}".encode())) == 1  # the control
        cgroups.sweep()
        until = time.monotonic() + 60
        while census.marked(f"NAME={name}".encode()) and time.monotonic() < until:
            time.sleep(0.01)
        cgroups.sweep()
        assert census.marked(f"NAME={name}".encode()) == []
        assert not [place for place in places if os.path.exists(place)]
    finally:
        census.kill(census.marked(f"NAME={name}".encode()))


MANAGER = """
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/user/0 && chmod 700 /run/user/0
export XDG_RUNTIME_DIR=/run/user/0 DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/0/bus
for h in systemd unified; do
  [ -d /sys/fs/cgroup/$h ] && mkdir /sys/fs/cgroup/$h/$NAME && echo $$ > /sys/fs/cgroup/$h/$NAME/cgroup.procs
done
[ -d /sys/fs/cgroup/unified ] || { mkdir /sys/fs/cgroup/$NAME && echo $$ > /sys/fs/cgroup/$NAME/cgroup.procs; }
/lib/systemd/systemd --user --log-target=null & manager=$!
for i in $(seq 100); do systemctl --user start dbus.service 2>/dev/null && break; sleep 0.1; done
systemctl --user is-active -q dbus.service || exit 77
"$PYTHON" -c "$PROGRAM"; status=$?
kill $manager; wait
exit $status
"""
ADOPTED = """
import os, subprocess
from inspan.sandbox import cgroups, scope
from inspan.sandbox.contract import Limits
child = subprocess.Popen(["sleep", "100"])
assert scope.manager()[1:] == ("--user",)
made = cgroups.group(Limits(memory=100 << 20, processes=50))
made.join(child.pid)
places = [p for p in made._places if p.mechanism == "systemd scope"]
assert places and child.pid in made.members() and made.name in places[0].path, made._places
assert f"{made.name}.scope" in open(f"/proc/{child.pid}/cgroup").read()
for limit, mechanism in made.held.items():  # what it says it holds stands in the scope
    if mechanism == "systemd scope":
        name = {"memory": "memory.max", "processes": "pids.max"}[limit]
        assert open(f"{places[0].path}/{name}").read().strip() in (str(100 << 20), "50")
made.kill()
child.kill()
child.wait()
made.remove()
print(made.held)
"""


@pytest.mark.root
@pytest.mark.long
def test_a_real_systemd_takes_a_tree_into_a_scope() -> None:
    if os.geteuid() != 0 or not os.path.exists("/lib/systemd/systemd") or shutil.which("busctl") is None:
        pytest.skip("NORUN: needs root and an installed systemd, which is started as a user's manager")
    name = f"inspan-test-{os.getpid()}"
    env = {**os.environ, "PYTHON": sys.executable, "PROGRAM": ADOPTED, "NAME": name}
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", MANAGER], env=env, capture_output=True, text=True, timeout=120, check=False
    )
    for top in ("systemd", "unified", "."):
        for folder, _, _ in os.walk(f"/sys/fs/cgroup/{top}/{name}", topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
    if done.returncode == 77:
        pytest.skip(f"NORUN: systemd does not run as a user's manager here: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr


def test_the_question_to_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked, where a program that notes it stands for ``busctl``; the long set asks a real one."""
    said = tmp_path / "said"
    stand_in = tmp_path / "busctl"
    stand_in.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {said}\nexit 1\n')
    stand_in.chmod(0o755)
    monkeypatch.setattr(scope, "manager", lambda: (str(stand_in), "--user"))
    assert scope.adopt(4321, "inspan-x", Limits(memory=1 << 30, processes=64, cpus=1.5)) is None
    words = said.read_text().split("\n")
    assert words[:2] == ["--user", "call"] and "inspan-x.scope" in words
    asked = " ".join(words)
    for part in ("PIDs au 1 4321", "MemoryMax t 1073741824", "MemorySwapMax t 0", "TasksMax t 64"):
        assert part in asked
    assert "CPUQuotaPerSecUSec t 1500000" in asked and words[-2] == "0"
    number = int(words[words.index("fail") + 1])
    assert number == len(scope.properties(1, Limits(memory=1, processes=1, cpus=1.0)))


def test_who_counts_time_from_another_moment_says_nothing_of_a_maker() -> None:
    ask = "import sys; from inspan.sandbox import maker; print(maker.dead(sys.argv[1]))"
    asked = [sys.executable, "-c", ask, maker.identity()]
    moved = subprocess.run(["unshare", "--time", "--boottime", "1000", *asked], capture_output=True, text=True)
    if moved.returncode:
        pytest.skip(f"NORUN: no time namespace can be made: {moved.stderr.strip()}")
    assert moved.stdout.strip() == "False"
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() == "False"
