"""The tools table: which directories of the host's toolchains may be shown inside, computed from the caller's PATH.

A row names the sub-paths that may be shown, never the directory that also holds credentials: ``~/.cargo/bin`` and not
``~/.cargo``. HOME itself is never shown, nor a directory with a known credential file at its top. A PATH entry that no
row covers is left out, and named in ``Toolset.left_out``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

import msgspec

from inspan.workspace.plan import Bind

CREDENTIAL_FILES = (
    ".npmrc", ".yarnrc.yml", ".netrc", "_netrc", ".git-credentials", ".pypirc", ".aws", ".ssh", ".gnupg", ".kube",
    ".azure",
    ".docker", ".config/gh", ".config/gcloud", ".config/hub", ".cargo/credentials", ".cargo/credentials.toml",
    "credentials", "credentials.toml", "credentials.json", ".gem/credentials", ".m2/settings.xml", ".pgpass",
    ".my.cnf", ".env", ".vault-token", ".terraformrc", ".terraform.d/credentials.tfrc.json", "auth.json",
    ".credentials.json", ".claude", ".codex", ".gitconfig",
)  # fmt: skip
"""Names at the top of a directory that make it one never to be shown."""

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
"""Always inside, put there by the driver itself."""


class Toolset(msgspec.Struct, frozen=True, kw_only=True):
    """What of the host's tools is shown.

    Attributes:
        binds: read-only, at the paths they have on the host.
        path: PATH inside.
        names: the rows that applied, for the outcome (``system``, ``python-venv`` ...).
        left_out: PATH entries that are not inside, each with the reason.
    """

    binds: tuple[Bind, ...]
    path: str
    names: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()


class Place(msgspec.Struct, frozen=True):
    """Where a PATH entry was found to belong: the row's name and the directories that make it work."""

    name: str
    show: tuple[str, ...]


def toolset(path: str, *, checkout: str | None, home: str, extra: Sequence[Bind] = ()) -> Toolset:
    """Work out the tools of one caller.

    Args:
        path: the caller's PATH.
        checkout: top level of the user's repository; only its ignored dependency directories are ever shown.
        home: the caller's home directory, never shown itself.
        extra: further binds asked for by the user (a harness's prefix); they win over computed ones.
    """
    shown: dict[str, Bind] = {}
    entries: list[str] = []
    names: list[str] = []
    left_out: list[tuple[str, str]] = []
    for entry in dict.fromkeys(part for part in path.split(os.pathsep) if part):
        found = locate(entry, checkout=checkout, home=home)
        if isinstance(found, str):
            left_out.append((entry, found))
            continue
        entries.append(entry)
        names += [found.name] if found.name not in names else []
        for directory in found.show:
            shown.setdefault(directory, Bind(source=os.path.realpath(directory), target=directory))
    for bind in extra:
        shown[bind.target] = bind
    for directory in ("/usr/local/bin", "/usr/bin", "/bin"):
        entries += [directory] if directory not in entries else []
    return Toolset(
        binds=_outermost(shown.values()), path=os.pathsep.join(entries), names=tuple(names), left_out=tuple(left_out)
    )


def locate(entry: str, *, checkout: str | None, home: str) -> Place | str:
    """The place of one PATH entry, or why it is left out."""
    if not os.path.isabs(entry):
        return "not an absolute path"
    entry = os.path.normpath(entry)
    if not os.path.isdir(entry):
        return "does not exist"
    if _below(entry, SYSTEM):
        return Place("system", _link_targets(entry))
    found = _dependency(entry, checkout) or _table(entry, home) or _linked(entry, home)
    if found is None:
        return "no known toolchain"
    for directory in found.show:
        reason = refusal(directory, home=home, checkout=checkout)
        if reason:
            return f"{directory} {reason}"
    return found


