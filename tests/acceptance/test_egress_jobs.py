"""Egress of whole jobs: what set-up, agent and checks reach, told by the proxy's log and the gateway's journal.

The agent is not asked what it reached. It tries the hosts of other providers; the gateway knows one provider only, and the
proxy's log has every attempt.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from runs import HARNESSES, inspan, make_repository, nothing_left, run

from inspan.gateway.contract import Upstream
from inspan.gateway.journal import read_journal
from inspan.gateway.server import Gateway
from inspan.redact import Redactor
from inspan.sandbox.addresses import first_refused
from inspan.sandbox.levels import probe
from inspan.spec.paths import state
from inspan.store import read
from inspan.supervise.loops import LoopThread
from support.reach import CLIENT, THROUGH_GATEWAY, echo

OTHERS = ("api.anthropic.com:443", "api.openai.com:443", "openrouter.ai:443", "169.254.169.254:80")
WHEEL = "iniconfig"
"""A small package without dependencies, in Python alone."""
PROGRAMS = ["bare", *(pytest.param(p, marks=[pytest.mark.real, pytest.mark.long]) for p in ("claude-code", "codex"))]


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    name: str = request.param
    if name != "bare":
        if not (HARNESSES / name).is_dir():
            pytest.skip(f"NORUN: {name} is not installed in {HARNESSES.name} (scripts/install-harnesses says why)")
        home = Path(os.environ["INSPAN_HOME"])
        home.mkdir(parents=True, exist_ok=True)
        (home / "harness").symlink_to(HARNESSES)
    proof = probe("sandbox", str(tmp_path))
    if not proof.available:
        pytest.skip(f"NORUN: no sandbox here: {proof.detail}")
    return name


def tried(record: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {f"{d['host']}:{d['port']}": (d["decision"], d["why"]) for d in record["decisions"]}


def test_a_job_reaches_its_own_provider_what_is_granted_and_nothing_else(program: str, tmp_path: Path) -> None:
    repo = make_repository(tmp_path / "repo", {"reach.py": CLIENT, "through.py": THROUGH_GATEWAY})
    scenario = tmp_path / "scenario.yaml"
    with echo() as here, echo() as other:
        config = (
            f'[egress]\nprivate = ["{here}", "{other}"]\n[backends."{program}@rehearsal/any"]\negress = ["{here}"]\n'
        )
        Path(os.environ["INSPAN_CONFIG"]).write_text(config)
        targets = " ".join((here, other, *OTHERS))
        scenario.write_text(
            "schema: inspan.rehearsal/1\nname: reaching\nsteps:\n"
            f"  - bash: python3 reach.py {targets} > reached.txt\n"
            f"  - bash: python3 through.py {' '.join(OTHERS)} > through.txt\n  - say: done\n"
        )
        found = run(
            "look around", "--repo", str(repo), "--backend", f"{program}@rehearsal/any", "--rehearse", str(scenario),
            "--egress", "localhost:9", "--setup", f"python3 reach.py {here} > set-up.txt", "--sandbox", "sandbox",
            "--check", f"reached=grep -q '{here} 200 HELLO' reached.txt && grep -q '{here} 200 HELLO' set-up.txt",
            "--check", f"closed=python3 reach.py {here} | grep Refused",
        )  # fmt: skip
    outcome = found.document
    assert (found.status, outcome["reason"]) == (0, "verified"), found
    isolation = outcome["isolation"]
    assert (isolation["egress"], isolation["connections"]["granted"]) == ("granted", ["localhost:9", here])
    log = tried(isolation["connections"])
    assert log[here] == ("allowed", "granted")
    assert {target: log[target] for target in (other, *OTHERS)} == dict.fromkeys(
        (other, *OTHERS), ("refused", "not_granted")
    )
    print(f"{program}: {isolation['connections']['connections']} connections, {len(log)} destinations: {log}")
    assert [name for name, (decision, _) in log.items() if decision == "allowed"] == [here]
    assert [tried(one) for one in isolation["setup_connections"]] == [{here: ("allowed", "granted")}]
    wire = [json.loads(line) for line in read.artifact(state(), outcome["artifacts"]["wire"]).splitlines()]
    refused = [line for line in wire if line["state"] == "refused"]
    served = {(line["path"].partition("?")[0], line["model_requested"]) for line in wire if line["state"] == "done"}
    print(f"{program}: {len(wire)} lines in the gateway's journal, {len(refused)} refused, served {sorted(served)}")
    assert len(refused) == 3 * len(OTHERS) and {line["error_message"][:3] for line in refused} == {"403"}
    assert outcome["backend"]["provider"] == "rehearsal" and {model for _, model in served} == {"any"}
    assert all(path.startswith("/v1/") for path, _ in served)
    assert nothing_left(Path(os.environ["INSPAN_HOME"])) == []


@pytest.mark.long
def test_at_landlock_the_same_by_a_token(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("NORUN: as root the job's user does not come to where these tests and their Python are")
    proof = probe("landlock", str(tmp_path))
    if not proof.available:
        pytest.skip(f"NORUN: level landlock: {proof.detail}")
    repo = make_repository(tmp_path / "repo", {"reach.py": CLIENT})
    scenario = tmp_path / "scenario.yaml"
    with echo() as here, echo() as other:
        Path(os.environ["INSPAN_CONFIG"]).write_text(f'[egress]\nprivate = ["{here}"]\n')
        scenario.write_text(
            "schema: inspan.rehearsal/1\nname: reaching\nsteps:\n"
            f"  - bash: python3 reach.py {here} {other} > reached.txt; (exec 3<>/dev/tcp/{other.replace(':', '/')}) || echo shut >> reached.txt\n"
            "  - say: done\n"
        )
        found = run(
            "look", "--repo", str(repo), "--backend", "bare@rehearsal/any", "--rehearse", str(scenario), "--sandbox", "landlock",
            "--egress", here, "--setup", f"python3 reach.py {here} > set-up.txt",
            "--check", f"reached=grep -q '{here} 200 HELLO' reached.txt && grep -q '{here} 200 HELLO' set-up.txt && grep shut reached.txt",
            "--check", f"closed=python3 reach.py {here} | grep Refused",
        )  # fmt: skip
    assert (found.status, found.document["reason"]) == (0, "verified"), found
    isolation = found.document["isolation"]
    assert (isolation["sandbox"], isolation["egress"]) == ("landlock", "granted")
    assert tried(isolation["connections"]) == {here: ("allowed", "granted"), other: ("refused", "not_granted")}
    assert [tried(one) for one in isolation["setup_connections"]] == [{here: ("allowed", "granted")}]


@contextmanager
def endpoint(journal: Path, scenario: str) -> Iterator[str]:
    """A model endpoint of the host, played by a gateway of its own; gives its ``host:port``."""
    loop, listener = LoopThread("endpoint"), socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    upstream = Upstream(kind="rehearsal", provider="rehearsal", model="any", wire="openai-chat", scenario=scenario)
    served = Gateway(upstream, credential=None, journal=journal, redactor=Redactor())
    try:
        loop.run(served.serve(listener), 30)
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        loop.run(served.close(), 30)
        loop.stop()


@pytest.mark.long
def test_a_backend_reaches_its_own_provider_and_no_other(tmp_path: Path) -> None:
    """Two providers of the host, one configured backend; told by what each of them received."""
    if not probe("sandbox", str(tmp_path)).available:
        pytest.skip("NORUN: no sandbox here")
    repo = make_repository(tmp_path / "repo", {"reach.py": CLIENT, "through.py": THROUGH_GATEWAY})
    mine, theirs = tmp_path / "mine.jsonl", tmp_path / "theirs.jsonl"
    script = tmp_path / "script"
    direct = (
        "python3 -c 'import socket,sys; h,_,p=sys.argv[1].rpartition(chr(58)); socket.create_connection((h,int(p)),9)'"
    )
    with endpoint(theirs, "text-only") as other, echo() as here:
        tries = f"python3 reach.py {other} {here}; python3 through.py {other}; {direct} {other} || echo direct $?"
        steps = f"  - bash: {json.dumps(f'({tries}) > tried.txt 2>&1; true')}\n  - say: done\n"
        script.write_text(f"schema: inspan.rehearsal/1\nname: reaching\nsteps:\n{steps}")
        with endpoint(mine, script.read_text()) as own:
            tables = "".join(
                f'[providers.{name}]\nbase_url = "http://{place}"\nwires = ["openai-chat"]\n'
                for name, place in (("mine", own), ("theirs", other))
            )
            config = f'{tables}[egress]\nprivate = ["{here}"]\n[backends."bare@mine/any"]\negress = ["{here}"]\n'
            Path(os.environ["INSPAN_CONFIG"]).write_text(config)
            flags = ("--repo", str(repo), "--backend", "bare@mine/any", "--sandbox", "sandbox")
            found = run("look", *flags, "--check", "it=grep -q 'direct 1' tried.txt")
            assert (found.status, found.document["reason"]) == (0, "verified"), found
            received = [line for line in read_journal(mine) if line.kind == "inference"]
            assert received and all(line.state == "done" for line in received)
        assert not theirs.exists() or read_journal(theirs) == []
        log = tried(found.document["isolation"]["connections"])
        assert log == {other: ("refused", "not_granted"), here: ("allowed", "granted")}
        assert found.document["usage"]["requests"] == len(received)
        urllib.request.urlopen(f"http://{other}/v1/models", timeout=30).close()  # control: it is there for others
        assert len(read_journal(theirs)) == 1


@pytest.mark.long
def test_without_a_grant_the_same_job_reaches_nothing(tmp_path: Path) -> None:
    """Control, and the default: no proxy, no address of one."""
    if not probe("sandbox", str(tmp_path)).available:
        pytest.skip("NORUN: no sandbox here")
    repo = make_repository(tmp_path / "repo", {"reach.py": CLIENT})
    scenario = tmp_path / "scenario.yaml"
    with echo() as here:
        Path(os.environ["INSPAN_CONFIG"]).write_text(f'[egress]\nprivate = ["{here}"]\n')
        scenario.write_text(
            "schema: inspan.rehearsal/1\nname: reaching\nsteps:\n"
            f"  - bash: (env | grep -i _proxy; python3 reach.py {here}) > reached.txt\n  - say: done\n"
        )
        flags = ("--repo", str(repo), "--backend", "bare@rehearsal/any", "--rehearse", str(scenario))
        found = run(
            "look",
            *flags,
            "--sandbox",
            "sandbox",
            "--check",
            f"it=grep -qx '{here} ConnectionRefusedError ' reached.txt",
        )
        assert found.document["reason"] == "verified", found
        assert found.document["isolation"]["egress"] == "gateway"
        assert found.document["isolation"]["connections"] is None
        want = ("--egress", here, "--setup", "python3 reach.py needed.example:443 | grep 200")
        wanting = run("look", *flags, "--sandbox", "sandbox", *want).document
        assert wanting["reason"] == "setup_failed" and "It asked for needed.example:443." in wanting["detail"], wanting
        assert [tried(one) for one in wanting["isolation"]["setup_connections"]] == [
            {"needed.example:443": ("refused", "not_granted")}
        ]
        refused = inspan("run", "look", *flags, "--sandbox", "none", "--egress", here)
    assert refused.returncode != 0 and "granted destinations" in refused.stderr


ASK_PIP = """
from pip._internal.cli.cmdoptions import index_url
from pip._internal.configuration import Configuration
found = Configuration(isolated=False)
found.load()
known = dict(found.items())
print(next((known[key] for key in (":env:.index-url", "install.index-url", "global.index-url") if key in known), index_url().default))
"""


def index() -> tuple[list[str], list[str]]:
    """Where the pip of this machine fetches from, and which of it is not of the public internet; NORUN without it."""
    told = subprocess.run([sys.executable, "-c", ASK_PIP], capture_output=True, text=True)
    if told.returncode != 0:
        pytest.skip("NORUN: pip does not say where it fetches from")
    url = told.stdout.strip()
    place = urlsplit(url)
    if place.scheme != "https" or place.hostname is None or place.username:
        pytest.skip("NORUN: pip's index is not an https address without a login")
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/{WHEEL}/", timeout=60) as answer:
            page = answer.read(1 << 20).decode()
            files = {urlsplit(urljoin(answer.url, link)) for link in re.findall(r'href="([^"]+)"', page)}
    except OSError as error:
        pytest.skip(f"NORUN: pip's index cannot be reached: {error}")
    hosts = {(place.hostname, place.port or 443), *((f.hostname or "", f.port or 443) for f in files)}
    granted = [f"{host}:{port}" for host, port in sorted(hosts)]
    inwards = [
        f"{host}:{port}" for host, port in sorted(hosts)
        if first_refused(ipaddress.ip_address(row[4][0]) for row in socket.getaddrinfo(host, port))
    ]  # fmt: skip
    return granted, inwards


@pytest.mark.long
def test_set_up_installs_from_the_index_through_the_proxy(tmp_path: Path) -> None:
    if not probe("sandbox", str(tmp_path)).available:
        pytest.skip("NORUN: no sandbox here")
    granted, inwards = index()
    repo = make_repository(tmp_path / "repo", {"README.md": "hello\n"})
    certificates = [
        name for name in ("PIP_CERT", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE") if name in os.environ
    ]
    config = f"pass_env = {json.dumps(certificates)}\n[egress]\nprivate = {json.dumps(inwards)}\n"
    Path(os.environ["INSPAN_CONFIG"]).write_text(config)
    install = f"python3 -m pip install --disable-pip-version-check --no-input --target lib {WHEEL}"
    flags = ("--repo", str(repo), "--backend", "bare@rehearsal/any", "--rehearse", "write-file", "--sandbox", "sandbox")
    flags += ("--setup", install, "--check", f"there=test -f lib/{WHEEL}/__init__.py")
    found = run("write", *flags, *(word for target in granted for word in ("--egress", target)), timeout=300)
    assert (found.status, found.document["reason"]) == (0, "verified"), found
    (log,) = found.document["isolation"]["setup_connections"]
    print(f"{log['connections']} connections, {log['sent']} bytes out, {log['received']} in, {tried(log)}")
    assert {decision for decision, _ in tried(log).values()} == {"allowed"} and log["received"] > 1000
    alone = run("write", *flags, timeout=300)  # control: the same without a grant
    assert (alone.document["verdict"], alone.document["reason"]) == ("failed", "setup_failed"), alone
    wrong = run("write", *flags, "--egress", "index.invalid:443", timeout=300)
    assert wrong.document["reason"] == "setup_failed"
    (log,) = wrong.document["isolation"]["setup_connections"]
    assert {why for _, why in tried(log).values()} == {"not_granted"} and log["received"] == 0
