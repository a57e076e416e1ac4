"""Deciders: what of a repository decides a check without being a test. Pure.

Deciders are *keys of a file*, not whole files: a new dependency in ``pyproject.toml`` decides nothing, a new
``addopts`` does. Files that are programs (``conftest.py``, hooks, CI) decide as a whole.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise

import msgspec

from inspan.gate import decider_formats as formats
from inspan.gate import decider_keys as keys
from inspan.gate.baselines import grown, is_baseline, shrunk
from inspan.gate.commands import make_targets, simple_commands
from inspan.gate.decider_directions import differing
from inspan.gate.decider_files import AGENT_SETTINGS, rule_of
from inspan.gate.reach import reached
from inspan.gate.tests.conventions import is_test_file
from inspan.spec.globs import Globs


class Touched(msgspec.Struct, frozen=True, kw_only=True):
    """One changed path with its bytes on base and on the result; None where it does not exist."""

    path: str
    before: bytes | None
    after: bytes | None


class Decider(msgspec.Struct, frozen=True, kw_only=True):
    """One decider that changed: the file and the key in it, under the rule it is reported by."""

    path: str
    key: str
    why: str
    rule: str = "decider_changed"


_MAKEFILES = frozenset(("makefile", "gnumakefile"))

_RUNNER_MODULES = """
    abc argparse array ast atexit base64 bdb binascii bisect builtins bz2 calendar codecs collections contextlib
    copy copyreg csv dataclasses datetime decimal difflib dis email encodings enum errno fcntl fnmatch functools gc
    genericpath gettext glob hashlib heapq html importlib inspect io ipaddress itertools json keyword linecache
    locale logging lzma marshal math ntpath numbers opcode operator os pathlib platform posixpath pprint py queue
    random re reprlib select selectors shlex shutil signal site socket stat string struct subprocess sys sysconfig
    tempfile textwrap threading time token tokenize tomllib traceback types typing unicodedata urllib uuid warnings
    weakref xml zipfile zipimport zlib pytest _pytest unittest pluggy iniconfig packaging pygments exceptiongroup
    cmd code codeop configparser contextvars doctest fractions gzip pdb pkgutil quopri readline runpy zoneinfo
    tomli coverage pytest_cov xdist execnet pytest_timeout pytest_asyncio anyio attr attrs
