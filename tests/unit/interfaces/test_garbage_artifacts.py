"""Kept files: unmerged work stays whatever its age, the rest goes after its retention, and rows are marked afterwards."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.leavings import Leavings

from inspan.errors import StateError
from inspan.interfaces.cli.gc import gc
from inspan.interfaces.garbage import artifacts
from inspan.interfaces.garbage.survey import Collector
from inspan.spec.tables import GcTable
from inspan.store.read import artifact, kept_artifacts
from inspan.store.store import Store

AGES = GcTable()
LONG_AFTER = AGES.artifacts + 60


@pytest.fixture
def left(tmp_path: Path) -> Iterator[Leavings]:
    made = Leavings(tmp_path)
    yield made
    made.store.close()


def collected(left: Leavings, after: float = LONG_AFTER) -> list[str]:
    """What went, by kind of artifact and job."""
    rows = {row.digest: f"{row.kind} of {row.job}" for row in kept_artifacts(left.state)}
    out = []
    with Collector(left.state, AGES, time.time() + after) as collector:
        for found in list(collector.survey()):
            if found.goes and collector.remove(found) is None and found.kind == "artifact":
                out.append(rows.get(found.digest or "", found.name))
    return sorted(out)


def merge(left: Leavings, name: str, text: str) -> None:
    (left.checkout / name).write_text(text)
    left.git("add", name)
    left.git("commit", "-qm", "merged")


def test_unmerged_work_is_kept_for_ever(left: Leavings) -> None:
    left.job("jone", {"one.txt": "1\n"})
    left.job("jtwo", {"two.txt": "2\n"})
    left.job("jopen", {"three.txt": "3\n"}, ended=False)
    merge(left, "two.txt", "2\n")
    assert collected(left, after=LONG_AFTER - 120) == []
    assert collected(left) == ["patch of jtwo", "transcript of jone", "transcript of jtwo"]
    assert {f"{r.kind} of {r.job}" for r in kept_artifacts(left.state)} == {
        "patch of jone", "patch of jopen", "transcript of jopen",
    }  # fmt: skip
    merge(left, "one.txt", "1\n")
    assert collected(left) == ["patch of jone"]


def test_a_file_two_jobs_share_stays_while_one_needs_it(left: Leavings) -> None:
    left.job("jolder", {"same.txt": "same\n"})
    left.job("jnewer", {"same.txt": "same\n"}, ended=False)
    merge(left, "same.txt", "same\n")
    assert "patch of jolder" not in collected(left)  # the same patch is jnewer's, which has not ended
    digest = next(r.digest for r in kept_artifacts(left.state) if r.kind == "patch")
    assert artifact(left.state, digest)


def test_a_row_is_marked_after_its_file_and_renewed_with_it(left: Leavings) -> None:
    left.job("jmark", {})
    digest = next(r.digest for r in kept_artifacts(left.state))
    assert collected(left) == ["transcript of jmark"]
    assert kept_artifacts(left.state) == []
    with pytest.raises(StateError, match="gone"):
        artifact(left.state, digest)
    assert left.store.keep("jmark", "transcript", b"said jmark") == digest
    assert [r.digest for r in kept_artifacts(left.state)] == [digest]


def test_files_without_a_row_have_the_longest_time(left: Leavings) -> None:
    digest, _ = left.store.artifacts.put(b"written, and then the driver was killed")
    assert collected(left, after=AGES.artifacts - 120) == []
    assert [n.rsplit("/", 1)[1] for n in collected(left, after=LONG_AFTER)] == [digest.removeprefix("sha256:")]
    stranger = left.state.artifacts / "README"
    stranger.write_text("not ours")
    assert collected(left) == [] and stranger.exists()


def test_the_command(left: Leavings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INSPAN_HOME", str(left.state.root))
    monkeypatch.setenv("INSPAN_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setattr("inspan.interfaces.cli.gc._forget", lambda _: 0)
    left.job("jcmd", {"new.txt": "work\n"})
    run = CliRunner()

    def said(*flags: str) -> dict[str, dict[str, object]]:
        document = json.loads(run.invoke(gc, [*flags, "--json"], standalone_mode=False).stdout)
        assert document["schema"] == "inspan.gc/1"
        return {row["name"]: row for row in document["found"]}

    assert not said()["attempts/jcmd.a1"]["goes"]  # it ended a moment ago
    planned = said("--now", "--dry-run")["attempts/jcmd.a1"]
    assert planned["goes"] and not planned["removed"] and left.paths("jcmd").workspace.exists()
    (tmp_path / "config.toml").write_text('[gc]\nworkspaces = "0s"\n')
    assert said()["attempts/jcmd.a1"]["removed"] and not left.paths("jcmd").workspace.exists()
    text = run.invoke(gc, ["--now", "--dry-run"], standalone_mode=False).stdout
    assert "would remove" in text and "pristine" in text


def test_what_could_not_be_removed_is_reported(left: Leavings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPAN_HOME", str(left.state.root))
    monkeypatch.setattr("inspan.interfaces.cli.gc._forget", lambda _: 0)
    left.job("jstuck", {})

    def refused(_: Path) -> None:
        raise PermissionError(13, "Permission denied", "somewhere")

    monkeypatch.setattr("inspan.interfaces.garbage.found.remove_tree", refused)
    result = CliRunner().invoke(gc, ["--now"], standalone_mode=False)
    assert result.return_value == 1
    assert "not removed" in result.stdout and "Permission denied (somewhere)" in result.stdout


def test_a_file_nobody_knew_stays_once_a_job_keeps_it(left: Leavings) -> None:
    left.job("jnew", {}, ended=False)
    digest, _ = left.store.artifacts.put(b"the same words")  # of a job that was killed before it noted it
    with Collector(left.state, AGES, time.time() + LONG_AFTER) as collector:
        found = next(f for f in collector.survey() if f.name.endswith(digest[7:]))
        assert found.goes
        assert left.store.keep("jnew", "answer", b"the same words") == digest
        assert "jnew has not ended" in (collector.remove(found) or "")
    assert artifact(left.state, digest) == b"the same words"


@pytest.mark.parametrize("step", ["remove", "mark_gone"])
def test_a_file_that_is_kept_again_while_it_goes_is_there(
    left: Leavings, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    left.job("jold", {})
    left.job("jnew", {}, ended=False)
    digest = next(r.digest for r in kept_artifacts(left.state) if r.job == "jold")
    entered, own = threading.Event(), Store.open(left.state)

    def keep() -> None:
        entered.set()
        own.keep("jnew", "transcript", b"said jold")

    keeper = threading.Thread(target=keep)
    place: object = artifacts if step == "remove" else Store
    whole = getattr(place, step)

    def slow(*given: object) -> object:
        keeper.start()
        entered.wait(60)
        keeper.join(0.3)  # it waits for us; where it did not, it would be done by now
        return whole(*given)

    with Collector(left.state, AGES, time.time() + LONG_AFTER) as collector:
        found = next(f for f in collector.survey() if f.digest == digest)
        monkeypatch.setattr(place, step, slow)
        assert collector.remove(found) is None
    keeper.join(60)
    own.close()
    assert artifact(left.state, digest) == b"said jold"
    assert [r.job for r in kept_artifacts(left.state, digest=digest)] == ["jnew"]
