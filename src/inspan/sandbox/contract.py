"""What a sandbox driver is asked and what it gives back. One conformance suite holds for every driver."""

from __future__ import annotations

import socket
from typing import Any, Protocol

import msgspec

from inspan.spec.limits import Limits as Limits
from inspan.workspace.plan import Bind, MountPlan

GATEWAY_PORT = 8080
"""Port of the model gateway inside a sandbox with its own network namespace; at other levels the driver chooses one."""

EGRESS_PORT = 8081
"""Port of the egress proxy inside, where destinations are granted."""


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """One process tree to be started.

    Attributes:
        plan: the mount plan.
        argv: the program and its arguments as seen inside; holds no secret and no prompt.
        env: the whole environment inside (the caller builds it from an allow-list); the driver adds HOME, TMPDIR, PATH
            defaults only where missing.
        tools: read-only binds of the tools table.
        cwd_inside: working directory inside; the workspace's root when None.
        ports: number of listening sockets wanted inside on loopback (0 or 1 in this release).
        reachable: ports of the host's loopback that the inside may connect to, at a level that has no network of its
            own: listeners that the caller made before the start.
        limits: limits of the tree.
        egress: destinations the user granted, ``host:port`` in normal form (``spec.egress``). With any, a second
            listener is made inside, and the environment names it as the proxy for https. Who starts the tree serves it
            (``supervise.egress``); a level that holds no network refuses.
        private: those of them that may lead to an address that is not global.
    """

    plan: MountPlan
    argv: tuple[str, ...]
    env: dict[str, str]
    tools: tuple[Bind, ...] = ()
    cwd_inside: str | None = None
    ports: int = 1
    reachable: tuple[int, ...] = ()
    limits: Limits = Limits()
    egress: tuple[str, ...] = ()
    private: tuple[str, ...] = ()


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """What a probe showed, by doing it.

    Attributes:
        level: the level probed.
        available: whether a process can be confined at this level here.
        detail: for people: what was proved, or why not.
        enable: the one command that would enable what is missing, None when nothing is missing or nothing helps.
        evidence: facts (namespace inodes inside and outside, uid inside, CapEff, seccomp mode ...).
    """

    level: str
    available: bool
    detail: str
    enable: str | None = None
    evidence: dict[str, Any] = msgspec.field(default_factory=dict)


class Confined(Protocol):
    """A started tree. Started but *held*: nothing of ``argv`` runs before ``release``."""

    pid: int
    """Host pid of the outermost process of the tree."""
    listeners: list[socket.socket]
    """Listening sockets inside the sandbox's network, owned by the caller from now on."""
    base_url: str
    """How the inside reaches ``listeners[0]``: ``http://127.0.0.1:PORT``."""
    egress_listener: socket.socket | None
    """Where the egress proxy is to be served, owned by the caller from now on; None where no egress is granted."""
    egress_token: str | None
    """What the proxy must be shown, where others than the tree can reach its listener."""
    held: dict[str, str]
    """Which mechanism holds each limit: ``{"memory": "cgroup v1", "processes": "rlimit", ...}``."""
    proof: dict[str, Any]
    """What was seen of the tree from outside, held and at its release; empty where nothing is confined."""
    exceeded: str | None
    """The limit that ended the tree, by its field's name; known after ``wait``."""
    orphans: tuple[str, ...]
    """Command names of processes that had outlived the program and were ended with the tree; known after ``wait``."""
    executed: bool | None
    """Whether the program was executed at all, for a tree that ended by itself; None while unknown."""

    def release(self) -> None:
        """Let the program run.

        Raises:
            SandboxError: the program was seen without its confinement; the tree is being killed.
        """

    def kill(self) -> None:
        """End the whole tree at once. Idempotent; returns before the tree is dead."""

    def interrupt(self) -> None:
        """Ask the program to end (SIGTERM where that reaches it). Best effort."""

    def wait(self, timeout: float | None = None) -> int | None:
        """Exit status of the program once nothing of the tree is alive, None after ``timeout`` seconds."""

    def survivors(self) -> list[int]:
        """Host pids that belonged to the tree and still live after ``wait``: the orphan census. Empty is the norm."""

    def close(self) -> None:
        """Undo everything ``start`` acquired (cgroups, mounts, descriptors). Idempotent; kills first."""


class Driver(Protocol):
    """One level of confinement."""

    level: str

    def probe(self, state_dir: str) -> Proof:
        """Show by doing whether this level works here, with ``state_dir`` holding the workspaces."""

    def start(self, confinement: Confinement, *, stdin: int, stdout: int, stderr: int) -> Confined:
        """Start the tree, held, with the three descriptors as its standard streams.

        Must be called from a thread that outlives the tree (parent-death signals follow the thread).

        Raises:
            SandboxError: when the level cannot be had; nothing is left behind.
            HarnessError: (``spawn_failed``) when the program cannot be executed.
        """
