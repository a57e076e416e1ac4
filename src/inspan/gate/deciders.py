"""Deciders: what of a repository decides a check without being a test. Pure.

Deciders are *keys of a file*, not whole files: a new dependency in ``pyproject.toml`` decides nothing, a new
``addopts`` does. Files that are programs (``conftest.py``, hooks, CI) decide as a whole.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec

from inspan.gate import decider_keys as keys
from inspan.gate.commands import make_targets
from inspan.gate.reach import reached
from inspan.gate.tests.conventions import is_test_file
from inspan.spec.globs import Globs


class Touched(msgspec.Struct, frozen=True, kw_only=True):
    """One changed path with its bytes on base and on the result; None where it does not exist."""

    path: str
    before: bytes | None
    after: bytes | None


class Decider(msgspec.Struct, frozen=True, kw_only=True):
    """One decider that changed: the file and the key in it."""

    path: str
    key: str
    why: str


_BY_NAME: dict[str, tuple[keys.Reduce, str]] = {
    "pyproject.toml": (keys.pyproject, "tool configuration"),
    "setup.cfg": (keys.ini, "tool configuration"),
    "setup.py": (keys.setup_py, "plugins a test runner loads by themselves"),
    "tox.ini": (keys.ini, "tool configuration"),
    "package.json": (keys.package_json, "scripts and tool configuration"),
    "makefile": (keys.recipes, "build rules"),
    "gnumakefile": (keys.recipes, "build rules"),
    "justfile": (keys.recipes, "build rules"),
    ".justfile": (keys.recipes, "build rules"),
    "pytest.ini": (keys.ini_whole, "test runner configuration"),
    ".pytest.ini": (keys.ini_whole, "test runner configuration"),
    ".coveragerc": (keys.ini_whole, "coverage configuration"),
    "mypy.ini": (keys.ini_whole, "type checker configuration"),
    ".mypy.ini": (keys.ini_whole, "type checker configuration"),
    ".flake8": (keys.ini_whole, "lint configuration"),
    "ruff.toml": (keys.toml_tables, "lint configuration"),
    ".ruff.toml": (keys.toml_tables, "lint configuration"),
    "pytest.toml": (keys.toml_tables, "test runner configuration"),
    ".pytest.toml": (keys.toml_tables, "test runner configuration"),
    "tox.toml": (keys.toml_tables, "test runner configuration"),
}

_WHOLE: tuple[tuple[str, str], ...] = (  # regular expressions over the lower-cased path
    (r"(^|/)conftest\.py$", "pytest hooks and fixtures"),
    (r"(^|/)(sitecustomize|usercustomize)\.py$", "code run at interpreter start"),
    (r"\.pth$", "code run at interpreter start"),
    (r"\.py[co]$", "compiled code that runs in place of the source that is shown"),
    (r"(^|/)[^/]+\.(dist|egg)-info/entry_points\.txt$", "plugins a test runner loads by themselves"),
    (r"(^|/)(noxfile|fabfile|tasks|dodo)\.py$", "task definitions"),
    (r"(^|/)(jest|vitest|vite|playwright|cypress|karma|ava|babel|wdio)\.config\.[cm]?[jt]sx?$", "test runner"),
    (r"(^|/)vitest\.(workspace|setup)\.[cm]?[jt]s$", "test runner"),
    (r"(^|/)karma\.conf\.[cm]?[jt]s$", "test runner"),
    (r"(^|/)\.(mocharc|nycrc|c8rc|taprc)(\.\w+)?$", "test runner configuration"),
    (r"(^|/)(\.eslintrc(\.\w+)?|\.eslintignore|eslint\.config\.\w+|biome\.jsonc?|tslint\.json)$", "lint configuration"),
    (r"(^|/)(\.?pylintrc|pyrightconfig\.json|\.golangci\.\w+|\.?clippy\.toml)$", "lint configuration"),
    (r"(^|/)(codecov\.ya?ml|\.codecov\.ya?ml|nextest\.toml|\.cargo/config(\.toml)?)$", "check configuration"),
    (r"(^|/)(\.npmrc|\.yarnrc(\.ya?ml)?|\.pnpmfile\.cjs|bunfig\.toml|\.mvn/.+|\.bazelrc|\.rspec)$", "check options"),
    (r"(^|/)(phpunit\.xml(\.dist)?|ctestconfig\.cmake|ctesttestfile\.cmake|\.shellcheckrc)$", "test runner"),
    (r"(^|/)(taskfile|\.?lefthook|\.pre-commit-config)\.ya?ml$", "task and hook definitions"),
    (r"(^|/)\.(husky|githooks|git-hooks)/", "git hooks"),
    (r"^\.(github/(workflows|actions)|circleci|buildkite|woodpecker|ci|gitlab/ci|teamcity)/", "continuous integration"),
    (r"^(\.gitlab-ci|\.travis|azure-pipelines|appveyor|\.appveyor|bitbucket-pipelines|\.drone|\.woodpecker)\.ya?ml$",
     "continuous integration"),
    (r"^jenkinsfile$", "continuous integration"),
    (r"(^|/)\.(gitattributes|gitmodules)$", "what git shows of a change"),
    (r"(^|/)\.env(rc|\..+)?$", "environment of commands"),
    (r"^inspan\.toml$", "Inspan's own configuration of this repository"),
)  # fmt: skip
_WHOLE_RE = tuple((re.compile(p), why) for p, why in _WHOLE)
_MAKEFILES = frozenset(("makefile", "gnumakefile"))
_EXAMPLES = re.compile(r"(^|/)\.env\.(example|sample|template|dist)$")

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


def _rule(path: str) -> tuple[keys.Reduce, str] | None:
    lowered = path.lower()
    named = _BY_NAME.get(posixpath.basename(lowered))
    if named is not None:
        return named
    if lowered.endswith(".mk"):
        return keys.recipes, "build rules"
    for pattern, why in _WHOLE_RE:
        if pattern.search(lowered) and not _EXAMPLES.search(lowered):
            return keys.whole, why
    return None


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
    rule = _rule(touched.path)
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
    for key in keys.differing(before, after):
        yield Decider(path=touched.path, key=key, why=why)
    if touched.before is None and touched.path.lower().endswith(("pytest.ini", "pytest.toml")) and not after:
        yield Decider(path=touched.path, key=keys.WHOLE, why=f"{why}: its mere presence moves the root directory")


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
    scripts = reached(commands, base, before)
    names = RUNNER_MODULES | frozenset(taken)
    discovered = Globs(harness_globs) if harness_globs else None
    out: list[Decider] = []
    for t in touched:
        found = list(_in_file(t, commands, base))
        shadow = _shadow(t, packages, test_roots, names)
        if shadow is not None:
            found.append(shadow)
        if t.path in scripts and not found and _rule(t.path) is None:
            found.append(Decider(path=t.path, key=keys.WHOLE, why="a check runs or reads this file"))
        if discovered is not None and discovered.match(t.path) and not found:
            found.append(Decider(path=t.path, key=keys.WHOLE, why="settings a harness discovers and obeys"))
        out += found
    return out
