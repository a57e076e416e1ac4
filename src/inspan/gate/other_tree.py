"""Whether the environment of a check would test another tree than the result.

At a level where the workspace cannot stand at the checkout's own path, an editable install, an absolute link or a
command that names the checkout means the user's checkout: broken code would pass because the checkout's code is tested.
Found by looking at the environment's files and at the commands, never by running anything of them.
"""

from __future__ import annotations

import glob
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from inspan.gate.context import GateContext, Trees
from inspan.spec.levels import promises
from inspan.workspace.place import inside_root


def elsewhere(context: GateContext) -> bool:
    """Whether the workspace stands at another path than the checkout, so that what names the checkout misses it."""
    return not promises(context.level).own_mounts or inside_root(context.repo.toplevel) != context.repo.toplevel


_SMALL = 1 << 20


def references(context: GateContext) -> tuple[str, ...]:
    """Files of the check's environment that refer to the checkout, for people; empty when none does."""
    checkout = os.path.realpath(context.repo.toplevel)
    words = [word for check in context.job.checks for word in _absolute(check.command)]
    prefixes = [*_prefixes(context.toolset.path), *(p for word in words for p in _of_program(word))]
    found = [f"a check's command: {word}" for word in words if _inside(word, checkout) and not _of_environment(word)]
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


def links(both: Trees, checkout: str) -> tuple[str, ...]:
    """Tracked links of base or result that lead into the checkout by an absolute path, for people."""
    checkout = os.path.realpath(checkout)
    found: list[str] = []
    for path, blob in sorted((both.base | both.result).items()):
        if blob.mode == "120000":
            target = os.fsdecode(both.git.run("cat-file", "blob", blob.oid))
            if os.path.isabs(target) and _inside(target, checkout):
                found.append(f"{path} -> {target}")
    return tuple(found)


def _absolute(command: str) -> Iterator[str]:
    """Absolute paths in a shell command: its words, and the parts of ``NAME=/a:/b`` and ``--option=/a``."""
    try:
        words = shlex.split(command, comments=False)
    except ValueError:
        words = command.split()
    for word in words:
        for part in re.split(r"[=:;&|<>(){},]", word):
            part = part.strip("'\"`$ ")
            if part.startswith("/"):
                yield os.path.normpath(part)
        if " " in word.strip():  # the argument of another ``sh -c``
            yield from _absolute(word)


def _of_environment(word: str) -> bool:
    """Whether a path is a program, or the script that activates, a virtual environment."""
    return os.path.isfile(os.path.join(os.path.dirname(os.path.dirname(word)), "pyvenv.cfg"))


def _of_program(word: str) -> Iterator[str]:
    """Prefixes of the Python installation that a program named by its path belongs to."""
    if os.path.basename(os.path.dirname(word)) == "bin":
        yield os.path.dirname(os.path.dirname(word))
        yield os.path.dirname(os.path.dirname(os.path.realpath(word)))
        yield from _shebang(word)


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
    return list({os.path.realpath(path): path for path in reversed(found)}.values())[::-1]  # lib64 is mostly lib


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
    if checkout in without_own:
        return True
    quoted = (unquote(path) for path in re.findall(r"""["'](?:file://)?(/[^"'\n]*)["']""", text))
    return any(_inside(path, checkout) and not _inside(path, own) for path in dict.fromkeys(quoted))
