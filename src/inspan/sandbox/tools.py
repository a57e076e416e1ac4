"""The tools of one caller: which directories of the host may be shown inside, computed from PATH by one table.

A row names the sub-paths that may be shown, never the directory that also holds credentials: ``~/.cargo/bin`` and not
``~/.cargo``. HOME itself is never shown, nor a directory with a known credential file at its top. A PATH entry that no
row covers is left out and named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

import msgspec

from inspan.sandbox.toolchains import Match, below, match, refusal
from inspan.workspace.plan import Bind

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
"""Always inside, put there by the driver itself."""

_NEVER = ("/etc", "/proc", "/dev", "/run", "/sys", "/boot")


class Toolset(msgspec.Struct, frozen=True, kw_only=True):
    """What of the host's tools is shown.

    Attributes:
        binds: read-only, at the paths they have on the host.
        path: PATH inside.
        names: the rows that applied, for the outcome (``system``, ``python-venv`` ...).
        env: variables by which version managers find themselves inside, where HOME is another one.
        left_out: PATH entries that are not inside, each with the reason.
    """

    binds: tuple[Bind, ...]
    path: str
    names: tuple[str, ...]
    env: dict[str, str] = msgspec.field(default_factory=dict)
    left_out: tuple[tuple[str, str], ...] = ()


def toolset(
    path: str, *, checkout: str | None, home: str, extra: Sequence[Bind] = (), share: Sequence[str] = ()
) -> Toolset:
    """Work out the tools of one caller.

    Args:
        path: the caller's PATH.
        checkout: top level of the user's repository; only its dependency directories are ever shown.
        home: the caller's home directory, never shown itself.
        extra: further binds asked for by the user (a harness's prefix); they win over computed ones.
        share: dependency directories shown by the workspace's plan, relative to the checkout; a virtual environment
            among them brings the interpreter it was made from, and does not come onto PATH.
    """
    shown: dict[str, Bind] = {}
    entries: list[str] = []
    names: dict[str, None] = {}
    env: dict[str, str] = {}
    left_out: list[tuple[str, str]] = []
    for entry in dict.fromkeys(part for part in path.split(os.pathsep) if part):
        found = locate(entry, checkout=checkout, home=home)
        if isinstance(found, str):
            left_out.append((entry, found))
            continue
        entries.append(entry)
        names.setdefault(found.name)
        env = dict(found.env) | env
        for directory in found.show:
            shown.setdefault(directory, Bind(source=os.path.realpath(directory), target=directory))
    for entry in (f"{checkout}/{name.strip('/')}/bin" for name in share if checkout):
        if _virtual_environment(entry) is None:
            continue
        found = locate(entry, checkout=checkout, home=home)
        if isinstance(found, str):
            left_out.append((entry, found))
            continue
        names.setdefault(found.name)
        for directory in found.show:
            shown.setdefault(directory, Bind(source=os.path.realpath(directory), target=directory))
    for bind in extra:
        shown[bind.target] = bind
    for directory in ("/usr/local/bin", "/usr/bin", "/bin"):
        entries += [directory] if directory not in entries else []
    return Toolset(
        binds=_outermost(shown.values()),
        path=os.pathsep.join(entries),
        names=tuple(names),
        env=env,
        left_out=tuple(left_out),
    )


def by_another_name(path: str, checkout: str) -> tuple[str, ...]:
    """PATH entries that lie in the checkout but reach it through a link.

    What such an environment has installed in place may name the link as well, which is not there inside.
    """
    real = os.path.realpath(checkout)
    entries = dict.fromkeys(part for part in path.split(os.pathsep) if os.path.isabs(part))
    return tuple(e for e in entries if not below(os.path.normpath(e), real) and below(os.path.realpath(e), real))


def locate(entry: str, *, checkout: str | None, home: str) -> Match | str:
    """What is shown for one PATH entry, or why it is left out."""
    if not os.path.isabs(entry):
        return "not an absolute path"
    entry = os.path.normpath(entry)
    if not os.path.isdir(entry):
        return "does not exist"
    linked = _linked(entry, home=home, checkout=checkout)
    if below(entry, *SYSTEM):
        return Match("system", linked)
    if checkout is not None and below(entry, checkout):
        found = _dependency(entry)
        if found is None:
            return "inside the checkout, and no dependency directory"
    else:
        found = _virtual_environment(entry) or match(entry) or _plain(entry)
    if found is None:
        return "no known toolchain"
    for directory in found.show:
        reason = refusal(directory, home=home, checkout=checkout)
        if reason:
            return f"{directory} {reason}"
    return Match(found.name, tuple(dict.fromkeys([*found.show, *linked])), found.env)


def _dependency(entry: str) -> Match | None:
    """A virtual environment or ``node_modules`` of the checkout, shown over the workspace at the same path."""
    found = re.search(r"^(.*/node_modules)/\.bin$", entry)
    return Match("node_modules", (found.group(1),)) if found else _virtual_environment(entry)


def _virtual_environment(entry: str) -> Match | None:
    """A virtual environment, and the interpreter it was made from: without its base its python is a dangling link."""
    root = os.path.dirname(entry)
    if os.path.basename(entry) != "bin" or not os.path.isfile(f"{root}/pyvenv.cfg"):
        return None
    return Match("python-venv", (root, *_interpreter_base(entry)))


def _interpreter_base(entry: str) -> tuple[str, ...]:
    """Installation prefixes of the interpreter behind ``entry``'s python, one for each link on the way."""
    found: list[str] = []
    python = next((f"{entry}/{name}" for name in ("python3", "python") if os.path.lexists(f"{entry}/{name}")), None)
    for link in _chain(python) if python else ():
        directory = os.path.dirname(link)
        prefix = os.path.dirname(directory)
        if os.path.basename(directory) == "bin" and not below(prefix, os.path.dirname(entry), *SYSTEM):
            found.append(prefix)
    return tuple(dict.fromkeys(found))


def _chain(path: str) -> list[str]:
    """The links from ``path`` to the file, each as an absolute path."""
    steps: list[str] = []
    while os.path.islink(path) and len(steps) < 40:
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        steps.append(path)
    real = os.path.realpath(path)
    return [*steps, real] if real not in steps else steps


def _plain(entry: str) -> Match | None:
    """Any other directory of programs: itself and nothing beside it."""
    return Match("bin", (entry,)) if os.path.basename(entry) in ("bin", "sbin") else None


def _linked(entry: str, *, home: str, checkout: str | None) -> tuple[str, ...]:
    """Toolchains outside the system that programs of ``entry`` are links to; those that may not be shown dangle."""
    found: list[str] = []
    for link in _links(entry):
        target = os.path.realpath(link)
        if below(target, entry, *SYSTEM, *_NEVER) or not os.path.exists(target):
            continue
        if checkout is not None and below(target, checkout):
            continue
        shown = _program(target)
        if not any(refusal(directory, home=home, checkout=checkout) for directory in shown):
            found += shown
    return tuple(dict.fromkeys(found))


def _links(entry: str) -> list[str]:
    """The links in a directory that lead out of it, sorted; one to a neighbour says no more than the neighbour does."""
    try:
        with os.scandir(entry) as found:
            return sorted(one.path for one in found if one.is_symlink() and "/" in os.readlink(one.path))
    except OSError:
        return []


def _program(target: str) -> tuple[str, ...]:
    """What the file behind a link needs: its package tree, its environment or toolchain, else its directory."""
    outermost = re.match(r"^(.*?/node_modules)/", target)
    if outermost:
        return (outermost.group(1),)
    directory = os.path.dirname(target)
    found = _virtual_environment(directory) or match(directory)
    return found.show if found else (directory,)


def _outermost(binds: Iterable[Bind]) -> tuple[Bind, ...]:
    """Without those that another one shows already, at the same place."""
    kept: list[Bind] = []
    for bind in sorted(binds, key=lambda bind: bind.target.split("/")):
        if not any(_covers(outer, bind) for outer in kept):
            kept.append(bind)
    return tuple(kept)


def _covers(outer: Bind, bind: Bind) -> bool:
    inner = bind.target.removeprefix(outer.target)
    same_place = inner.startswith("/") and bind.source == outer.source + inner
    return same_place and not (outer.writable or bind.writable)
