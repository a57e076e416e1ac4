"""From a request to one confined call of a harness: where things stand inside, the environment, the files."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path
from typing import NamedTuple

from inspan.attempt.contract import AttemptRequest
from inspan.attempt.files import place
from inspan.errors import HarnessError
from inspan.harness.contract import Harness, Installed, Launch, LaunchRequest
from inspan.sandbox.contract import GATEWAY_PORT, Confinement
from inspan.sandbox.levels import home_inside, workspace_inside
from inspan.spec.levels import promises
from inspan.spec.paths import AttemptPaths

REPORT = ".inspan/report.json"
"""Where the agent may leave its report, below HOME."""

FILES = ".inspan/files"
"""Where the adapter's files stand, below HOME."""


class Call(NamedTuple):
    """One call, ready to be confined.

    Attributes:
        listener: the runner's own listening socket where the level has no network of its own.
        base_url: how the inside reaches the gateway.
        token: what the gateway must be shown; None where nobody else can reach it.
    """

    confinement: Confinement
    launch: Launch
    installed: Installed
    base_url: str
    listener: socket.socket | None
    token: str | None


def locate(harness: Harness, request: AttemptRequest, paths: AttemptPaths) -> Installed:
    """The harness program.

    Raises:
        HarnessError: (``spawn_failed``) when it is not there.
    """
    prefix = paths.root.parent.parent / "harness"
    installed = harness.locate(request.path, str(prefix))
    if installed is None:
        raise HarnessError(
            f"the program of harness {harness.name!r} was not found",
            where=f"{prefix}, PATH={request.path}",
            do=f"install it (inspan harness install {harness.name}) or put it on PATH",
            reason="spawn_failed",
        )
    return installed


def call(harness: Harness, request: AttemptRequest, paths: AttemptPaths) -> Call:
    """Build the call. The caller owns ``listener``.

    Raises:
        HarnessError: when the program is not there.
    """
    installed = locate(harness, request, paths)
    token = secrets.token_urlsafe(24)
    shared = not promises(request.level).own_network  # then the listener is ours, and a token keeps others out
    listener = _listen() if shared else None
    port = listener.getsockname()[1] if listener is not None else GATEWAY_PORT
    base_url = f"http://127.0.0.1:{port}"
    workspace, home = workspace_inside(request.level, request.plan), home_inside(request.level, request.plan)
    launch = harness.launch(
        LaunchRequest(
            installed=installed,
            prompt=request.prompt,
            model=request.model,
            wire=request.upstream.wire,  # type: ignore[arg-type]  # the gateway's contract keeps the word open
            base_url=base_url,
            token=token,
            workspace_inside=workspace,
            home_inside=home,
            files_inside=f"{home}/{FILES}",
            report_inside=f"{home}/{REPORT}",
            read_only=request.read_only,
            session=request.session,
        )
    )
    environment = {**request.env, **launch.env, "INSPAN_REPORT": f"{home}/{REPORT}"}
    environment.setdefault("PATH", request.path)
    confinement = Confinement(
        plan=request.plan,
        argv=launch.argv,
        env=environment,
        tools=request.tools + installed.binds,
        cwd_inside=workspace,
        ports=0 if shared else 1,
        reachable=(port,) if shared else (),
        limits=request.limits,
        egress=request.egress,
        private=request.private,
    )
    return Call(confinement, launch, installed, base_url, listener, token if shared else None)


def lay_out(request: AttemptRequest, launch: Launch) -> None:
    """Put the adapter's files and the report's directory into HOME.

    Raises:
        OSError: when something stands in the way.
    """
    owner = (request.plan.uid, request.plan.gid)
    Path(request.plan.home).mkdir(mode=0o700, parents=True, exist_ok=True)
    place(request.plan.home, str(Path(REPORT).parent), None, owner)
    place(request.plan.home, FILES, None, owner)
    for relative, data in launch.files.items():
        place(request.plan.home, f"{FILES}/{relative}", data, owner)


def _listen() -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return listener
