"""What a hostile job tries against level ``gvisor``: the attempts against ``sandbox``, answered by another kernel.

``EXCEPTIONS`` lists where the answer differs: the guest has the thing itself, and what it gives is the guest's own.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_sandbox_escape import ESCAPES, PROBE, host_services

import sandbox_jobs as jobs
from inspan.sandbox import census, cgroups
from inspan.sandbox.contract import Limits
from inspan.workspace.plan import Bind, MountPlan

pytestmark = pytest.mark.long
LEVEL = "gvisor"


@pytest.fixture(autouse=True)
def _level() -> None:
    jobs.require(LEVEL)


@pytest.fixture
def plan(tmp_path: Path) -> MountPlan:
    return jobs.plan(tmp_path, LEVEL)


NOTHING_THERE = {"ECONNREFUSED", "ENETUNREACH", "EADDRNOTAVAIL"}
NO_FAMILY = {"EAFNOSUPPORT", "EPERM", "EPROTONOSUPPORT"}
NETWORK = {
    "tcp4": NOTHING_THERE,
    "tcp6": {*NOTHING_THERE, None},
    "udp": {"ok"},  # it is sent, to the sandbox's own loopback; nothing arrives outside
    "abstract": {"ECONNREFUSED"},
    "path": {"ENOENT"},
    "datagram": {"ECONNREFUSED"},
    **dict.fromkeys(("external", "external6", "metadata", "metadata6", "dns", "dns6", "multicast"), NOTHING_THERE),
    "broadcast": {"EACCES", "ENETUNREACH"},
    "resolver": {"EAGAIN", "[Errno -3] Temporary failure in name resolution"},
    "pose as the gateway": {"EADDRINUSE"},
    **dict.fromkeys(("mptcp", "vsock", "packet", "alg", "bluetooth", "raw"), NO_FAMILY),
    "pair": {"ok"},
    "tiocsti": {"EPERM", "ENOTTY"},
}
EXCEPTIONS = {
    "io_uring": ({"ENOSYS", "ok"}, "some builds have a ring of the guest's own"),
    "make a device": (None, "in the guest's memory; there is no driver behind it"),
    "write to dev": (None, "in the guest's memory, which the limit of memory bounds"),
    "keyctl": ({"EPERM", "EACCES", "ENOSYS", "ok"}, "the guest has keyrings of its own; the host's are not asked"),
}


@pytest.mark.parametrize("egress", [(), ("name.example:443",)], ids=["gateway", "granted"])
def test_the_network_table(plan: MountPlan, tmp_path: Path, egress: tuple[str, ...]) -> None:
    python, tools = jobs.python_inside()
    with host_services(tmp_path) as (targets, received):
        ended = jobs.run(LEVEL, plan, python, "-I", "-c", PROBE, json.dumps(targets), tools=tools, egress=egress)
        inside = json.loads(ended.out)
        assert received == []
        free = [sys.executable, "-I", "-c", PROBE, json.dumps(targets | {"near": True})]
        outside = json.loads(subprocess.run(free, capture_output=True, check=True).stdout)
    proxy = {"pose as the proxy": {"EADDRINUSE"} if egress else {"ok"}}
    wanted = NETWORK | proxy | {key: answers for key, (answers, _) in EXCEPTIONS.items() if answers}
    print(f"{len(inside)} attempts inside: {inside}\n{len(EXCEPTIONS)} exceptions: {EXCEPTIONS}\noutside: {outside}")
    assert set(inside) == set(wanted)
    assert {key: value for key, value in inside.items() if value not in wanted[key]} == {}
    assert {outside[key] for key in ("tcp4", "udp", "abstract", "path", "pair", "datagram")} == {"ok"}


@pytest.mark.parametrize("name", ESCAPES)
def test_an_escape_fails(plan: MountPlan, name: str) -> None:
    script, tool = ESCAPES[name]
    before = (Path("/proc/sys/kernel/core_pattern").read_text(), socket.gethostname())
    if tool and jobs.run(LEVEL, plan, f"command -v {tool}").status != 0:
        pytest.skip(f"NORUN: no {tool} here")
    ended = jobs.run(
        LEVEL,
        plan,
        f"({script}); echo status $?; for d in /tmp/disk disk; do [ -b $d ] && head -c 1 $d && echo read $d; done\n"
        "[ ! -b disk ] || echo made in the workspace; true",
    )
    assert ("status 0" in ended.out) <= (name in EXCEPTIONS), ended
    assert not {"read", "made"} & set(ended.out.split()), ended
    assert (Path("/proc/sys/kernel/core_pattern").read_text(), socket.gethostname()) == before
    assert [path for path in ("/usr/x", "/usr/bin/x", "/x", "/dev/x") if os.path.exists(path)] == []


def test_the_kernel_that_answers_is_not_the_hosts(plan: MountPlan) -> None:
    ended = jobs.run(LEVEL, plan, "cat /proc/version; uname -r; [ -e /proc/sentry-meminfo ] && echo guest")
    version, release, *rest = ended.out.splitlines()
    assert version == ended.tree.proof["guest_kernel"] != Path("/proc/version").read_text().strip()
    assert release != os.uname().release and rest == ["guest"]
    assert ended.tree.proof["host_kernel"] == Path("/proc/version").read_text().strip()


def programs_below(pid: int) -> list[tuple[int, str]]:
    """Every process below ``pid`` and the file it runs."""
    found = []
    for one in census.descendants(pid):
        try:
            found.append((one.pid, os.path.realpath(os.readlink(f"/proc/{one.pid}/exe"))))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("level", [LEVEL, "sandbox"])
def test_a_call_of_the_job_is_not_made_to_the_host(tmp_path: Path, level: str) -> None:
    """Outside, nobody runs the program: the host sees the guest, and what it keeps of the job's memory.

    Control: at level ``sandbox`` the program is seen.
    """
    jobs.require(level)
    plan, program = jobs.plan(tmp_path, level), os.path.realpath("/bin/sleep")
    with jobs.started(level, plan, ("sh", "-c", "echo > up; exec sleep 1000")) as (tree, _, _):
        tree.release()
        while not (Path(str(plan.upper)) / "up").exists():
            assert tree.wait(0.05) is None
        until = time.monotonic() + (60 if level == "sandbox" else 2)
        seen = False
        while not seen and time.monotonic() < until:
            below = programs_below(tree.pid)
            seen = program in [path for _, path in below]
            assert tree.wait(0.05) is None
        assert below and seen is (level == "sandbox")


def test_what_runsc_keeps_cannot_be_named_inside(plan: MountPlan) -> None:
    seen = jobs.run(
        LEVEL, plan, "for p in /run/runsc /run/inspan /guest /guest/usr; do [ -e $p ] && echo $p; done; true"
    )
    assert (seen.status, seen.out) == (0, "")
    mounts = jobs.run(LEVEL, plan, "cat /proc/mounts /proc/1/cmdline /proc/*/environ", env={"GIVEN": "word"}).out
    for path in (plan.home, str(plan.upper), plan.lowers[0]):
        assert path not in mounts
    assert "GIVEN=word" in mounts  # control: it is the job's own environment that is read


def test_the_host_is_not_visible(plan: MountPlan, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    canary.write_text("secret of the host\n")
    other = jobs.plan(tmp_path / "other", LEVEL)
    (Path(other.home) / "other-secret").write_text("secret of another attempt\n")
    places = [canary, Path(other.home), Path(plan.lowers[0])]
    places += [Path(name) for name in ("/root/.bashrc", "/etc/shadow", "/var/lib", "/sys/fs/cgroup/unified")]
    places += [Path(name) for name in ("/dev/kvm", "/dev/vda", "/dev/sda", "/run/docker.sock")]
    ended = jobs.run(LEVEL, plan, "".join(f"[ -e {place} ] && echo sees {place}\n" for place in places) + "true")
    assert (ended.status, ended.out) == (0, "")
    assert canary.exists() and Path(plan.lowers[0]).exists() and Path(other.home).exists()  # control
    processes = jobs.run(LEVEL, plan, "set -- /proc/[0-9]*; echo $#")
    assert int(processes.out) <= 3  # the guest's first process and the shell


def test_a_socket_or_pipe_in_a_shown_directory_leads_to_nobody(plan: MountPlan, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    shown.mkdir()
    (shown / "word").write_text("there\n")
    with socket.socket(socket.AF_UNIX) as service:
        service.bind(str(shown / "service"))
        service.listen(8)
        os.mkfifo(shown / "pipe")
        for name in ("service", "pipe"):
            (shown / name).chmod(0o777)
        reader = os.open(shown / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        python, tools = jobs.python_inside()
        tools = (*tools, Bind(source=str(shown), target="/opt/shown"))
        connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print('connected')"
        ended = jobs.run(LEVEL, plan, python, "-I", "-c", connect, "/opt/shown/service", tools=tools)
        assert ended.status != 0 and "connected" not in ended.out
        write = "import os; os.write(os.open('/opt/shown/pipe', os.O_WRONLY | os.O_NONBLOCK), b'out')"
        assert jobs.run(LEVEL, plan, python, "-I", "-c", write, tools=tools).status != 0
        assert os.read(reader, 10) == b""
        os.close(reader)
        assert jobs.run(LEVEL, plan, "cat /opt/shown/word", tools=tools).out == "there\n"  # control: it is shown
        subprocess.run([sys.executable, "-I", "-c", connect, str(shown / "service")], check=True)


def test_identity_and_privileges(plan: MountPlan) -> None:
    ended = jobs.run(LEVEL, plan, "cat /proc/self/status; id -u; id -un; touch made")
    fields = dict(line.split(":\t", 1) for line in ended.out.splitlines() if ":\t" in line)
    assert {name: int(fields[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd")} == dict.fromkeys(
        ("CapInh", "CapPrm", "CapEff", "CapBnd"), 0
    )
    assert ended.out.endswith("\n0\nagent\n")  # what it is called inside
    assert (Path(str(plan.upper)) / "made").stat().st_uid == plan.uid != 0  # what it is outside
    assert ended.tree.proof["uid"] == plan.uid and int(ended.tree.proof["CapBnd"], 16) == 0


def test_a_setuid_file_made_inside_is_nobody_special_outside(plan: MountPlan) -> None:
    jobs.run(LEVEL, plan, "cp /bin/sh su; chmod 6755 su; cp /bin/sh ~/su; chmod 6755 ~/su")
    for made in (Path(str(plan.upper)) / "su", Path(plan.home) / "su"):
        assert made.stat().st_uid == plan.uid != 0
        assert any(jobs.is_private(parent) for parent in made.parents)


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "/var/tmp"])
def test_memory_backed_space_has_an_end(plan: MountPlan, place: str) -> None:
    """Its size, or, for a guest that does not know sizes, the limit of memory around guest and job."""
    ended = jobs.run(
        LEVEL, plan, f"head -c 1500000000 /dev/zero > {place}/fill && echo filled", timeout=240,
        limits=Limits(file_size=None, memory=1200 << 20),
    )  # fmt: skip
    assert "filled" not in ended.out
    assert ended.tree.exceeded == "memory" or "No space" in ended.err
    assert jobs.run(LEVEL, plan, "touch /run/x || touch /home/x || touch /x").status != 0


@pytest.mark.parametrize("groups", [True, False], ids=["whatever there is", "no control groups"])
def test_a_fork_bomb_is_ended_and_the_host_goes_on(
    plan: MountPlan, groups: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guest kernel ends when it is refused a thread: the limit is named all the same."""
    if not groups:
        monkeypatch.setattr(cgroups, "_version_two", lambda name: None)
        monkeypatch.setattr(cgroups, "_version_one", lambda name, controller: None)
        monkeypatch.setattr(cgroups.Group, "_ask_systemd", lambda group, pid: None)
    python, tools = jobs.python_inside()
    bomb = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass\n"
    ended = jobs.run(LEVEL, plan, python, "-I", "-c", bomb, tools=tools, limits=Limits(processes=64), timeout=240)
    assert groups or ended.tree.held["processes"] == "rlimit"
    assert ended.tree.exceeded == "processes"
    assert ended.tree.survivors() == []
    assert jobs.run_free("true").returncode == 0


def test_killing_the_guests_first_process_ends_the_job_and_nothing_else(plan: MountPlan) -> None:
    ended = jobs.run(LEVEL, plan, "kill -9 1; kill -TERM 1; sleep 1; echo still here")
    assert "still here" in ended.out or ended.status != 0
    assert ended.tree.survivors() == []
