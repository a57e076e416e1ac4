"""Lock files of drivers: who lives, who is dead, and that one taker only gets the dead one's lock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from inspan.engine import leases
from inspan.spec.paths import state

HOLD = (
    "import sys, time\nfrom inspan.engine import leases\nfrom inspan.spec.paths import state\n"
    "lease = leases.take(state(), 'xother')\nprint('held', flush=True)\ntime.sleep(60)"
)


def held() -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"held\n"
    return process


def test_a_live_driver_is_not_taken_and_a_killed_one_is() -> None:
    process = held()
    try:
        assert leases.alive(state(), "xother") and list(leases.dead(state())) == []
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not leases.alive(state(), "xother")
    found = list(leases.dead(state()))
    assert [lease.executor for lease in found] == ["xother"]
    assert list(leases.dead(state())) == [], "a second taker finds it held"
    found[0].release()
    assert not list(state().executors.glob("*.lock"))


def test_a_stopped_driver_is_not_dead() -> None:
    process = held()
    try:
        process.send_signal(signal.SIGSTOP)
        assert leases.alive(state(), "xother") and list(leases.dead(state())) == []
    finally:
        process.kill()
        process.wait()


def test_an_abandoned_lock_is_found_and_a_released_one_is_not() -> None:
    leases.take(state(), "xa").abandon()
    leases.take(state(), "xb").release()
    (lease,) = leases.dead(state())
    assert lease.executor == "xa"
    lease.abandon()
    assert [again.executor for again in leases.dead(state())] == ["xa"]


def test_a_lock_file_that_vanished_between_open_and_lock_is_not_taken(monkeypatch) -> None:
    leases.take(state(), "xa").abandon()
    real = leases.fcntl.flock

    def late(descriptor: int, operation: int) -> None:
        path = state().executors / "xa.lock"
        if path.exists():
            path.unlink()  # another taker was faster
        real(descriptor, operation)

    monkeypatch.setattr(leases.fcntl, "flock", late)
    assert list(leases.dead(state())) == []


def test_a_lock_is_never_seen_under_its_name_before_it_is_locked(monkeypatch) -> None:
    seen: list[bool] = []
    real = leases.fcntl.flock

    def look(descriptor: int, operation: int) -> None:
        seen.append((state().executors / "xa.lock").exists())
        real(descriptor, operation)

    monkeypatch.setattr(leases.fcntl, "flock", look)
    leases.take(state(), "xa").release()
    assert seen == [False]


def test_waiting_for_a_driver_that_is_gone_returns_at_once() -> None:
    leases.wait_until_dead(state(), "xnobody", 60.0)
    lease = leases.take(state(), "xa")
    leases.wait_until_dead(state(), "xa", 0.2)
    assert leases.alive(state(), "xa")
    lease.release()


def test_locks_are_private() -> None:
    lease = leases.take(state(), "xa")
    assert os.stat(lease.path).st_mode & 0o777 == 0o600 and os.stat(state().executors).st_mode & 0o777 == 0o700
    lease.release()
