"""Level ``none``: a plain process in the plan's directory. No boundary at all; only its end is held to.

A read-only job is refused here: nothing stops the program from writing, and permissions it could change back are not a
mechanism.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import uuid
from typing import Any

from inspan.errors import HarnessError, SandboxError
from inspan.sandbox import census, cgroups, maker, spawning
from inspan.sandbox.contract import Confinement, Proof
from inspan.sandbox.limits import Watch, ended, mechanisms, written_places
from inspan.sandbox.maker import MARKER

_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
_PATIENCE = 10.0


def become_subreaper() -> None:
    """Let orphans of our own children fall back to this process. For the runner: the net below the keeper's net."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


class NoneDriver:
    """No confinement: debugging, trusted programs, rehearsals where nothing else is to be had."""

    level = "none"

    def probe(self, state_dir: str) -> Proof:
        """See ``Driver.probe``. Always there; isolates nothing."""
        return Proof(level="none", available=os.path.isdir("/proc/self"), detail="not isolated: a plain process")

    def start(self, confinement: Confinement, *, stdin: int, stdout: int, stderr: int) -> KeptTree:
        """See ``Driver.start``."""
        plan = confinement.plan
        if plan.kind != "clone":
            raise SandboxError("level none cannot stack layers; it needs a clone", where="the mount plan")
        if confinement.egress:
            raise SandboxError(
                "level none has the host's network and cannot keep a job to granted destinations",
                do="use --sandbox sandbox, or grant no egress",
            )
        if plan.read_only:
            raise SandboxError(
                "level none cannot keep a job from writing", do="use --sandbox sandbox for a read-only job"
            )
        spec = specification(confinement, {"PATH": _DEFAULT_PATH, "TMPDIR": "/tmp"})
        listener = spawning.host_listener() if confinement.ports else None
        return launch(confinement, spec, (stdin, stdout, stderr), listener)


class KeptTree:
    """A tree below a keeper. See ``Confined``, and ``NamespacedTree`` for the further attributes."""

    def __init__(
        self, process: subprocess.Popen[bytes], control: socket.socket, marker: str, confinement: Confinement
    ) -> None:
        self.pid = process.pid
        self.listeners: list[socket.socket] = []
        self.egress_listener: socket.socket | None = None
        self.egress_token: str | None = None
        self.base_url = ""
        self.held: dict[str, str] = {}
        self.exceeded: str | None = None
        self.orphans: tuple[str, ...] = ()
        self.executed: bool | None = None
        self.proof: dict[str, Any] = {}
        self._process, self._control, self._marker = process, control, marker.encode()
        self._pidfd = os.pidfd_open(process.pid)
        self._group = cgroups.group(confinement.limits)
        self._watch = Watch(self, confinement.limits, self._group, written_places(confinement.plan))
        self._group.join(process.pid)
        self._seen: set[tuple[int, int]] = set()
        self._exit: int | None = None
        self._done = self._closed = self._killed = self._released = False

    def hold(self, seconds: float) -> dict[str, Any]:
        """Have the keeper make the process that will become the program, confined; what was found in it.

        Raises:
            SandboxError: the keeper died, or did not answer in time.
        """
        self._order(b"h")
        answer = self._control.recv(65536) if ended(self._control.fileno(), seconds) else b""
        if not answer:
            self._process.kill()
            raise SandboxError("the process that becomes the program could not be made", where="the keeper")
        found: dict[str, Any] = json.loads(answer)
        return found

    def release(self) -> None:
        """See ``Confined.release``."""
        if not self._released:
            self._released = True
            self._watch.start()
            self._order(b"g")

    def kill(self) -> None:
        """See ``Confined.kill``. The keeper ends the tree and then itself; killed first, it could not."""
        self._killed = True
        self._order(b"k")

    def interrupt(self) -> None:
        """See ``Confined.interrupt``."""
        self._order(b"t")

    def wait(self, timeout: float | None = None) -> int | None:
        """See ``Confined.wait``."""
        until = None if timeout is None else time.monotonic() + timeout
        if not self._done:
            if not ended(self._pidfd, timeout):
                return None
            self._process.wait()
            # The keeper can have been killed by what it kept: then the rest is ended from here.
            give_up = time.monotonic() + _PATIENCE
            while (left := self._left()) and time.monotonic() < give_up:
                self._end(left)
                if until is not None and time.monotonic() > until and self._left():
                    return None
            self._finish()
        return self._exit

    def survivors(self) -> list[int]:
        """See ``Confined.survivors``: by parentage, by the marker in the environment, and whoever was ever seen."""
        return [process.pid for process in self._left()]

    def close(self) -> None:
        """See ``Confined.close``."""
        if self._closed:
            return
        self.kill()
        self.wait()
        self._closed = True
        self._control.close()
        os.close(self._pidfd)
        for listener in (*self.listeners, self.egress_listener):
            if listener is not None:
                listener.close()

    # What the watch asks.

    def members(self) -> list[census.Process]:
        """Everything below the keeper."""
        found = [] if self._done else census.descendants(self.pid)
        self._seen = self._seen | {(process.pid, process.started) for process in found}  # read by another thread
        return found

    def main_ended(self, seconds: float) -> bool:
        """The keeper ends with the program and takes its own census."""
        return ended(self._pidfd, seconds)

    def on_main_end(self) -> None:
        """Nothing: see ``main_ended``."""

    def _order(self, order: bytes) -> None:
        try:
            self._control.send(order)
        except OSError:
            pass

    def _left(self) -> list[census.Process]:
        table = census.processes()
        mine = {process.pid for process in census.descendants(self.pid, table)}
        mine |= {process.pid for process in census.marked(self._marker, table)}
        mine |= {*self._group.members()} - {self.pid}
        mine |= {pid for pid, started in self._seen if pid in table and table[pid].started == started}
        return [table[pid] for pid in sorted(mine) if pid in table and not table[pid].zombie]

    def _end(self, left: list[census.Process]) -> None:
        self._group.kill()
        self.orphans = tuple(sorted({*self.orphans, *census.names(left)})) if not self._killed else self.orphans
        census.kill(left)
        time.sleep(0.005)
        for process in left:
            try:
                os.waitpid(process.pid, os.WNOHANG)
            except ChildProcessError:
                pass

    def _finish(self) -> None:
        self._done = True
        self._watch.finish()
        self.exceeded = self._watch.exceeded
        report: dict[str, Any] = {}
        self._control.setblocking(False)
        try:
            report = json.loads(self._control.recv(65536) or b"{}")
        except OSError:
            pass
        self.executed = self._released and "error" not in report
        self._exit = report.get("exit")
        if self._exit is None:
            self._exit = self._process.returncode or -signal.SIGKILL
        self.orphans = tuple(sorted({*self.orphans, *report.get("orphans", ())}))
        self._group.remove()


