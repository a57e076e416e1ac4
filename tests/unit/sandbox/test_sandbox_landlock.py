"""Level ``landlock``: its filter, its judge of addresses, one real start, and starts that must be refused."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
from pathlib import Path

import pytest

import sandbox_jobs as jobs
from inspan.errors import HarnessError, SandboxError
from inspan.sandbox import connecting, enabling, landlock, landlocked, shared_filter
from inspan.sandbox.levels import driver
from inspan.workspace.plan import Bind, MountPlan

CALLS = shared_filter._NUMBERS["x86_64"]
ALLOWED, REFUSED, ASKED = 0x7FFF0000, 0x00050000, 0x7FC00000
U, I4, I6, NL = socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK
FLAGS = socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK


def answer(program: bytes, call: int, *arguments: int) -> int:
    """Run a classic BPF program over ``struct seccomp_data``, as the kernel does."""
    given = [a & 0xFFFFFFFFFFFFFFFF for a in arguments]
    data = struct.pack("=iIQ6Q", call, 0xC000003E, 0, *given, *[0] * (6 - len(given)))
    steps = list(struct.iter_unpack("HBBI", program))
    at = held = 0
    while True:
        operation, true, false, operand = steps[at]
        at += 1
        if operation == 0x06:
            return int(operand)
        if operation == 0x20:
            held = struct.unpack_from("=I", data, operand)[0]
        elif operation == 0x54:
            held &= operand
        else:
            at += true if (held == operand if operation == 0x15 else held & operand) else false


FILTERED = [
    ("socket", (I4, socket.SOCK_STREAM | FLAGS, 0), ALLOWED),
    ("socket", (I6, socket.SOCK_STREAM, socket.IPPROTO_TCP), ALLOWED),
    ("socket", (I4, socket.SOCK_STREAM, 262), REFUSED | errno.EACCES),  # MPTCP
    ("socket", (I4, socket.SOCK_STREAM, 132), REFUSED | errno.EACCES),  # SCTP
    ("socket", (I4, socket.SOCK_DGRAM, 0), REFUSED | errno.EACCES),
    ("socket", (I6, socket.SOCK_DGRAM | FLAGS, 0), REFUSED | errno.EACCES),
    ("socket", (I4, socket.SOCK_RAW, 1), REFUSED | errno.EACCES),
    ("socket", (NL, socket.SOCK_RAW | FLAGS, 0), ALLOWED),
    ("socket", (NL, socket.SOCK_RAW, 4), REFUSED | errno.EACCES),
    ("socket", (U, socket.SOCK_STREAM, 0), REFUSED | errno.EAFNOSUPPORT),
    ("socket", (40, socket.SOCK_STREAM, 0), REFUSED | errno.EAFNOSUPPORT),
    ("socket", ((1 << 32) | I4, socket.SOCK_DGRAM, 0), REFUSED | errno.EACCES),  # the kernel looks at the low half
    ("socketpair", (U, socket.SOCK_STREAM | FLAGS, 0), ALLOWED),
    ("socketpair", (U, socket.SOCK_SEQPACKET, 0), ALLOWED),
    ("socketpair", (U, socket.SOCK_DGRAM, 0), REFUSED | errno.EAFNOSUPPORT),
    ("socketpair", (U, socket.SOCK_RAW, 0), REFUSED | errno.EAFNOSUPPORT),
    ("socketpair", (I4, socket.SOCK_STREAM, 0), REFUSED | errno.EAFNOSUPPORT),
    *[(name, (3, 4096, 16), ASKED) for name in shared_filter.WATCHED],
    *[(name, (3, 4096, 16), REFUSED | errno.EOPNOTSUPP) for name in shared_filter._UNSUPPORTED],
    ("listen", (3, 1), REFUSED | errno.EPERM),
    ("sendto", (3, 0, 0, 0, 4096, 16), ALLOWED),
    ("sendto", (3, 0, 0, 0x20000000, 4096, 16), REFUSED | errno.EOPNOTSUPP),
    ("sendmsg", (3, 0, 0x20000040), REFUSED | errno.EOPNOTSUPP),
    ("sendmsg", (3, 0, 0x40), ALLOWED),
    ("sendmmsg", (3, 0, 1, 0x20000000), REFUSED | errno.EOPNOTSUPP),
    ("prlimit64", (0, 7, 0, 4096), ALLOWED),
    ("prlimit64", (1234, 0, 4096, 0), REFUSED | errno.EPERM),
    *[(name, (0, 0, 0), REFUSED | errno.EPERM) for name in shared_filter.REFUSED],
]


def test_the_filter_answers_every_call_as_its_table_says() -> None:
    program = shared_filter.program("x86_64")
    wrong = [(name, given) for name, given, wanted in FILTERED if answer(program, CALLS[name], *given) != wanted]
    print(f"{len(FILTERED)} calls")
    assert wrong == []
    assert {name for name, _, _ in FILTERED} == set(CALLS)
    others = set(range(470)) - set(CALLS.values())
    assert {answer(program, number, U, socket.SOCK_DGRAM, 7, 0x20000000) for number in others} == {ALLOWED}
    older = {"chmod", "chown", "lchown", "utime", "utimes", "futimesat"}  # calls aarch64 never had
    assert set(shared_filter._NUMBERS["aarch64"]) == set(CALLS) - older
    assert len(set(CALLS.values())) == len(CALLS)


def address(family: int, host: str, port: int) -> bytes:
    if family == I4:
        return struct.pack("H", family) + struct.pack("!H", port) + socket.inet_pton(family, host) + bytes(8)
    return struct.pack("H", family) + struct.pack("!HI", port, 0) + socket.inet_pton(family, host) + bytes(4)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (address(I4, "127.0.0.1", 4711), 0),
        (address(I6, "::ffff:127.0.0.1", 4711), 0),
        (address(I4, "127.0.0.1", 4712), errno.ECONNREFUSED),
        (address(I4, "127.0.0.2", 4711), errno.ECONNREFUSED),
        (address(I6, "::1", 4711), errno.ECONNREFUSED),
        (address(I4, "192.0.2.1", 4711), errno.ENETUNREACH),
        (address(I4, "0.0.0.0", 4711), errno.ENETUNREACH),
        (address(I6, "2001:db8::1", 4711), errno.ENETUNREACH),
        (address(I6, "::ffff:192.0.2.1", 4711), errno.ENETUNREACH),
        (address(I4, "127.0.0.1", 4711)[:7], errno.EAFNOSUPPORT),
        (struct.pack("H", 0) + bytes(14), errno.EAFNOSUPPORT),
        (struct.pack("H", U) + b"/run/bus\0", errno.EAFNOSUPPORT),
        (b"\2", errno.EINVAL),
    ],
)
def test_one_address_and_one_port_may_be_connected_to(given: bytes, wanted: int) -> None:
    assert connecting.judge(given, [4711]) == wanted


@pytest.fixture
def plan(tmp_path: Path) -> MountPlan:
    jobs.require("landlock")
    return jobs.plan(tmp_path, "landlock")


CLIENT = """
import os, socket, sys, urllib.request
print(urllib.request.urlopen(open(os.path.expanduser("~/url")).read(), timeout=30).read().decode())
for attempt in (lambda: os.listdir("/"), lambda: open(sys.argv[1]), lambda: socket.create_connection(("127.0.0.1", int(sys.argv[2])))):
    try:
        attempt()
        print("ok")
    except OSError as error:
        print(error.errno)
