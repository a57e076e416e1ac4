"""Harness programs that come as npm packages: which version, which native file, how it is found again.

Only the package that holds the program's native file for this machine is ever installed. It has no install script and
needs no Node at run time, so nothing of the vendor's runs on the host.
"""

from __future__ import annotations

import os
import platform

import msgspec

from inspan.harness.contract import Installed
from inspan.harness.documents import parse
from inspan.harness.integrity import CLAUDE_CODE, CODEX
from inspan.harness.locate import newest, on_path, shown
from inspan.harness.reading import string


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A pinned program. ``{machine}`` is ``linux-x64`` and the like, ``{triple}`` the compiler's name for it.

    Attributes:
        version: the pinned version.
        package, package_version, file: npm package, its version, and the native file in it, as templates.
        integrity: sha512 of the pinned package by machine, as npm writes it.
        command: what it is called on a PATH.
    """

    version: str
    package: str
    package_version: str
    file: str
    command: str
    integrity: dict[str, str]

    def npm(self, machine: str, version: str | None = None) -> tuple[str, str]:
        """Package and version to ask npm for."""
        words = {"machine": machine, "version": version or self.version}
        return self.package.format(**words), self.package_version.format(**words)

    def native(self, machine: str) -> str:
        """The native file, relative to the installed version's directory."""
        file = self.file.format(triple=_TRIPLES.get(machine, machine))
        return os.path.join("node_modules", self.npm(machine)[0], file)


PROGRAMS = {
    "claude-code": Program(
        version="2.1.332",
        package="@anthropic-ai/claude-code-{machine}",
        package_version="{version}",
        file="claude",
        command="claude",
        integrity=CLAUDE_CODE,
    ),
    "codex": Program(
        version="0.171.0",
        package="@openai/codex",
        package_version="{version}-{machine}",
        file="vendor/{triple}/bin/codex",
        command="codex",
        integrity=CODEX,
    ),
}

_TRIPLES = {"linux-x64": "x86_64-unknown-linux-musl", "linux-arm64": "aarch64-unknown-linux-musl"}


def machine_for(program: Program) -> str | None:
    """This machine in npm's words, in the form that ``program`` has a package for; None when it has none."""
    processor = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower())
    name = f"{platform.system().lower()}-{processor}"
    musl = f"{name}-musl"
    if platform.libc_ver()[0] != "glibc" and musl in program.integrity:
        return musl
    return name if name in program.integrity else None


def located(name: str, path: str, prefix: str) -> Installed | None:
    """The program ``name`` in Inspan's own prefix, else on ``path``. Runs nothing."""
    program = PROGRAMS[name]
    machine = machine_for(program)
    own = newest(prefix, name, [program.native(machine)], program.version) if machine else None
    if own is not None and machine is not None:
        version, directory = own
        file = os.path.join(directory, program.native(machine))
        return Installed(argv=(file,), version=version, binds=shown([directory]), source="installed")
    found = on_path(program.command, path)
    return _from_path(found) if found else None


def _from_path(found: str) -> Installed:
    """A program that somebody else installed: a native file, or a script of a package that needs its neighbours."""
    real = os.path.realpath(found)
    root, modules, inner = real.partition("/node_modules/")
    needed = [real]
    if modules:
        needed = [f"{root}/node_modules"]
    scope = inner.split("/")
    package = "/".join(scope[: 2 if inner.startswith("@") else 1])
    version = _version_in(f"{root}/node_modules/{package}/package.json") if modules else _named(real)
    return Installed(argv=(real,), version=version, binds=shown(needed), source="path")


def _version_in(manifest: str) -> str | None:
    try:
        with open(manifest, "rb") as f:
            document = parse(f.read(1 << 20))
    except OSError:
        return None
    return (string(document, "version") or None) if isinstance(document, dict) else None


def _named(file: str) -> str | None:
    """Native installers keep each version as a file, or in a directory, named after it."""
    names = (os.path.basename(file), os.path.basename(os.path.dirname(file)))
    return next((name for name in names if name[:1].isdigit() and "." in name), None)
