"""Known test runners: found in the command's text, and made to leave one line per test outside the workspace. Pure.

pytest and unittest are known. Any other command counts by its exit status. A plugin module is copied under a fresh name
for every run; the user's own command line is what runs, only its environment (pytest) or the module's name after
``-m`` (unittest) differs.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from importlib import resources
from typing import Literal

import msgspec

from inspan.gate.commands import python_module, simple_commands

Runner = Literal["pytest", "unittest"]

_UNREACHABLE = re.compile(r"PYTEST_ADDOPTS|\benv\s+(-\S+\s+)*(-i\b|-\s|--ignore-environment)|PYTHONPATH=`")
"""Commands that would take our variables away again; they count by exit status."""
_PYTHONPATH = re.compile(r"((?<![\w$])PYTHONPATH=(['\"]?))")
_CACHE_OPTIONS = re.compile(r"--(lf|last-failed|ff|failed-first|nf|new-first|sw|stepwise|cache)\b")
_UNITTEST = re.compile(
    r"((?:^|[\s/;&|(])(?:python|python3|pypy3?)(?:\.\d+)*\s+(?:-[WX]\s+\S+\s+|-[A-Za-z]\S*\s+)*?-m\s+)unittest(?=\s|$|[;&|)])"
)


class Arranged(msgspec.Struct, frozen=True, kw_only=True):
    """A command arranged to leave evidence.

    Attributes:
        command: what ``sh -c`` gets.
        env: variables to add.
        key: what each of its lines carries; a line without it was written by something else.
        module: source of the module to place in the shim directory as ``<module_name>.py``.
    """

    command: str
    env: dict[str, str]
    module_name: str
    module: bytes
    key: str


def detect(command: str) -> Runner | None:
    """The one known runner a command calls; None when it calls none, both, or one we cannot speak to."""
    if _UNREACHABLE.search(command):
        return None
    found: set[Runner] = set()
    for words in simple_commands(command):
        name = posixpath.basename(words[0])
        module = python_module(words)
        if name in ("pytest", "py.test") or module in ("pytest", "py.test"):
            found.add("pytest")
        elif name in ("coverage", "coverage3") and re.search(r"-m\s+(pytest|unittest)\b", " ".join(words)):
            if "pytest" not in words:
                return None
            found.add("pytest")
        elif module == "coverage" and "pytest" in words:
            found.add("pytest")
        elif name in ("uv", "poetry", "pdm", "hatch", "pipenv", "rye") and words[1:2] == ["run"]:
            if any(posixpath.basename(w) in ("pytest", "py.test") for w in words[2:]):
                found.add("pytest")
        elif module == "unittest":
            found.add("unittest")
    if found == {"unittest"} and not _UNITTEST.search(command):
        return None
    return found.pop() if len(found) == 1 else None


def arrange(
    runner: Runner,
    command: str,
    *,
    token: str,
    shim_inside: str,
    evidence_inside: str,
    root_inside: str,
    only: str = "",
) -> Arranged:
    """Arrange one run.

    Args:
        token: at least 32 hexadecimal digits, fresh for this run; module name and key come from it.
        shim_inside: directory inside that will hold the module, read-only.
        evidence_inside: file inside the module appends to.
        root_inside: the workspace's root inside; test ids are relative to it.
        only: newline-separated items to restrict the run to; empty for all.
    """
    name, key = f"results_{token[:12]}", token[12:]
    command = _with_shim(command, shim_inside)
    env = {
        "PYTHONPATH": shim_inside,
        "PYTHONDONTWRITEBYTECODE": "1",
        "INSPAN_EVIDENCE": evidence_inside,
        "INSPAN_ROOT": root_inside,
    }
    if only:
        env["INSPAN_ONLY"] = only
    if runner == "pytest":
        cache = "" if _CACHE_OPTIONS.search(command) else " -p no:cacheprovider"
        env["PYTEST_ADDOPTS"] = f"-p {name}{cache}"
    else:
        command = _UNITTEST.sub(rf"\g<1>{name}", command)
    source = resources.files("inspan.gate.shim").joinpath(f"{runner}_evidence.py").read_bytes()
    return Arranged(command=command, env=env, module_name=name, module=source.replace(b"@key@", key.encode()), key=key)


def _with_shim(command: str, shim_inside: str) -> str:
    """Keep our directory on the path where the command sets PYTHONPATH itself."""

    def put(found: re.Match[str]) -> str:
        return f"{found[1]}{shim_inside}:" if found[2] else f"{found[1]}{shlex.quote(shim_inside)}:"

    return _PYTHONPATH.sub(put, command)