def refusal(directory: str, *, home: str, checkout: str | None) -> str | None:
    """Why a directory may not be shown, None when it may."""
    real = os.path.realpath(directory)
    homes = {os.path.normpath(home), os.path.realpath(home)}
    if real in homes or any(_below(one, (real,)) for one in homes):
        return "is the home directory or holds it"
    if checkout and _below(os.path.realpath(checkout), (real,)):
        return "holds the checkout"
    for name in CREDENTIAL_FILES:
        if os.path.lexists(os.path.join(real, name)):
            return f"holds {name}"
    return None


def _dependency(entry: str, checkout: str | None) -> Place | None:
    """A virtual environment or ``node_modules`` inside the checkout: shown over the workspace at the same path."""
    if checkout is None or not _below(entry, (checkout,)):
        return None
    match = re.search(r"^(.*/node_modules)/\.bin$", entry)
    if match:
        return Place("node_modules", (match.group(1),))
    return _virtual_environment(entry)


def _virtual_environment(entry: str) -> Place | None:
    """A virtual environment, and the interpreter it was made from: without its base its python is a dangling link."""
    root = os.path.dirname(entry)
    if os.path.basename(entry) not in ("bin", "Scripts") or not os.path.isfile(f"{root}/pyvenv.cfg"):
        return None
    return Place("python-venv", (root, *_interpreter_base(entry)))


def _interpreter_base(entry: str) -> tuple[str, ...]:
    """Installation prefix of the interpreter behind ``entry``'s python, following links step by step."""
    found: list[str] = []
    python = next((f"{entry}/{name}" for name in ("python3", "python") if os.path.lexists(f"{entry}/{name}")), None)
    for link in _chain(python) if python else ():
        prefix = os.path.dirname(os.path.dirname(link))
        if os.path.basename(os.path.dirname(link)) == "bin" and not _below(prefix, (os.path.dirname(entry), *SYSTEM)):
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


class Row(msgspec.Struct, frozen=True):
    """A toolchain manager: how its PATH entries look, relative to a root, and what is shown below that root."""

    name: str
    entry: str
    """Regular expression over the whole entry; its group ``root`` is the manager's directory."""
    show: tuple[str, ...]
    """Sub-paths of the root; ``{entry}`` is the entry itself, ``{version}`` the group ``version``."""


ROWS = (
    Row("pyenv", r"(?P<root>.*/\.pyenv)/(shims|bin|libexec|plugins/[^/]+/(shims|bin)|versions/[^/]+/bin)",
        ("bin", "libexec", "shims", "versions", "plugins", "completions", "pyenv.d", "version")),
    Row("nvm", r"(?P<root>.*/\.nvm)/versions/node/[^/]+/bin", ("versions",)),
    Row("volta", r"(?P<root>.*/\.volta)/bin", ("bin", "tools")),
    Row("mise", r"(?P<root>.*/(mise|\.mise|rtx))/(shims|installs/.+)", ("shims", "installs")),
    Row("asdf", r"(?P<root>.*/\.asdf)/(shims|bin|installs/.+)", ("shims", "bin", "installs", "lib", "plugins")),
    Row("fnm", r"(?P<root>.*/(fnm|\.fnm))/node-versions/[^/]+/installation/bin", ("node-versions",)),
    Row("conda", r"(?P<root>.*/[^/]*(conda|mamba|miniforge)[^/]*)(/envs/[^/]+)?/(bin|condabin)",
        ("bin", "lib", "envs", "condabin", "include", "share", "ssl", "etc", "conda-meta", "libexec")),
    Row("rustup", r"(?P<root>.*/\.cargo)/bin", ("bin", "../.rustup/toolchains", "../.rustup/settings.toml")),
    Row("rustup", r"(?P<root>.*/\.rustup)/toolchains/[^/]+/bin", ("toolchains",)),
    Row("go", r"(?P<root>.*/go)/bin",
        ("bin", "pkg/tool", "pkg/include", "src", "lib", "VERSION", "go.env", "misc", "test", "api")),
    Row("sdkman", r"(?P<root>.*/\.sdkman)/candidates/.+/bin", ("candidates",)),
    Row("rbenv", r"(?P<root>.*/\.rbenv)/(shims|bin|versions/[^/]+/bin)",
        ("bin", "libexec", "shims", "versions", "version")),
    Row("uv", r"(?P<root>.*/uv)/(python|tools)/[^/]+/bin", ("python", "tools")),
    Row("npm-prefix", r"(?P<root>.*/(\.npm-global|\.npm-packages|\.local/share/npm|\.local/share/pnpm))(/bin)?",
        ("bin", "lib", "pnpm", "nodejs", "global")),
    Row("deno", r"(?P<root>.*/\.deno)/bin", ("bin",)),
    Row("bun", r"(?P<root>.*/\.bun)/bin", ("bin", "install/global/node_modules")),
    Row("inspan", r"(?P<root>.*/harness/[^/]+/[^/]+)/(bin|node_modules/\.bin)", ("bin", "lib", "node_modules")),
    Row("homebrew", r"(?P<root>.*/\.?linuxbrew(/\.linuxbrew)?)/s?bin",
        ("bin", "sbin", "lib", "opt", "Cellar", "share", "etc/ssl", "etc/openssl@3", "etc/ca-certificates")),
)  # fmt: skip
"""The rows, most specific first."""


