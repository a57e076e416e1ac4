"""Granted egress, the same for every level that has a network of its own; the others refuse it."""

from __future__ import annotations

from pathlib import Path

import pytest

import sandbox_jobs as jobs
from inspan.errors import SandboxError
from inspan.outcome.records import EgressRecord
from inspan.sandbox.contract import EGRESS_PORT, Confinement
from inspan.sandbox.levels import driver
from inspan.spec.levels import PROMISES, promises
from inspan.supervise.command import Ran, run_confined
from support.reach import CLIENT, echo


@pytest.fixture(params=[name for name in PROMISES if promises(name).own_network])
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


@pytest.mark.parametrize("level", [name for name in PROMISES if not promises(name).own_network])
def test_a_level_without_a_network_of_its_own_refuses(level: str, tmp_path: Path) -> None:
    jobs.require(level)
    made = jobs.plan(tmp_path, level)
    refused = pytest.raises(SandboxError, match="granted destinations")
    with refused, jobs.started(level, made, ("true",), egress=("localhost:9",)):
        pass
    assert jobs.run(level, made, "true").status == 0  # control
