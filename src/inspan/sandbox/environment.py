"""Which of the caller's environment variables a job may see: an allow-list, and nothing that looks like a key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_ALLOWED = frozenset({"LANG", "LANGUAGE", "TZ", "COLUMNS", "LINES", "NO_COLOR", "SOURCE_DATE_EPOCH"})
_ALLOWED_START = ("LC_",)
_FIXED = {"TERM": "dumb"}
_KEY_LIKE = re.compile(
    r"secret|password|passwd|passphrase|credential|token$"
    r"|(^|_)(key|keys|apikey|token|tokens|pass|auth|cookie|session|private|pat|dsn)(_|$)",
    re.IGNORECASE,
)


def proxy_variables(port: int, token: str | None = None) -> dict[str, str]:
    """What tells programs inside to reach granted destinations through the egress proxy on loopback at ``port``.

    Only https: the proxy tunnels and nothing else, and the model gateway, which is plain http on loopback, must never
    be looked for behind it. ``token`` is what the proxy wants to see, where others can reach it too.
    """
    shown = f"inspan:{token}@" if token else ""
    proxy, direct = f"http://{shown}127.0.0.1:{port}", "localhost,127.0.0.1,::1"
    return {"HTTPS_PROXY": proxy, "https_proxy": proxy, "NO_PROXY": direct, "no_proxy": direct}


def key_like(name: str) -> bool:
    """Whether a variable's name suggests that its value is a secret."""
    return bool(_KEY_LIKE.search(name))


def allowed(environ: Mapping[str, str], extra: Iterable[str] = ()) -> dict[str, str]:
    """The part of ``environ`` a job may see, with ``TERM=dumb``.

    Args:
        environ: the caller's environment.
        extra: further names the user's own configuration lets through; a key-like one is left out all the same.
    """
    wanted = set(extra)
    passed = {
        name: value
        for name, value in environ.items()
        if (name in _ALLOWED or name.startswith(_ALLOWED_START) or name in wanted) and not key_like(name)
    }
    return passed | _FIXED