open("made", "w").write(os.environ["TMPDIR"])
"""


def test_the_gateway_is_reached_and_nothing_else(plan: MountPlan, tmp_path: Path) -> None:
    python, tools = jobs.python_inside()
    secret = jobs.homes(tmp_path, "landlock") / "secret"
    secret.write_text("out of reach\n")
    secret.chmod(0o644)
    with socket.create_server(("127.0.0.1", 0)) as other:
        given = (python, "-I", "-c", CLIENT, str(secret), str(other.getsockname()[1]))
        with jobs.started("landlock", plan, given, tools=tools) as (tree, out, err):
            url = Path(plan.home) / "url"
            url.write_text(tree.base_url)
            url.chmod(0o644)
            tree.release()
            tree.listeners[0].settimeout(60)
            connection, _ = tree.listeners[0].accept()
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
            connection.close()
            assert tree.wait(60) == 0, err.read_text()
            refused = [errno.EACCES, errno.EACCES, errno.ECONNREFUSED]
            assert out.read_text().splitlines() == ["hello", *map(str, refused)]
            assert tree.proof["landlock"] >= landlock.LEAST
            assert (tree.proof["Seccomp"], tree.proof["CapEff"], tree.proof["uid"]) == (2, 0, plan.uid)
        assert (Path(plan.directory) / "made").read_text() == f"{plan.home}/.tmp"


def refuse(plan: MountPlan, *argv: str, tools: tuple[Bind, ...] = ()) -> SandboxError:
    """The error of a start; nothing of it may be left."""
    with (
        pytest.raises(SandboxError) as caught,
        jobs.started("landlock", plan, argv or ("sh", "-c", "echo ran > ran"), tools=tools),
    ):
        pass
    assert not (Path(plan.directory) / "ran").exists()
    return caught.value


def test_a_start_whose_confinement_does_not_hold_is_refused(plan: MountPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative controls of the proof: a rule too many, a filter too few."""
    with monkeypatch.context() as changed:
        changed.setattr(landlocked, "_READ", (*landlocked._READ, "/"))
        changed.setattr(landlocked, "below", lambda path, *roots: False)
        assert "reading" in refuse(plan).what
    with monkeypatch.context() as changed:
        changed.setattr(shared_filter, "program", lambda: struct.pack("HBBI", 0x06, 0, 0, ALLOWED))
        assert "was not refused" in refuse(plan).what
    with monkeypatch.context() as changed:
        changed.setattr(landlock, "interface", lambda: 3)
        found = refuse(plan)
        assert "version 3" in found.what
        assert found.do == "boot Linux 6.7 or newer"
    assert jobs.run("landlock", plan, "echo ran > ran").status == 0  # control: unchanged, it starts