def specification(confinement: Confinement, defaults: dict[str, str]) -> dict[str, Any]:
    """What the keeper is to run: the caller's environment over ``defaults``, HOME always the scratch one.

    Raises:
        HarnessError: (``spawn_failed``) the program is not there.
    """
    env = defaults | confinement.env | {"HOME": confinement.plan.home}
    program, cwd, limits = confinement.argv[0], _cwd(confinement), confinement.limits
    found = shutil.which(os.path.join(cwd, program) if "/" in program else program, path=env["PATH"])
    if found is None:
        raise HarnessError(
            f"{program} cannot be executed", where=f"PATH: {env['PATH']}", do="install it", reason="spawn_failed"
        )
    # The number of processes is counted by the kernel per user, not per tree: no resource limit for it here.
    rlimits = {"CORE": 0, "FSIZE": limits.file_size, "NOFILE": limits.open_files}
    return {
        "program": found,
        "argv": list(confinement.argv),
        "env": env | {MARKER: f"{maker.identity()}-{uuid.uuid4().hex}"},
        "cwd": cwd,
        "rlimits": {name: value for name, value in rlimits.items() if value is not None},
    }


def _cwd(confinement: Confinement) -> str:
    plan, cwd = confinement.plan, confinement.cwd_inside
    if cwd is None:
        return plan.directory
    return plan.directory + cwd.removeprefix(plan.root_inside) if cwd.startswith(plan.root_inside) else cwd


def launch(
    confinement: Confinement,
    spec: dict[str, Any],
    streams: tuple[int, int, int],
    listener: socket.socket | None,
) -> KeptTree:
    """Start a keeper with its specification; nothing of the program runs before the release."""
    process, control = spawning.spawn("keeper", spec, streams)
    tree = KeptTree(process, control, f"{MARKER}={spec['env'][MARKER]}", confinement)
    tree.held = mechanisms(confinement.limits, tree._group.held, processes="watch")
    if listener is not None:
        tree.listeners = [listener]
        tree.base_url = spawning.address(tree.listeners)
    return tree
