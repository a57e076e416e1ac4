"""One execution: sandbox, gateway and harness held together, watched and ended. Runs in the runner's main thread.

Order: listener and call are built, the tree is started *held*, its confinement is proved from outside, the gateway
serves, and only then the program runs. At the end the tree is dead before anything it left is read.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal, NamedTuple

import msgspec

from inspan.attempt import census
from inspan.attempt.contract import AttemptRequest, End, TerminalRecord
from inspan.attempt.eventlog import EventLog, scrubbed
from inspan.attempt.files import take
from inspan.attempt.prepare import REPORT, Call, call, lay_out
from inspan.attempt.serving import MakeGateway, Serving
from inspan.attempt.streams import Streams
from inspan.errors import HarnessError, SandboxError, UnknownName
from inspan.harness.contract import Ending, Event, Harness, Reader
from inspan.outcome.records import EgressRecord
from inspan.redact import Redactor
from inspan.sandbox.contract import Confined, Driver
from inspan.sandbox.proof import require_level
from inspan.spec.levels import promises
from inspan.spec.paths import AttemptPaths
from inspan.supervise.egress import EgressService, serve_egress
from inspan.supervise.watch import Limits, Stop, Watch
from inspan.times import timestamp

TICK = 0.05
"""Seconds between two looks at the clock and the cancel file."""

INTERRUPT_GRACE = 2.0
"""Seconds between asking the tree to end and killing it."""

KILL_PATIENCE = 15.0
"""Seconds for a killed tree to be gone."""


class Secrets(msgspec.Struct, frozen=True, kw_only=True):
    """What the driver hands over by pipe, never by file, argument or environment.

    Attributes:
        attempt: the attempt's directory, for a runner that was started ahead of it.
        credential: for the provider, None for a rehearsal.
        redact: further values that must not be stored (secrets of the user's environment).
    """

    attempt: str | None = None
    credential: str | None = None
    redact: tuple[str, ...] = ()


class Parts(NamedTuple):
    """The rooms below, as the runner uses them."""

    driver: Callable[[str], Driver]
    harness: Callable[[str, dict[str, Any] | None], Harness]
    gateway: MakeGateway


def remaining(deadline: str) -> float:
    """Seconds until an RFC 3339 time, by the wall clock."""
    return datetime.fromisoformat(deadline).timestamp() - time.time()


class Execution:
    """Everything between ``request.json`` and ``record.json``.

    Args:
        cancelled: tells whether a person wants it to end.
    """

    def __init__(
        self,
        paths: AttemptPaths,
        request: AttemptRequest,
        secrets: Secrets,
        parts: Parts,
        cancelled: Callable[[], bool],
    ) -> None:
        self._paths, self._request, self._parts, self._cancelled = paths, request, parts, cancelled
        self._secrets = secrets
        known = [*secrets.redact, *([secrets.credential] if secrets.credential else [])]
        self._redactor = Redactor(known)
        self._started = timestamp()
        self._facts: dict[str, Any] = {}
        self._call: Call | None = None
        self._streams: Streams | None = None
        self._serving: Serving | None = None
        self._egress: EgressService | None = None
        self._undo = contextlib.ExitStack()

    def run(self) -> TerminalRecord:
        """Run to the end. Everything acquired is given back."""
        with self._undo:
            self._undo.callback(census.reap)
            return self._guarded()

    def _guarded(self) -> TerminalRecord:
        try:
            if self._cancelled():
                return self._record("cancelled", "cancelled before the harness was started")
            if remaining(self._request.deadline) <= 0:
                return self._record("deadline", "the deadline had passed before the harness was started")
            return self._run()
        except (HarnessError, UnknownName) as e:
            return self._record("spawn_failed", str(e))
        except SandboxError as e:
            return self._record("sandbox_unavailable", str(e))
        except OSError as e:
            if e.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            return self._record("disk_full", f"the state directory's disk is full: {e}")

    def _run(self) -> TerminalRecord:
        request = self._request
        tables = {request.harness: request.harness_config} if request.harness_config is not None else None
        harness = self._parts.harness(request.harness, tables)
        reader = harness.reader()
        self._call = call(harness, request, self._paths)
        self._facts["harness_version"] = self._call.installed.version
        confined = self._start(reader)
        now = time.monotonic()
        watch = Watch(
            Limits(stall=request.stall, request_stall=request.request_stall, output=request.limits.output_bytes),
            now=now,
            deadline=now + remaining(request.deadline),
            liveness=harness.liveness,
        )
        confined.release()
        self._facts["proof"] = dict(confined.proof)
        stop = self._supervise(confined, reader, watch)
        return self._end(confined, reader, watch, stop)

    def _start(self, reader: Reader) -> Confined:
        """Start the tree, held and proved by its driver; serve the gateway; begin to feed the prompt."""
        assert self._call is not None
        if self._call.listener is not None:
            self._undo.callback(self._call.listener.close)
        lay_out(self._request, self._call.launch)
        log = EventLog(self._paths.events, self._redactor)
        self._undo.callback(log.close)
        self._streams = Streams(
            (self._paths.stdout, self._paths.stderr),
            log,
            reader,
            self._redactor,
            feed=self._call.launch.stdin,
            cap=self._request.limits.output_bytes,
        )
        self._undo.callback(self._streams.close)
        stdin, stdout, stderr = self._streams.child
        driver = self._parts.driver(self._request.level)
        confined = driver.start(self._call.confinement, stdin=stdin, stdout=stdout, stderr=stderr)
        self._undo.callback(confined.close)
        self._streams.handed_over()
        census.write(self._paths, census.describe(confined.pid))
        require_level(self._request.level, self._request.minimum, confined.proof)
        self._facts["held"] = dict(confined.held)
        self._serve(confined)
        self._streams.feed_prompt()
        return confined

    def _serve(self, confined: Confined) -> None:
        assert self._call is not None
        made = self._call
        if made.listener is None and confined.base_url != made.base_url:
            raise SandboxError(f"the gateway is at {confined.base_url}, expected {made.base_url}")
        listener = made.listener if made.listener is not None else confined.listeners[0]
        self._serving = Serving(
            lambda touch: self._parts.gateway(
                self._request.upstream,
                credential=self._secrets.credential,
                journal=self._paths.wire,
                redactor=self._redactor,
                token=made.token,
                on_activity=touch,
            ),
            listener,
        )
        self._undo.callback(self._serving.close)
        self._facts["listener"] = made.base_url
        self._egress = serve_egress(confined, made.confinement)
        if self._egress is not None:
            self._undo.callback(self._egress.close)

    def _supervise(self, confined: Confined, reader: Reader, watch: Watch) -> Stop | None:
        """Until the outermost process ends by itself (None) or has to be ended."""
        assert self._streams is not None
        pidfd = os.pidfd_open(confined.pid)
        try:
            self._streams.watch(pidfd)
            known = not promises(self._request.level).own_processes
            while True:
                stop = self._turn(reader, watch, TICK)
                if confined.wait(0) is not None or _ended(pidfd):
                    return None
                if stop is not None:
                    return stop
                if not known:  # the pid namespace exists only once the program runs
                    tree = census.describe(confined.pid)
                    known = tree.pid_namespace is not None
                    census.write(self._paths, tree)
        finally:
            self._streams.unwatch(pidfd)
            os.close(pidfd)

    def _turn(self, reader: Reader, watch: Watch, timeout: float) -> Stop | None:
        """One look at everything."""
        assert self._streams is not None
        assert self._serving is not None
        try:
            events = self._streams.turn(timeout)
        except OSError as e:
            if e.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            watch.exceeded("disk_full", f"the output could not be stored: {e}")
            events = []
        now = time.monotonic()
        for event in events:
            watch.event(now, event.kind, _content(event))
        ended = self._serving.touched()
        if ended is not None:
            watch.wire(now, ended)
        watch.requests(now, self._serving.in_flight())
        watch.output(self._streams.total)
        if reader.terminal():
            watch.terminal(now)
        if self._cancelled():
            watch.cancel()
        return watch.verdict(now)

    def _end(self, confined: Confined, reader: Reader, watch: Watch, stop: Stop | None) -> TerminalRecord:
        """End the tree, take what is there, and say how it ended."""
        assert self._streams is not None
        in_time = watch.terminal_seen
        if stop is not None:
            if stop.reason not in ("output_capped", "disk_full"):
                self._interrupt(confined, reader, watch)
            confined.kill()
        status = _ended_status(confined)
        try:
            self._streams.finish()
        except OSError as e:
            if e.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            stop = stop or Stop("disk_full", f"the output could not be stored: {e}")
        unexecuted = stop is None and confined.exceeded is None and confined.executed is False
        if stop is None:
            in_time = reader.terminal()
            stop = _ended_by(confined, in_time)
        said = scrubbed(msgspec.to_builtins(reader.finish(status if stop is None else None)), self._redactor)
        ending = msgspec.convert(said, Ending)
        self._facts.update(
            exit_status=status,
            ending=ending,
            message=ending.message,
            report=self._report(),
            survivors=tuple(confined.survivors()),
            orphans=confined.orphans,
            egress=self._reached(),
            output_bytes=self._streams.total,
            skipped=reader.skipped + self._streams.failures,
        )
        if unexecuted:
            return self._record("spawn_failed", "the program could not be executed")
        return self._record(*_how(stop, in_time, ending))

    def _interrupt(self, confined: Confined, reader: Reader, watch: Watch) -> None:
        """Ask the tree to end and listen a little longer: a terminal record may still come."""
        confined.interrupt()
        until = time.monotonic() + INTERRUPT_GRACE
        while time.monotonic() < until and confined.wait(0) is None:
            self._turn(reader, watch, TICK)

    def _reached(self) -> EgressRecord | None:
        """What the egress proxy decided; the tree is dead, so nothing comes after it."""
        if self._egress is None:
            return None
        self._egress.close()
        return msgspec.convert(scrubbed(msgspec.to_builtins(self._egress.record()), self._redactor), EgressRecord)

    def _report(self) -> str | None:
        data = take(self._request.plan.home, REPORT)
        return None if data is None else self._redactor.text(data.decode("utf-8", "replace"))

    def _record(self, end: End, detail: str | None) -> TerminalRecord:
        return TerminalRecord(
            attempt=self._request.attempt,
            end=end,
            started=self._started,
            ended=timestamp(),
            detail=None if detail is None else self._redactor.text(detail),
            **self._facts,
        )


def _content(event: Event) -> str:
    return event.text + ("\0" + msgspec.json.encode(event.data, order="sorted").decode() if event.data else "")


def _ended(pidfd: int) -> bool:
    """Whether the process has ended, without taking its status from the driver."""
    return bool(select.select([pidfd], [], [], 0)[0])


def _ended_status(confined: Confined) -> int | None:
    """Wait until nothing of the tree lives. One that does not end although its program has is killed."""
    status = confined.wait(KILL_PATIENCE)
    if status is None:
        confined.kill()
        status = confined.wait(KILL_PATIENCE)
    census.reap()
    return status


def _ended_by(confined: Confined, in_time: bool) -> Stop | None:
    """What the sandbox says about an end that we did not ask for."""
    if confined.exceeded is None or in_time:
        return None
    reason: Literal["disk_full", "limit"] = "disk_full" if confined.exceeded == "workspace_bytes" else "limit"
    return Stop(reason, f"the limit {confined.exceeded} was exceeded")


def _how(stop: Stop | None, in_time: bool, ending: Ending) -> tuple[End, str | None]:
    """How it ended. Evidence beats the clock: with a terminal record that was there in time a run has finished; one
    that came because we asked the program to end proves nothing."""
    if stop is None:
        return "exited", None
    if in_time and stop.reason in ("deadline", "stalled", "finished"):
        return "finished", stop.detail
    if stop.reason == "stalled" and ending.asked is not None:
        return "stalled", f"the harness asked a person who is not there: {ending.asked}"
    return stop.reason, stop.detail