"""
RUNNER_MODULES = frozenset(_RUNNER_MODULES.split())
"""Top-level names a Python test runner imports; a new module of that name on the import path takes their place."""


_ALWAYS_RUN = re.compile(r"^scripts\.(pre|post|test|lint|check|ci|verify|prepare|install)")
"""Scripts that run without being named by a check, or that a check is likely to reach through another one."""


def _uncalled(key: str, reduce: keys.Reduce, commands: Sequence[str]) -> bool:
    """Whether a rule or script that did not exist on base is one no check can reach."""
    if reduce is keys.recipes:
        return key.startswith("target ") and key.removeprefix("target ") not in {
            t for c in commands for t in make_targets(c)
        }
    if reduce is keys.package_json and key.startswith("scripts."):
        name = key.removeprefix("scripts.")
        return not _ALWAYS_RUN.match(key) and not any(
            re.search(rf"(?<!\w){re.escape(name)}(?!\w)", c) for c in commands
        )
    return False


def _in_file(touched: Touched, commands: Sequence[str], base: frozenset[str]) -> Iterable[Decider]:
    """The deciding keys of one changed settings file."""
    rule = rule_of(touched.path)
    if rule is None:
        return
    reduce, why = rule
    before, after = keys.reduced(reduce, touched.before), keys.reduced(reduce, touched.after)
    after = {k: v for k, v in after.items() if k in before or not _uncalled(k, reduce, commands)}
    if reduce is keys.recipes and touched.before is None:
        folder = posixpath.dirname(touched.path)
        beside = [p for p in base if posixpath.dirname(p) == folder and posixpath.basename(p).lower() in _MAKEFILES]
        if beside and posixpath.basename(touched.path).lower() in _MAKEFILES:
            yield Decider(path=touched.path, key=keys.WHOLE, why=f"takes the place of {beside[0]}")
            return
        if not any(k.startswith("target ") for k in after):
            return  # variables of rules nobody calls
    if reduce is keys.whole:
        if touched.before != touched.after:
            yield Decider(path=touched.path, key=keys.WHOLE, why=why)
        return
    if reduce is formats.workflow and keys.WHOLE not in before.keys() | after.keys():
        if touched.before is None:
            return  # another workflow beside those that are there lets nothing pass
        weaker = [k for k in sorted(before.keys() | after.keys()) if formats.narrower(k, before.get(k), after.get(k))]
    else:
        weaker = list(differing(before, after))
    for key in weaker:
        yield Decider(path=touched.path, key=key, why=why)
    if touched.before is None and touched.path.lower().endswith(("pytest.ini", "pytest.toml")) and not after:
        yield Decider(path=touched.path, key=keys.WHOLE, why=f"{why}: its mere presence moves the root directory")


_DATA = (".json", ".txt", ".csv", ".toml", ".yml", ".yaml", ".ini", ".cfg", ".list")


def _data_of(scripts: Collection[str], base: frozenset[str], read: Callable[[str], bytes | None]) -> set[str]:
    """Data files beside, or below, the scripts of a check that those scripts name: thresholds, lists of exceptions."""
    found: set[str] = set()
    for script in scripts:
        folder = posixpath.dirname(script)
        text = (read(script) or b"")[:262144].decode("utf-8", "replace")
        for name in set(re.findall(r"[\w./-]+\.(?:json|txt|csv|toml|ya?ml|ini|cfg|list)\b", text)):
            for path in (posixpath.normpath(posixpath.join(folder, name)), posixpath.normpath(name)):
                if path in base:
                    found.add(path)
    return found


_SETTING = re.compile(r"^(-c|-p|--config|--config-file|--project|--rcfile|--settings|--rc-path|--tsconfig|--setup)$")
_SETTINGS_FILE = re.compile(r"\.(json|jsonc|toml|ini|cfg|ya?ml|[cm]?js|ts|rc)$")


def _configured(commands: Sequence[str], read: Callable[[str], bytes | None]) -> set[str]:
    """Settings files that commands, or the package scripts of base, name by an option."""
    scripts = keys.reduced(keys.package_json, read("package.json"))
    lines = [*commands, *(str(v) for k, v in scripts.items() if k.startswith("scripts."))]
    found: set[str] = set()
    for words in (w for line in lines for w in simple_commands(line)):
        for before, word in pairwise(words):
            option, _, value = word.partition("=")
            name = word if _SETTING.match(before) else value if _SETTING.match(option) else ""
            if _SETTINGS_FILE.search(name):
                found.add(posixpath.normpath(name))
    return found


def _shadow(
    touched: Touched, packages: frozenset[str], test_roots: frozenset[str], names: frozenset[str]
) -> Decider | None:
    """A new module that takes the place of one the test runner imports."""
    if touched.before is not None or touched.after is None:
        return None
    folder, base = posixpath.split(touched.path)
    stem, extension = posixpath.splitext(base)
    linked = not extension and touched.after.startswith(b"link to ")  # a directory by another name
    if extension not in (".py", ".pyc", ".so", ".pyd") and not linked:
        return None
    name = stem.split(".")[0]
    if name == "__init__":
        folder, name = posixpath.split(folder)
    on_path = folder in ("", "src", "lib") or (folder in test_roots and folder not in packages)
    if not on_path or name not in names:
        return None
    return Decider(path=touched.path, key=name, why="takes the place of a module the test runner imports")


def changed(
    touched: Iterable[Touched],
    *,
    base_paths: Iterable[str],
    result_paths: Iterable[str],
    commands: Sequence[str],
    harness_globs: Sequence[str] = (),
    before: Callable[[str], bytes | None] = lambda _: None,
    taken: Collection[str] = (),
) -> list[Decider]:
    """The deciders among changed paths.

    Args:
        touched: every changed path with both versions.
        base_paths, result_paths: all tracked paths of base and of the result.
        commands: the check commands; the scripts they execute decide as a whole.
        harness_globs: settings files harness programs discover in a tree and obey.
        before: bytes of a path on base; what the commands reach is read in it.
        taken: names of modules installed in the environment of the checks.
    """
    base = frozenset(base_paths)
    everything = frozenset(result_paths) | base
    packages = frozenset(posixpath.dirname(p) for p in everything if posixpath.basename(p) == "__init__.py")
    test_roots = frozenset(posixpath.dirname(p) for p in everything if p.endswith(".py") and is_test_file(p))
    scripts = reached(commands, base, before) | _configured(commands, before)
    scripts |= _data_of(scripts, base, before)
    names = RUNNER_MODULES | frozenset(taken)
    discovered = Globs((*harness_globs, *AGENT_SETTINGS))
    out: list[Decider] = []
    for t in touched:
        found = list(_in_file(t, commands, base))
        shadow = _shadow(t, packages, test_roots, names)
        if shadow is not None:
            found.append(shadow)
        if t.path in scripts and not found and rule_of(t.path) is None and not shrunk(t.before, t.after):
            more = grown(t.path, t.before, t.after) if t.path.endswith(_DATA) else ""
            rule = "baseline_grown" if more and t.before is not None else "decider_changed"
            found.append(Decider(path=t.path, key=more or keys.WHOLE, why="a check runs or reads this file", rule=rule))
        if discovered.match(t.path) and not found:
            found.append(Decider(path=t.path, key=keys.WHOLE, why="settings a harness discovers and obeys"))
        if is_baseline(t.path) and not found and (more := grown(t.path, t.before, t.after)):
            found.append(Decider(path=t.path, key=more, why="findings that are accepted", rule="baseline_grown"))
        out += found
    return out
