"""The adapter contract: acquire, launch, read.

An adapter is a small class with declared properties and three verbs. It never starts a process itself and never sees a
credential: it says where the program is, how to call it, and what its output means. What it says is a *claim*; the gate
and the wire decide.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

import msgspec

from inspan.workspace.plan import Bind

Wire = Literal["anthropic", "openai-chat", "openai-responses"]
"""A model wire protocol: Anthropic Messages, OpenAI Chat Completions, OpenAI Responses."""

EventKind = Literal["start", "text", "tool", "tool_result", "error", "usage", "turn", "notice", "ask", "end", "other"]


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One normalised event of a harness's output.

    Attributes:
        kind: what happened. ``ask`` means the harness waits for a person.
        text: for people; at most a few hundred characters.
        data: kind-specific facts (``name`` of a tool, ``is_error`` of a result ...).
    """

    kind: EventKind
    text: str = ""
    data: dict[str, Any] = msgspec.field(default_factory=dict)


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """What the harness's own output says about its end.

    Attributes:
        complete: the harness's terminal record was seen (or the harness declares that it has none and ended by itself).
        ok: the terminal record says success; None when there is no record.
        message: final text of the agent, None when there was none.
        error: the harness's error text, the most specific one.
        status: HTTP status the harness reports for a failed model request, None when it reports none.
        denied: tools the harness refused to run for lack of permission.
        asked: what the harness asked a person, None when it asked nothing.
        usage: usage as the harness counts it, in normal form (``input`` uncached, ``cache_read``, ``cache_write``,
            ``output``, ``reasoning``), None when absent or all zero in spite of activity.
        session: the harness's own session id, for ``retry --continue``.
        tools: tool calls seen. texts: text messages seen.
    """

    complete: bool
    ok: bool | None = None
    message: str | None = None
    error: str | None = None
    status: int | None = None
    denied: tuple[str, ...] = ()
    asked: str | None = None
    usage: dict[str, int] | None = None
    session: str | None = None
    tools: int = 0
    texts: int = 0


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """A harness program found on this machine.

    Attributes:
        argv: how it is called (usually one element, an absolute host path shown at the same path inside).
        version: what the program says of itself, or the pinned version it was installed as.
        binds: read-only binds it needs to run.
        source: ``installed`` (Inspan's own prefix), ``path`` (the caller's PATH), ``builtin``, ``configured``.
    """

    argv: tuple[str, ...]
    version: str | None
    binds: tuple[Bind, ...] = ()
    source: str = "path"


class LaunchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What an adapter needs to know to build a call. Paths ending in ``inside`` are paths inside the sandbox.

    Attributes:
        base_url: the gateway, without path (``http://127.0.0.1:8080``).
        token: what the harness presents as its API key; worthless outside this attempt. Never a real credential.
        report_inside: where the agent may leave ``inspan.report/1`` (also in the environment as ``INSPAN_REPORT``).
        session: an earlier session id to resume, None for a fresh one.
        files_inside: directory inside (under HOME) where ``Launch.files`` will stand.
    """

    installed: Installed
    prompt: str
    model: str
    wire: Wire
    base_url: str
    token: str
    workspace_inside: str
    home_inside: str
    files_inside: str
    report_inside: str
    read_only: bool = False
    session: str | None = None


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a harness.

    Attributes:
        argv: program and arguments; never the prompt when it could be long, never a secret.
        env: environment besides the allow-list; ``token`` is the only key-like value in it.
        stdin: bytes fed to standard input, which is then closed; None closes it at once.
        files: files to create before the start, by path relative to ``files_inside``.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    stdin: bytes | None = None
    files: dict[str, bytes] = msgspec.field(default_factory=dict)


class Reader(Protocol):
    """Reads one run's output. Accepts lines, documents and arrays, with leading noise; never raises on bad input."""

    skipped: int
    """Lines that could not be understood."""

    def feed(self, line: bytes) -> list[Event]:
        """One line of standard output, without its newline."""

    def feed_stderr(self, line: bytes) -> list[Event]:
        """One line of standard error."""

    def terminal(self) -> bool:
        """Whether the terminal record has been seen."""

    def finish(self, exit_status: int | None) -> Ending:
        """The ending, once the output is complete. ``exit_status`` is protocol health, not task outcome."""


class Harness(Protocol):
    """One coding-agent program.

    Attributes:
        name: lower case, ``[a-z][a-z0-9-]*``.
        title: for people.
        wires: wires it can speak, preferred first.
        liveness: ``events`` (novel output events show progress), ``wire`` (silent until the end: only model requests
            do), ``both``.
        counters: ``per_turn``, ``cumulative``, ``none``: how the usage numbers it prints are to be added.
        terminal: whether its output ends with a terminal record; without one, a normal exit is the end.
        prompt_by: ``stdin``, ``file`` or ``argument``.
        own_login_only: it can only use its own login; refused until that is supported.
        retries: how retries inside the harness are bounded, for people.
        deciders: globs of settings files the program discovers in a tree and obeys.
    """

    name: str
    title: str
    wires: tuple[Wire, ...]
    liveness: Literal["events", "wire", "both"]
    counters: Literal["per_turn", "cumulative", "none"]
    terminal: bool
    prompt_by: Literal["stdin", "file", "argument"]
    own_login_only: bool
    retries: str
    deciders: tuple[str, ...]

    def locate(self, path: str, prefix: str) -> Installed | None:
        """Find the program: Inspan's own prefix (``<state>/harness``) first, then ``path`` (a PATH string)."""

    def launch(self, request: LaunchRequest) -> Launch:
        """Build the call."""

    def reader(self) -> Reader:
        """A fresh reader for one run."""
