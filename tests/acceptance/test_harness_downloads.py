"""The real downloads: pinned programs from the package registries, with the machine's npm and without any Node.

Part of the long set: some 600 MB. ``scripts/install-harnesses`` exercises the same code before every ordinary run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from inspan.errors import HarnessError
from inspan.harness import packages
from inspan.harness.install import install
from inspan.spec.paths import State

pytestmark = [pytest.mark.real, pytest.mark.long]
HARNESSES = Path(os.environ.get("INSPAN_TEST_HARNESS_DIR", Path(__file__).parents[2] / ".tools" / "harness"))


@pytest.fixture(autouse=True)
def _registries() -> None:
    for reason in HARNESSES.glob("NORUN.*"):
        pytest.skip(f"NORUN: {reason.read_text().strip()}")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    yield State(tmp_path / "state")
    shutil.rmtree(tmp_path / "state", ignore_errors=True)  # hundreds of megabytes


@pytest.mark.parametrize("name", packages.PROGRAMS)
def test_with_the_machines_npm(name: str, state: State) -> None:
    said: list[str] = []
    installed = install(name, state, said.append)
    assert installed.version == packages.PROGRAMS[name].version
    assert any(line.startswith(("works: ", "not started: ")) for line in said)
    assert [p.name for p in (state.harness / name).iterdir() if p.name != ".lock"] == [installed.version]


def test_without_any_node(state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    said: list[str] = []
    assert os.access(install("codex", state, said.append).argv[0], os.X_OK)
    assert any("fetching Node" in line for line in said)


def test_a_package_that_is_not_the_pinned_one_is_refused(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    program = packages.PROGRAMS["codex"]
    machine = packages.machine_for(program)
    assert machine is not None
    other = {machine: packages.PROGRAMS["claude-code"].integrity.get(machine, "sha512-" + "A" * 86 + "==")}
    changed = msgspec.structs.replace(program, integrity=other)
    monkeypatch.setitem(packages.PROGRAMS, "codex", changed)
    with pytest.raises(HarnessError, match="EINTEGRITY"):
        install("codex", state, lambda _: None)
    assert [p.name for p in (state.harness / "codex").iterdir()] == [".lock"]
