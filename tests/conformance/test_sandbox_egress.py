"""Granted egress, the same for every level that holds the network; the others refuse it."""

from __future__ import annotations

import base64
import socket
from pathlib import Path

import pytest

import sandbox_jobs as jobs
from inspan.errors import SandboxError
from inspan.outcome.records import EgressRecord
from inspan.sandbox.contract import EGRESS_PORT, Confinement
from inspan.sandbox.levels import driver
from inspan.spec.levels import DEFAULT, PROMISES, promises
from inspan.supervise.command import Ran, run_confined
from inspan.supervise.egress import EgressService
from support.reach import CLIENT, echo

HOLDING = [name for name in PROMISES if promises(name).only_gateway]


@pytest.fixture(params=[n if n == DEFAULT else pytest.param(n, marks=pytest.mark.long) for n in HOLDING])
def level(request: pytest.FixtureRequest) -> str:
    jobs.require(request.param)
    return str(request.param)


def reach(level: str, base: Path, *targets: str, egress: tuple[str, ...], private: tuple[str, ...]) -> Ran:
    python, tools = jobs.python_inside()
    confinement = Confinement(
        plan=jobs.plan(base, level),
        argv=(python, "-I", "-c", CLIENT, *targets),
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
        tools=tools,
        ports=0,
        egress=egress,
        private=private,
    )
    return run_confined(driver(level), confinement, timeout=120)


def told(record: EgressRecord | None) -> list[tuple[str, str, str, int]]:
    assert record is not None
    return [(f"{d.host}:{d.port}", d.decision, d.why, d.count) for d in record.decisions]


def test_a_granted_destination_is_reached_and_every_other_refused(level: str, tmp_path: Path) -> None:
    with echo() as here, echo() as other:
        granted = (here, "localhost:9")
        ran = reach(
            level, tmp_path, here, other, "example.invalid:443", "169.254.169.254:80", egress=granted, private=(here,)
        )
    assert ran.exit == 0, ran.output
    said = ran.output.decode().splitlines()
    assert said == [f"{here} 200 HELLO", f"{other} 403 ", "example.invalid:443 403 ", "169.254.169.254:80 403 "]
    assert told(ran.egress) == [
        (here, "allowed", "granted", 1),
        (other, "refused", "not_granted", 1),
        ("example.invalid:443", "refused", "not_granted", 1),
        ("169.254.169.254:80", "refused", "not_granted", 1),
    ]
    assert ran.egress is not None
    assert (ran.egress.connections, ran.egress.sent, ran.egress.received, ran.egress.more) == (4, 5, 5, 0)
    assert (ran.egress.granted, ran.egress.private) == (granted, (here,))


def test_a_granted_name_that_leads_to_this_machine_is_refused(level: str, tmp_path: Path) -> None:
    with echo() as here:
        name = here.replace("127.0.0.1", "localhost")
        ran = reach(level, tmp_path, name, egress=(name,), private=())
        control = reach(level, tmp_path, name, egress=(name,), private=(name,))
    assert told(ran.egress) == [(name, "refused", "not_global", 1)]
    assert b" 403 " in ran.output
    assert told(control.egress) == [(name, "allowed", "granted", 1)]


def test_without_a_grant_there_is_no_proxy(level: str, tmp_path: Path) -> None:
    if not promises(level).own_network:
        with jobs.started(level, jobs.plan(tmp_path, level), ("sh", "-c", "env | grep -ci proxy")) as (tree, out, _):
            assert (tree.egress_listener, tree.egress_token) == (None, None)
            tree.release()
            tree.wait(60)
            assert out.read_text() == "0\n"
        return
    script = f"env | grep -ci proxy; (: < /dev/tcp/127.0.0.1/{EGRESS_PORT}) 2>/dev/null && echo open || echo closed"
    with jobs.started(level, jobs.plan(tmp_path, level), ("bash", "-c", script)) as (tree, out, _):
        assert tree.egress_listener is None
        tree.release()
        tree.wait(60)
        assert out.read_text() == "0\nclosed\n"
    with (
        echo() as here,
        jobs.started(level, jobs.plan(tmp_path, level), ("bash", "-c", script), egress=(here,), private=(here,)) as (
            tree,
            out,
            _,
        ),
    ):
        assert tree.egress_listener is not None
        tree.release()
        tree.wait(60)
        assert out.read_text() == "4\nopen\n"  # control: the kernel takes the connection although nobody serves


def test_nobody_else_uses_the_proxy(level: str, tmp_path: Path) -> None:
    """Where others on this machine can connect to it, it wants a token that only the job has."""
    with echo() as here:
        grants = {"egress": (here,), "private": (here,)}
        with jobs.started(level, jobs.plan(tmp_path, level), ("sleep", "1000"), **grants) as (tree, _, _):
            tree.release()
            assert (tree.egress_token is None) is promises(level).own_network
            place = tree.egress_listener.getsockname()
            with EgressService(tree.egress_listener, (here,), (here,), tree.egress_token) as service:
                if promises(level).own_network:
                    with pytest.raises(OSError):  # nobody is there: it is the job's own loopback
                        ask(place, here, "")
                    return
                shown = base64.b64encode(f"inspan:{tree.egress_token}".encode()).decode()
                keys = ("", "Basic eDp5", f"Basic {shown}x", f"Bearer {tree.egress_token}", f"Basic {shown}")
                assert [ask(place, here, key) for key in keys] == [407, 407, 407, 407, 200]
                assert told(service.record()) == [
                    ("None:None", "refused", "no_token", 4),
                    (here, "allowed", "granted", 1),
                ]


def ask(place: tuple[str, int], target: str, key: str) -> int:
    with socket.create_connection(place, 60) as near:
        shown = f"Proxy-Authorization: {key}\r\n" if key else ""
        near.sendall(f"CONNECT {target} HTTP/1.1\r\n{shown}\r\n".encode())
        return int(near.recv(4096).split()[1])


@pytest.mark.parametrize("level", [name for name in PROMISES if not promises(name).only_gateway])
def test_a_level_that_holds_no_network_refuses(level: str, tmp_path: Path) -> None:
    jobs.require(level)
    made = jobs.plan(tmp_path, level)
    refused = pytest.raises(SandboxError, match="granted destinations")
    with refused, jobs.started(level, made, ("true",), egress=("localhost:9",)):
        pass
    assert jobs.run(level, made, "true").status == 0  # control