def _table(entry: str, home: str) -> Place | None:
    found = _virtual_environment(entry)
    if found:
        return found
    for row in ROWS:
        match = re.fullmatch(row.entry, entry)
        if match:
            root = match.group("root")
            shown = (os.path.normpath(os.path.join(root, part)) for part in row.show)
            present = tuple(directory for directory in shown if os.path.exists(directory))
            return Place(row.name, present) if present else None
    if entry.startswith("/opt/"):
        prefix = "/" + "/".join(entry.split("/")[1:3])
        return Place("opt", (prefix,))
    prefix = os.path.dirname(entry)
    if os.path.basename(entry) in ("bin", "sbin") and not _below(entry, (home,)) and prefix.count("/") > 1:
        return Place("prefix", (prefix,))
    return None


def _linked(entry: str, home: str) -> Place | None:
    """A directory of links in the home directory (``~/.local/bin``): shown with what its links lead to."""
    if os.path.basename(entry) != "bin" or not _below(entry, (home,)):
        return None
    targets = [target for target in _link_targets(entry) if target != entry]
    return Place("bin", (entry, *targets))


def _link_targets(entry: str) -> tuple[str, ...]:
    """Toolchains outside the system that executables of ``entry`` are links to."""
    found: list[str] = [] if _below(entry, SYSTEM) else [entry]
    try:
        listing = sorted(os.listdir(entry))
    except OSError:
        return tuple(found)
    for name in listing:
        path = f"{entry}/{name}"
        if os.path.islink(path):
            target = os.path.realpath(path)
            if _below(target, (*SYSTEM, "/etc", "/proc", "/dev", "/run")) or not os.path.exists(target):
                continue
            place = _table(os.path.dirname(target), "")
            found += place.show if place else (os.path.dirname(target),)
    return tuple(dict.fromkeys(found))


def _outermost(binds: Iterable[Bind]) -> tuple[Bind, ...]:
    """Without those that another one shows already, at the same place."""
    ordered = sorted(binds, key=lambda bind: bind.target.split("/"))
    kept: list[Bind] = []
    for bind in ordered:
        covered = any(
            _below(bind.target, (outer.target,))
            and bind.target != outer.target
            and not outer.writable
            and not bind.writable
            and bind.source == outer.source + bind.target.removeprefix(outer.target)
            for outer in kept
        )
        if not covered:
            kept.append(bind)
    return tuple(kept)


def _below(path: str, roots: Iterable[str]) -> bool:
    """Whether ``path`` is one of ``roots`` or lies below one."""
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)
