"""The rows of the tools table: how PATH entries of known toolchains look, and which sub-paths of them may be shown."""

from __future__ import annotations

import os
import re

import msgspec

CREDENTIAL_FILES = (
    ".npmrc", ".yarnrc.yml", ".netrc", "_netrc", ".git-credentials", ".pypirc", ".aws", ".ssh", ".gnupg", ".kube",
    ".azure", ".docker", ".config/gh", ".config/gcloud", ".config/hub", ".cargo/credentials", "credentials",
    ".cargo/credentials.toml", "credentials.toml", "credentials.json", ".gem/credentials", ".m2/settings.xml",
    ".pgpass", ".my.cnf", ".env", ".vault-token", ".terraformrc", ".terraform.d/credentials.tfrc.json", "auth.json",
    ".credentials.json", ".claude", ".codex", ".gitconfig", ".bash_history", ".zsh_history",
)  # fmt: skip
"""Names at the top of a directory that make it one never to be shown."""


class Row(msgspec.Struct, frozen=True):
    """One toolchain.

    Attributes:
        name: for the outcome.
        entry: regular expression over a whole PATH entry; its group ``root`` is the toolchain's directory.
        show: sub-paths of the root that may be shown.
        env: variables by which its programs find the root when HOME is another one; values relative to the root.
    """

    name: str
    entry: str
    show: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()


ROWS = (
    Row("pyenv", r"(?P<root>.*/\.pyenv)/(shims|bin|libexec|plugins/[^/]+/(shims|bin)|versions/[^/]+/bin)",
        ("bin", "libexec", "shims", "versions", "plugins", "completions", "pyenv.d", "version"),
        (("PYENV_ROOT", "."),)),
    Row("nvm", r"(?P<root>.*/\.nvm)/versions/node/[^/]+/bin", ("versions",)),
    Row("volta", r"(?P<root>.*/\.volta)/bin", ("bin", "tools"), (("VOLTA_HOME", "."),)),
    Row("mise", r"(?P<root>.*/(mise|\.mise|rtx))/(shims|installs/.+)", ("shims", "installs"),
        (("MISE_DATA_DIR", "."),)),
    Row("asdf", r"(?P<root>.*/\.asdf)/(shims|bin|installs/.+)", ("shims", "bin", "installs", "lib", "plugins"),
        (("ASDF_DATA_DIR", "."),)),
    Row("fnm", r"(?P<root>.*/(fnm|\.fnm))/node-versions/[^/]+/installation/bin", ("node-versions",)),
    Row("conda", r"(?P<root>.*/[^/]*(conda|mamba|miniforge)[^/]*)(/envs/[^/]+)?/(bin|condabin)",
        ("bin", "lib", "envs", "condabin", "include", "share", "ssl", "etc", "conda-meta", "libexec")),
    Row("rustup", r"(?P<root>.*/\.cargo)/bin",
        ("bin", "../.rustup/toolchains", "../.rustup/settings.toml", "../.rustup/update-hashes"),
        (("RUSTUP_HOME", "../.rustup"),)),
    Row("rustup", r"(?P<root>.*/\.rustup)/toolchains/[^/]+/bin", ("toolchains",)),
    Row("go", r"(?P<root>.*/go)/bin",
        ("bin", "pkg/tool", "pkg/include", "src", "lib", "VERSION", "go.env", "misc", "test", "api")),
    Row("sdkman", r"(?P<root>.*/\.sdkman)/candidates/.+/bin", ("candidates",)),
    Row("rbenv", r"(?P<root>.*/\.rbenv)/(shims|bin|versions/[^/]+/bin)",
        ("bin", "libexec", "shims", "versions", "version"), (("RBENV_ROOT", "."),)),
    Row("uv", r"(?P<root>.*/uv)/(python|tools)/[^/]+/bin", ("python", "tools")),
    Row("npm-prefix", r"(?P<root>.*/(\.npm-global|\.npm-packages|\.local/share/npm|\.local/share/pnpm))(/bin)?",
        ("bin", "lib", "pnpm", "nodejs", "global")),
    Row("deno", r"(?P<root>.*/\.deno)/bin", ("bin",)),
    Row("bun", r"(?P<root>.*/\.bun)/bin", ("bin", "install/global/node_modules")),
    Row("inspan", r"(?P<root>.*/harness/[^/]+/[^/]+)/(bin|node_modules/\.bin)", ("bin", "lib", "node_modules")),
    Row("homebrew", r"(?P<root>.*/\.?linuxbrew(/\.linuxbrew)?)/s?bin",
        ("bin", "sbin", "lib", "opt", "Cellar", "share", "etc/ssl", "etc/openssl@3", "etc/ca-certificates")),
    Row("opt", r"(?P<root>/opt/[^/]+)(/.+)?", (".",)),
)  # fmt: skip
"""The rows, most specific first."""


class Match(msgspec.Struct, frozen=True):
    """What one row says of one PATH entry: directories that exist, and variables with absolute values."""

    name: str
    show: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()


def match(entry: str) -> Match | None:
    """The first row that covers a PATH entry, None when none does or nothing of it exists."""
    for row in ROWS:
        found = re.fullmatch(row.entry, entry)
        if not found:
            continue
        root = found.group("root")
        shown = [os.path.normpath(os.path.join(root, part)) for part in row.show]
        present = tuple(path for path in shown if os.path.exists(path))
        env = tuple((name, os.path.normpath(os.path.join(root, part))) for name, part in row.env)
        return Match(row.name, present, env) if present else None
    return None


def below(path: str, *roots: str) -> bool:
    """Whether ``path`` is one of ``roots`` or lies below one."""
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def refusal(directory: str, *, home: str, checkout: str | None) -> str | None:
    """Why a directory may not be shown, None when it may."""
    real = os.path.realpath(directory)
    if any(below(one, real) for one in (os.path.normpath(home), os.path.realpath(home))):
        return "is the home directory or holds it"
    if checkout and below(os.path.realpath(checkout), real):
        return "holds the checkout"
    for name in CREDENTIAL_FILES:
        if os.path.lexists(os.path.join(real, name)):
            return f"holds {name}"
    return None
