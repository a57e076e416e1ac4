"""A harness that does what it is told: a shipped fake for tests and for trying things out.

Standard library only, so that it runs wherever a Python does. It plays a JSON list of steps, as a path or inline::

    python stub_harness.py SCRIPT [ignored arguments]

Each step is an object with one verb:

========================  ==============================================================================================
``{"print": X}``          a line on standard output; anything but a string is printed as JSON. ``{n}`` is the round of
                          the enclosing ``repeat``, ``{prompt}`` what ``read`` found.
``{"stderr": X}``         the same on standard error.
``{"sleep": S}``          seconds; ``"forever"`` never returns.
``{"read": true}``        standard input to its end; prints ``{"type": "prompt", "length": N, "sha256": H}``.
``{"read_file": P}``      the same for a file; ``$NAME`` in its path is filled from the environment.
``{"write": {...}}``      ``path`` (relative to the working directory), ``content``; parents are made.
``{"delete": P}``         removes a file.
``{"run": CMD}``          a shell command; its output is discarded, its status printed.
``{"report": {...}}``     the document at ``$INSPAN_REPORT``.
``{"environment": true}`` prints ``{"type": "environment", "env": {...}}``.
``{"repeat": {...}}``     ``times`` (or ``"forever"``), ``every`` (seconds), ``steps``.
``{"spawn": {...}}``      a child that plays ``steps``; ``session`` (own session, default true), ``keep_output`` (holds
                          our standard output open, default false), ``detach`` (double fork, default false).
``{"ignore": [NAMES]}``   signals to ignore (``"TERM"``, ``"INT"``, ``"HUP"``).
``{"model": {...}}``      one request to the gateway: ``path`` (default ``/v1/messages``), ``body``, ``method``; prints
                          ``{"type": "model", "status": N, "bytes": N}`` or an ``error``. The address is the first of
                          ``INSPAN_BASE_URL``, ``ANTHROPIC_BASE_URL``, ``OPENAI_BASE_URL``.
``{"flood": N}``          N bytes on standard output in lines of 1,000.
``{"line": N}``           one line of N bytes.
``{"allocate": N}``       N bytes of memory, touched and held.
``{"signal": NAME}``      kills itself with a signal.
``{"exit": N}``           ends at once.
========================  ==============================================================================================
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

Script = list[dict[str, Any]]

_told: dict[str, str] = {"n": "", "prompt": ""}
_held: list[bytearray] = []


def _line(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    for name, filled in _told.items():
        text = text.replace("{" + name + "}", filled if isinstance(value, str) else json.dumps(filled)[1:-1])
    return text + "\n"


def _say(value: Any) -> None:
    sys.stdout.write(_line(value))
    sys.stdout.flush()


def _complain(value: Any) -> None:
    sys.stderr.write(_line(value))
    sys.stderr.flush()


def _sleep(seconds: float | str) -> None:
    while seconds == "forever":
        time.sleep(3600)
    time.sleep(float(seconds))


def _prompt(data: bytes) -> None:
    _told["prompt"] = data.decode("utf-8", "replace")
    _say({"type": "prompt", "length": len(_told["prompt"]), "sha256": hashlib.sha256(data).hexdigest()})


def _read(_: Any) -> None:
    _prompt(sys.stdin.buffer.read())


def _read_file(path: str) -> None:
    with open(os.path.expandvars(path), "rb") as f:
        _prompt(f.read())


def _write(what: dict[str, str]) -> None:
    parent = os.path.dirname(what["path"])
    if parent:
        os.makedirs(parent, exist_ok=True)
    with open(what["path"], "w", encoding="utf-8") as f:
        f.write(what.get("content", ""))


def _run(command: str) -> None:
    done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True)
    _say({"type": "ran", "command": command, "status": done.returncode})


def _report(document: Any) -> None:
    _write({"path": os.environ["INSPAN_REPORT"], "content": json.dumps({"schema": "inspan.report/1", **document})})


def _environment(_: Any) -> None:
    _say({"type": "environment", "env": dict(os.environ)})


def _repeat(what: dict[str, Any]) -> None:
    times, round_ = what.get("times", "forever"), 0
    while times == "forever" or round_ < times:
        _told["n"] = str(round_)
        play(what["steps"])
        time.sleep(float(what.get("every", 0)))
        round_ += 1


def _spawn(what: dict[str, Any]) -> None:
    if os.fork():
        if what.get("detach"):
            os.wait()
        return
    if what.get("session", True):
        os.setsid()
    if what.get("detach") and os.fork():
        os._exit(0)
    if not what.get("keep_output"):
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
    try:
        play(what["steps"])
    finally:
        os._exit(0)


def _ignore(names: list[str]) -> None:
    for name in names:
        signal.signal(signal.Signals[f"SIG{name}"], signal.SIG_IGN)


def _model(what: dict[str, Any]) -> None:
    bases = ("INSPAN_BASE_URL", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL")
    base = next((os.environ[b] for b in bases if os.environ.get(b)), "http://127.0.0.1:8080")
    keys = ("INSPAN_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    token = next((os.environ[k] for k in keys if os.environ.get(k)), "none")
    body = {"model": "any", "max_tokens": 64, "messages": [{"role": "user", "content": "go on"}]}
    request = urllib.request.Request(  # noqa: S310  the address is the gateway's
        base.rstrip("/") + what.get("path", "/v1/messages"),
        data=None if what.get("method") == "GET" else json.dumps(what.get("body", body)).encode(),
        headers={"content-type": "application/json", "x-api-key": token, "authorization": f"Bearer {token}"},
        method=what.get("method", "POST"),
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=float(what.get("timeout", 600))) as answer:
            _say({"type": "model", "status": answer.status, "bytes": len(answer.read())})
    except urllib.error.HTTPError as e:
        _say({"type": "model", "status": e.code, "bytes": len(e.read())})
    except OSError as e:
        _say({"type": "model", "status": None, "error": str(e)})


def _flood(size: int) -> None:
    block = (b"x" * 999 + b"\n") * 1000
    while size > 0:
        sys.stdout.buffer.write(block[:size])
        size -= len(block)
    sys.stdout.buffer.flush()


def _long_line(size: int) -> None:
    sys.stdout.buffer.write(b"y" * size + b"\n")
    sys.stdout.buffer.flush()


def _allocate(size: int) -> None:
    _held.append(bytearray(b"z") * size)


def _signal(name: str) -> None:
    os.kill(os.getpid(), signal.Signals[f"SIG{name}"])
    time.sleep(60)


def _exit(status: int) -> None:
    sys.stdout.flush()
    os._exit(status)


def _delete(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


VERBS: dict[str, Callable[[Any], None]] = {
    "print": _say,
    "stderr": _complain,
    "sleep": _sleep,
    "read": _read,
    "read_file": _read_file,
    "write": _write,
    "delete": _delete,
    "run": _run,
    "report": _report,
    "environment": _environment,
    "repeat": _repeat,
    "spawn": _spawn,
    "ignore": _ignore,
    "model": _model,
    "flood": _flood,
    "line": _long_line,
    "allocate": _allocate,
    "signal": _signal,
    "exit": _exit,
}


def play(steps: Script) -> None:
    """Play steps in order.

    Raises:
        SystemExit: for a step that is not one known verb.
    """
    for step in steps:
        if len(step) != 1 or next(iter(step)) not in VERBS:
            raise SystemExit(f"stub_harness: not a step: {step!r}; verbs: {', '.join(VERBS)}")
        verb, argument = next(iter(step.items()))
        VERBS[verb](argument)


def main(argv: list[str]) -> int:
    """Play the script named or given by the first argument."""
    if not argv:
        sys.stderr.write(__doc__ or "")
        return 2
    text = argv[0]
    if not text.lstrip().startswith("["):
        with open(text, encoding="utf-8") as f:
            text = f.read()
    play(json.loads(text))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
