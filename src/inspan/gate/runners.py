"""Known test runners: found in the command's text, and made to leave one line per test outside the workspace. Pure.

pytest and unittest are known. Any other command counts by its exit status. A plugin module is copied under a fresh name
for every run; the user's own command line is what runs, only its environment (pytest) or the module's name after
``-m`` (unittest) differs.
"""

from __future__ import annotations

import posixpath
import re
from importlib import resources
from typing import Literal

import msgspec

from inspan.gate.commands import python_module, simple_commands

Runner = Literal["pytest", "unittest"]

_CACHE_OPTIONS = re.compile(r"--(lf|last-failed|ff|failed-first|nf|new-first|sw|stepwise|cache)\b")
_UNITTEST = re.compile(
    r"((?:^|[\s/;&|(])(?:python|python3|pypy3?)(?:\.\d+)*\s+(?:-[WX]\s+\S+\s+|-[A-Za-z]\S*\s+)*?-m\s+)unittest(?=\s|$|[;&|)])"
)


class Arranged(msgspec.Struct, frozen=True, kw_only=True):
    """A command arranged to leave evidence.

    Attributes:
        command: what ``sh -c`` gets.
        env: variables to add.
        module: source of the module to place in the shim directory as ``<module_name>.py``.
    """

    command: str
    env: dict[str, str]
    module_name: str
    module: bytes


def detect(command: str) -> Runner | None:
    """The one known runner a command calls; None when it calls none, both, or one we cannot speak to."""
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
    runner: Runner, command: str, *, name: str, shim_inside: str, evidence_inside: str, root_inside: str, only: str = ""
) -> Arranged:
    """Arrange one run.

    Args:
        name: module name of this run, impossible to guess before it.
        shim_inside: directory inside that will hold the module, read-only.
        evidence_inside: file inside the module appends to.
        root_inside: the workspace's root inside; test ids are relative to it.
        only: newline-separated items to restrict the run to; empty for all.
    """
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
    return Arranged(command=command, env=env, module_name=name, module=source)