def test_what_the_level_cannot_show_is_refused(plan: MountPlan, tmp_path: Path) -> None:
    here = str(tmp_path)
    assert "cannot show" in refuse(plan, tools=(Bind(source=here, target="/elsewhere"),)).what
    assert "does not exist" in refuse(plan, tools=(Bind(source="/no/such", target="/no/such"),)).what
    assert jobs.run("landlock", plan, "true", tools=(Bind(source=here, target=here),)).status == 0


def test_a_program_the_jobs_identity_cannot_read_is_named(plan: MountPlan) -> None:
    made = Path(plan.directory) / "closed"
    made.write_text("#!/bin/sh\n")
    made.chmod(0o111 if os.geteuid() else 0o700)
    os.chown(made, os.geteuid(), os.getegid())
    with (
        pytest.raises(HarnessError, match="Permission denied") as caught,
        jobs.started("landlock", plan, ("./closed",)),
    ):
        pass
    assert caught.value.reason == "spawn_failed"


def test_the_driver_knows_what_would_help(monkeypatch: pytest.MonkeyPatch) -> None:
    assert driver("landlock").level == "landlock"
    assert "lsm=landlock," in enabling.for_landlock(-errno.EOPNOTSUPP)[1]
    assert "INSPAN_HOME" in (enabling.for_confining("[Errno 13] Permission denied: '/root/state'") or "")
    assert enabling.for_confining("no such thing") is None
    with monkeypatch.context() as changed:
        changed.setattr(enabling, "_read", lambda path: "2")
        assert enabling.for_confining("tcp: Operation not permitted") == "sysctl -w kernel.yama.ptrace_scope=1"
    assert "CONFIG_SECURITY_LANDLOCK" in enabling.for_landlock(-errno.ENOSYS)[1] or enabling.filtered()


@pytest.mark.parametrize("version", [4, 5, 6])
def test_an_older_interface_holds_what_it_knows(version: int) -> None:
    """The same rules as an older kernel would be given them: files are held by all, signals from version 6 on."""
    if landlock.interface() < version:
        pytest.skip(f"NORUN: no Landlock {version} here")
    rules = landlock.ruleset(["/usr"], [], version)
    child = os.fork()
    if child == 0:
        answers = 0
        try:
            os.setpgid(0, 0)
            assert ctypes.CDLL(None).prctl(38, 1, 0, 0, 0) == 0
            landlock.restrict(rules)
            for bit, attempt in enumerate((lambda: os.listdir("/"), lambda: os.kill(os.getppid(), 0))):
                try:
                    attempt()
                except PermissionError:
                    answers |= 1 << bit
        finally:
            os._exit(answers)
    os.close(rules)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (3 if version >= landlock.SCOPED else 1)
