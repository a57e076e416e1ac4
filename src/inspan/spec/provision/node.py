"""Set-up commands of Node: npm, pnpm and yarn. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from inspan.spec.provision.tree import Inputs, Tree, at, files, only

_LIFE_CYCLE = frozenset(
    f"{when}{what}" for what in ("install", "prepare", "prepublish") for when in ("pre", "", "post")
) | {"dependencies"}
_READERS = frozenset(("prisma", "@prisma/client", "puppeteer"))
"""Packages whose own installation looks into the project that they are installed for."""
_LOCAL = re.compile(r"""["'@ :](file|link|portal|workspace|patch):""")
_QUIET = (
    "--no-audit", "--no-fund", "--silent", "-s", "--no-progress", "--quiet", "-q", "--offline", "--prefer-offline",
    "--ignore-scripts", "--no-optional", "--include=dev", "--legacy-peer-deps",
)  # fmt: skip


def _package(folder: str, tree: Tree, *, scripts: bool) -> bool:
    """Whether ``package.json`` is one package whose installation runs nothing and links nothing of the repository."""
    try:
        package = json.loads(tree.text(at(folder, "package.json")) or "")
    except (ValueError, RecursionError):
        return False
    if not isinstance(package, dict) or "workspaces" in package:
        return False
    run, *used = (package.get(name) or {} for name in ("scripts", "dependencies", "devDependencies"))
    if not all(isinstance(table, dict) for table in (run, *used)) or any(_READERS & table.keys() for table in used):
        return False
    if scripts and (_LIFE_CYCLE & run.keys() or tree.read(at(folder, "binding.gyp")) is not None):
        return False
    text = json.dumps(package)
    return not _LOCAL.search(text) and "patchedDependencies" not in text


def npm(rest: Sequence[str], folder: str, tree: Tree) -> Inputs | None:
    """``npm ci``."""
    names = ("npm-shrinkwrap.json", "package-lock.json")
    lock = next((text for name in names if (text := tree.text(at(folder, name))) is not None), None)
    if lock is None or only(rest, _QUIET) is None or not _package(folder, tree, scripts="--ignore-scripts" not in rest):
        return None
    if _LOCAL.search(lock) or re.search(r'"link"\s*:\s*true', lock):
        return None
    return files(folder, "package.json", ".npmrc", *names)


def pnpm(rest: Sequence[str], folder: str, tree: Tree) -> Inputs | None:
    """``pnpm install --frozen-lockfile``."""
    lock = tree.text(at(folder, "pnpm-lock.yaml"))
    odd = ("pnpm-workspace.yaml", ".pnpmfile.cjs")
    if folder or lock is None or any(tree.read(at(folder, name)) is not None for name in odd):
        return None
    if "--frozen-lockfile" not in rest or only(rest, (*_QUIET, "--frozen-lockfile")) is None:
        return None
    if _LOCAL.search(lock) or not _package(folder, tree, scripts="--ignore-scripts" not in rest):
        return None
    return files(folder, "package.json", ".npmrc", "pnpm-lock.yaml")


def yarn(rest: Sequence[str], folder: str, tree: Tree) -> Inputs | None:
    """``yarn install --frozen-lockfile``, or ``--immutable``."""
    lock = tree.text(at(folder, "yarn.lock"))
    if folder or lock is None or not {"--frozen-lockfile", "--immutable"} & set(rest):
        return None
    settings = (tree.text(".yarnrc.yml") or "") + (tree.text(".yarnrc") or "")
    if re.search(r"yarnPath|yarn-path|plugins|\./", settings) or _LOCAL.search(lock.replace("@workspace:.", "")):
        return None
    if only(rest, (*_QUIET, "--frozen-lockfile", "--immutable")) is None or not _package(folder, tree, scripts=True):
        return None
    return files(folder, "package.json", "yarn.lock", ".yarnrc", ".yarnrc.yml", ".npmrc")
