"""Whether the environment of a check would test another tree than the result.

At a level where the workspace cannot stand at the checkout's own path, an editable install or an absolute link means
the user's checkout: broken code would pass because the checkout's code is tested. Found by looking at the
environment's files, never by running anything of it.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence

from inspan.gate.context import GateContext

_SMALL = 1 << 20


def references(context: GateContext) -> tuple[str, ...]:
    """Files of the check's environment that refer to the checkout, for people; empty when none does."""
    checkout = os.path.realpath(context.repo.toplevel)
    prefixes = list(dict.fromkeys(_prefixes(context.toolset.path)))
    found: list[str] = []
    for prefix in dict.fromkeys(prefixes):
        for packages in _site_packages(prefix):
            found += _in_site_packages(packages, checkout)
    for entry in context.env.get("PYTHONPATH", "").split(os.pathsep):
        if entry and _inside(entry, checkout):
            found.append(f"PYTHONPATH: {entry}")
    layer = context.setup_for_checks or context.setup
    if layer is not None:
        commands = [c.command for c in context.job.checks]
        found += _set_up(layer.lower, os.path.realpath(context.state.root / "repos"), commands)
    return tuple(dict.fromkeys(found))


def _set_up(lower: str, repos: str, commands: Sequence[str]) -> list[str]:
    """What set-up installed and now refers to the place set-up ran in, which is not where the check runs."""
    found: list[str] = []
    for record in glob.glob(os.path.join(glob.escape(lower), "*", "pyvenv.cfg")) + glob.glob(
        os.path.join(glob.escape(lower), ".*", "pyvenv.cfg")
    ):
        prefix = os.path.dirname(record)
        for packages in _site_packages(prefix):
            found += _in_site_packages(packages, repos)
        for program in glob.glob(os.path.join(glob.escape(prefix), "bin", "*")):
            called = f"{os.path.basename(prefix)}/bin/{os.path.basename(program)}"
            if any(called in c for c in commands) and any(p.startswith(repos + os.sep) for p in _shebang(program)):
                found.append(program)
    return found


def _prefixes(path: str) -> Iterator[str]:
    """Prefixes of the Python installations a PATH leads to."""
    for entry in path.split(os.pathsep):
        if not entry:
            continue
        yield os.path.dirname(entry)
        if os.path.basename(entry) == "shims":  # a version manager's: any of its versions may answer
            yield from glob.glob(os.path.join(os.path.dirname(entry), "versions", "*"))
        for name in ("python", "python3", "pytest"):
            program = os.path.join(entry, name)
            if os.path.exists(program):
                yield os.path.dirname(os.path.dirname(os.path.realpath(program)))
                yield from _shebang(program)


def _shebang(program: str) -> Iterator[str]:
    try:
        with open(program, "rb") as stream:
            first = stream.readline(512)
    except OSError:
        return
    if first.startswith(b"#!/"):
        interpreter = os.fsdecode(first[2:].split()[0])
        yield os.path.dirname(os.path.dirname(interpreter))


def _site_packages(prefix: str) -> list[str]:
    found = []
    for pattern in ("lib/python3*/site-packages", "lib/python3*/dist-packages", "lib/python3/dist-packages",
                    "lib64/python3*/site-packages"):  # fmt: skip
        found += glob.glob(os.path.join(glob.escape(prefix), pattern))
    return found


def _inside(path: str, checkout: str) -> bool:
    real = os.path.realpath(path)
    return real == checkout or real.startswith(checkout + os.sep)


def _in_site_packages(packages: str, checkout: str) -> list[str]:
    """Path files, editable finders and install records that name the checkout (and not the environment inside it)."""
    own = os.path.realpath(os.path.join(packages, "..", "..", ".."))
    found = []
    for pattern in ("*.pth", "*.egg-link", "__editable__*", "__editable___*", "*.dist-info/direct_url.json"):
        for file in glob.glob(os.path.join(glob.escape(packages), pattern)):
            if _names_checkout(file, checkout, own):
                found.append(file)
    for name in os.listdir(packages):
        link = os.path.join(packages, name)
        if os.path.islink(link) and _inside(link, checkout) and not _inside(link, own):
            found.append(link)
    return found


def _names_checkout(file: str, checkout: str, own: str) -> bool:
    try:
        with open(file, encoding="utf-8", errors="surrogateescape") as stream:
            text = stream.read(_SMALL)
    except OSError:
        return True  # what cannot be read is not known to be harmless
    if file.endswith((".pth", ".egg-link")):
        for line in text.splitlines():
            path = os.path.join(os.path.dirname(file), line.strip())
            named = bool(line.strip()) and not line.startswith(("#", "import "))
            if named and _inside(path, checkout) and not _inside(path, own):
                return True
    without_own = text.replace(own + os.sep, "") if own.startswith(checkout) else text
    return checkout in without_own
