"""What the runners of Node.js have in common: how they are called, and how our module gets into their process.

``NODE_OPTIONS`` reaches the runner through npm, npx, yarn, pnpm and make alike. A package script that sets the variable
itself takes it away again, so a ``node`` of ours stands first on PATH and puts it back.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence

import msgspec

from inspan.gate.runners.contract import Arranged, Request

_CALLERS = {
    "npx": (),
    "pnpx": (),
    "bunx": (),
    "npm": ("exec", "x"),
    "pnpm": ("exec", "dlx", ""),
    "yarn": ("exec", "dlx", "run", ""),
    "cross-env": (),
    "dotenv": (),
    "c8": (),
    "nyc": (),
}
"""Programs that call another one, with the words that may stand between."""
_ESCAPED = str.maketrans({'"': '\\"', "\\": "\\\\"})
_NODE = re.compile(r"^(node|nodejs|tsx|ts-node)$")
_WITH_VALUE = frozenset(
    (
        "-r",
        "--require",
        "--import",
        "--loader",
        "--experimental-loader",
        "-C",
        "--conditions",
        "--env-file",
        "-p",
        "--package",
    )
)


def called(words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The program that a call of Node's world comes to, without folder and suffix, and its arguments.

    ``npx --yes jest``, ``node node_modules/jest/bin/jest.js`` and ``cross-env A=1 jest`` are all ``jest``.
    """
    rest = list(words)
    for _ in range(4):
        name = posixpath.basename(rest[0])
        if name in _CALLERS:
            inner = _after(rest[1:])
            if inner and inner[0] in _CALLERS[name]:
                inner = _after(inner[1:])
            elif _CALLERS[name] and "" not in _CALLERS[name]:
                break
        elif _NODE.match(name) and "--test" not in rest:
            inner = _after(rest[1:])
        else:
            break
        if not inner:
            break
        rest = inner
    return re.sub(r"\.[cm]?js$", "", posixpath.basename(rest[0])), tuple(rest[1:])


def _after(words: list[str]) -> list[str]:
    """The words from the first that is neither an option, its value nor an assignment on."""
    rest = list(words)
    while rest and (rest[0].startswith("-") or re.match(r"^[A-Za-z_]\w*=", rest[0])):
        option = rest.pop(0)
        if option in _WITH_VALUE and rest:
            rest.pop(0)
    return rest


def option(name: str, value: str) -> str:
    """One option as NODE_OPTIONS takes it, whatever its value holds."""
    return f'{name}="{value.translate(_ESCAPED)}"' if re.search(r'[\s"\\]', value) else f"{name}={value}"


def arranged(request: Request, before: Arranged, options: str, files: Sequence[str]) -> Arranged:
    """``before`` with ``options`` in front of NODE_OPTIONS, however it is set meanwhile, and CI mode on.

    In CI mode the runners write no snapshot that is missing and watch nothing.
    """
    options = f"{options} {before.env.get('NODE_OPTIONS', '')}".strip()
    env = {**before.ahead(request), "NODE_OPTIONS": options, "CI": before.env.get("CI", "true")}
    program = request.program("node.sh").replace(b"@options@", shlex.quote(options).encode())
    added = {name: request.source(name) for name in ("lines.cjs", *files)}
    return msgspec.structs.replace(before, env=env, files={**before.files, **added, "node": program})
