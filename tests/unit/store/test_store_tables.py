"""Jobs, events, outcomes and attempts in real SQLite files."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest

from inspan.errors import StateError, UnknownName
from inspan.outcome.reasons import REASONS, Verdict
from inspan.outcome.records import BackendRecord, Change, Facets, FileChange, Outcome
from inspan.spec.job import Job
from inspan.spec.paths import State, state
from inspan.store import database, ids, named, read
from inspan.store.records import NewJob
from inspan.store.store import CANCEL_WINS, Store

SECRET = "sk-ant-api03-" + "q7" * 20


def outside(sql: str, *values: str) -> None:
    """A statement that does not come from the store."""
    with contextlib.closing(sqlite3.connect(state().database, isolation_level=None)) as connection:
        connection.execute(sql, values)


def new_job(job: str = "", executor: str = "x1") -> NewJob:
    return NewJob(
        id=job or ids.new_job_id(),
        spec=Job(prompt="do it", repo="/r"),
        repo="/r",
        base="b" * 40,
        backend="bare@rehearsal/any",
        resolved={"level": "none"},
        executor=executor,
    )


def an_outcome(job: str, reason: str = "verified", **more: object) -> Outcome:
    row = REASONS[reason]
    values: dict[str, object] = {
        "job": job,
        "verdict": row.verdict,
        "reason": reason,
        "reasons": (reason,),
        "required_action": row.action,
        "facets": Facets(),
        "backend": BackendRecord(harness="bare", provider="rehearsal", model="any"),
        **more,
    }
    return Outcome(**values)  # type: ignore[arg-type]


@pytest.fixture
def store():
    opened = Store.open(state())
    yield opened
    opened.close()


def test_a_job_comes_back_as_it_was_stored(store: Store) -> None:
    job = new_job()
    store.insert_job(job)
    row = store.job(job.id)
    assert row is not None and row.spec == job.spec and row.resolved == {"level": "none"} and row.state == "queued"
    assert read.get_job(state(), job.id) == row
    assert [r.id for r in read.list_jobs(state())] == [job.id]
    assert read.list_jobs(state(), repo="/elsewhere") == []


def test_a_job_of_a_newer_program_with_the_same_tables_can_be_read(store: Store) -> None:
    job = new_job()
    store.insert_job(job)
    outside("update job set spec = json_set(spec, '$.future', 1)")
    assert [row.spec for row in read.list_jobs(state())] == [job.spec]


def test_the_same_id_twice_is_refused(store: Store) -> None:
    job = new_job()
    store.insert_job(job)
    with pytest.raises(StateError, match="cannot be stored"):
        store.insert_job(job)


def test_everything_is_private(store: Store) -> None:
    store.insert_job(new_job("jaaaaaaaaaaa"))
    store.keep("jaaaaaaaaaaa", "transcript", b"x")
    modes = {}
    for directory, names, files in os.walk(state().root):
        for name in names + files:
            path = os.path.join(directory, name)
            modes[path] = stat.S_IMODE(os.lstat(path).st_mode)
    assert len(modes) >= 4
    assert {m for p, m in modes.items() if os.path.isdir(p)} == {0o700}
    assert {m for p, m in modes.items() if os.path.isfile(p)} == {0o600}


def test_events_are_numbered_and_a_step_run_again_writes_its_event_once(store: Store) -> None:
    job = new_job()
    store.insert_job(job)
    assert [store.append(job.id, "warning", {"n": n}) for n in range(3)] == [1, 2, 3]
    assert store.append(job.id, "attempt_started", once="a1") == 4
    assert store.append(job.id, "attempt_started", once="a1") == 4
    assert [e.seq for e in read.events_since(state(), job.id)] == [1, 2, 3, 4]
    assert [e.kind for e in read.events_since(state(), job.id, 3)] == ["attempt_started"]


def test_a_kind_nobody_documented_is_refused(store: Store) -> None:
    job = new_job()
    store.insert_job(job)
    with pytest.raises(ValueError, match="surprise"):
        store.append(job.id, "surprise")


def test_events_from_many_threads_have_no_gap_and_no_double(store: Store) -> None:
    job = new_job()
    store.insert_job(job)
    other = Store.open(state())  # a second process would be one more connection
    writers = [
        threading.Thread(target=lambda s=s: [s.append(job.id, "warning") for _ in range(20)])
        for s in (store, other) * 2
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    other.close()
    assert [e.seq for e in read.events_since(state(), job.id)] == list(range(1, 81))


def test_secrets_are_redacted_before_they_are_written(store: Store) -> None:
    job = new_job()
    store.insert_job(job)
    store.append(job.id, "warning", {"text": f"key {SECRET}", "list": [SECRET]})
    digest = store.keep(job.id, "transcript", f"Authorization: {SECRET}".encode())
    store.record_outcome(an_outcome(job.id, detail=SECRET))
    assert b"[redacted]" in store.artifacts.get(digest)
    store.close()
    found = [p for p in state().root.rglob("*") if p.is_file() and SECRET.encode() in p.read_bytes()]
    assert found == []


def test_a_patch_is_redacted_by_value_only() -> None:
    with Opened(("hunter2-the-credential",)) as store:
        job = new_job()
        store.insert_job(job)
        digest = store.keep(job.id, "patch", f"+{SECRET} hunter2-the-credential".encode(), exact=True)
        assert store.artifacts.get(digest) == f"+{SECRET} [redacted]".encode()


class Opened:
    def __init__(self, secrets: tuple[str, ...]) -> None:
        self.store = Store.open(state(), secrets)

    def __enter__(self) -> Store:
        return self.store

    def __exit__(self, *_: object) -> None:
        self.store.close()


def test_an_outcome_is_written_once_and_ends_the_job(store: Store) -> None:
    job = new_job()
    store.insert_job(job)
    first = an_outcome(job.id, "checks_failed")
    assert store.record_outcome(first) == first
    assert store.record_outcome(an_outcome(job.id, "verified")) == first, "the first word stands"
    row = store.job(job.id)
    assert row is not None and (row.state, row.verdict, row.reason) == ("rejected", "rejected", "checks_failed")
    assert [e.kind for e in read.events_since(state(), job.id)] == ["ended"]
    with pytest.raises(sqlite3.DatabaseError, match="never changed"):
        outside("update outcome set document = '{}'")
    for table in ("outcome", "event"):
        with pytest.raises(sqlite3.DatabaseError, match="never removed"):
            outside(f"delete from {table}")


def test_a_later_result_never_overwrites_cancelled(store: Store) -> None:
    job = new_job()
    store.insert_job(job)
    assert store.request_cancel(job.id)
    assert store.record_outcome(an_outcome(job.id)) == CANCEL_WINS
    assert store.outcome(job.id) is None
    with pytest.raises(sqlite3.IntegrityError, match="cancelled"):  # the table itself refuses too
        document = '{"verdict": "accepted"}'
        outside("insert into outcome values (?, '', ?)", job.id, document)
    ended = store.record_outcome(an_outcome(job.id, "cancelled_by_user"))
    assert ended != CANCEL_WINS and ended.verdict is Verdict.CANCELLED


def test_a_cancel_never_overwrites_a_result(store: Store) -> None:
    job = new_job()
    store.insert_job(job)
    store.record_outcome(an_outcome(job.id))
    assert not store.request_cancel(job.id)
    assert not store.cancel_requested(job.id)


def test_names_that_are_not_utf8_survive_as_text(store: Store) -> None:
    job = new_job()
    store.insert_job(job)
    change = Change(base="b" * 40, files=(FileChange(path="bad\udcff.txt", status="added"),))
    standing = store.record_outcome(an_outcome(job.id, change=change))
    assert standing == read.get_outcome(state(), job.id)
    assert standing.change.files[0].path == "bad\\udcff.txt"


def test_a_job_is_taken_by_one_only(store: Store) -> None:
    job = new_job(executor="xdead")
    store.insert_job(job)
    assert [store.take_job(job.id, "xdead", "xme"), store.take_job(job.id, "xdead", "xother")] == [True, False]
    assert [(r.id, r.executor) for r in store.open_jobs()] == [(job.id, "xme")]


def test_attempts_end_once(store: Store) -> None:
    job = new_job()
    store.insert_job(job)
    attempt = store.begin_attempt(job.id, 1)
    assert store.begin_attempt(job.id, 1) == attempt == f"{job.id}.a1"
    store.end_attempt(attempt, "finished")
    store.end_attempt(attempt, "crashed")
    assert [(a.n, a.state) for a in read.attempts(state(), job.id)] == [(1, "finished")]


def test_finding_a_job(store: Store) -> None:
    for job in ("jaaaaaaaaaa1", "jaaaaaaaaaa2", "jbbbbbbbbbb1"):
        store.insert_job(new_job(job))
    assert read.find_job(state(), "jb").id == "jbbbbbbbbbb1"
    assert read.find_job(state(), "jaaaaaaaaaa1").id == "jaaaaaaaaaa1"
    assert read.find_job(state(), "@last").id in {"jaaaaaaaaaa1", "jaaaaaaaaaa2", "jbbbbbbbbbb1"}
    with pytest.raises(UnknownName, match="2 jobs"):
        read.find_job(state(), "ja")
    with pytest.raises(UnknownName, match="jaaaaaaaaaa1"):
        read.find_job(state(), "jaaaaaaaaaa7")
    for odd in ("%", "_", "", "../x"):
        with pytest.raises(UnknownName):
            read.find_job(state(), odd)


def test_reading_without_a_state_finds_nothing_and_makes_nothing() -> None:
    assert read.list_jobs(state()) == [] and read.get_job(state(), "j1") is None
    assert not state().root.exists()


def test_readers_and_the_store_import_no_engine() -> None:
    code = (
        "import sys, inspan.store.read, inspan.store.store\n"
        "print(sorted({'dbos', 'sqlalchemy', 'aiohttp', 'rich', 'psutil'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_newer_state_is_refused_by_writer_and_reader(store: Store) -> None:
    store.close()
    connection = sqlite3.connect(state().database)
    connection.execute(f"pragma user_version = {named.version() + 1}")
    connection.close()
    for use in (lambda: Store.open(state()), lambda: read.list_jobs(state())):
        with pytest.raises(StateError, match="newer Inspan") as caught:
            use()
        assert caught.value.reason == "state_too_new" and caught.value.where and caught.value.do


def test_a_damaged_database_is_named() -> None:
    state().root.mkdir(parents=True)
    state().database.write_bytes(b"this is not a database, it is a letter" * 100)
    for use in (lambda: Store.open(state()), lambda: read.list_jobs(state())):
        with pytest.raises(StateError, match="damaged"):
            use()


def test_a_state_that_cannot_be_made_is_named(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError) as caught:
        Store.open(State(tmp_path / "file" / "state"))
    assert caught.value.where and caught.value.do


@pytest.mark.parametrize(
    ("error", "reason", "words"),
    [
        (OSError(28, "No space left on device"), "disk_full", "disk is full"),
        (sqlite3.OperationalError("database or disk is full"), "disk_full", "disk is full"),
        (PermissionError(13, "Permission denied"), "internal_error", "cannot be written"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "internal_error", "cannot be written"),
        (OSError(30, "Read-only file system"), "internal_error", "cannot be written"),
        (sqlite3.OperationalError("database is locked"), "internal_error", "locked"),
    ],
)
def test_failures_say_what_to_do(error: Exception, reason: str, words: str) -> None:
    with pytest.raises(StateError, match=words) as caught, database.explained(state().database):
        raise error
    assert caught.value.reason == reason and caught.value.do


def test_an_artifact_that_was_changed_is_not_returned(store: Store) -> None:
    job = new_job()
    store.insert_job(job)
    digest = store.keep(job.id, "patch", b"one")
    assert store.keep(job.id, "patch", b"one") == digest
    assert [a.size for a in store.kept(job.id)] == [3]
    path = state().artifacts / digest[7:9] / digest[7:]
    path.write_bytes(b"two")
    with pytest.raises(StateError, match="changed after it was written"):
        read.artifact(state(), digest)
    path.unlink()
    with pytest.raises(StateError, match="gone"):
        read.artifact(state(), digest)
    with pytest.raises(StateError, match="not the digest"):
        read.artifact(state(), "sha256:../../etc/passwd")


def test_ids_sort_by_time_and_are_safe_everywhere() -> None:
    early, late = ids.new_job_id(1_800_000_000), ids.new_job_id(1_800_000_001)
    assert early < late and all(re.fullmatch("j[0-9a-hjkmnp-tv-z]{11}", name) for name in (early, late))
    many = {ids.new_job_id() for _ in range(200)}
    assert len(many) >= 199
    name = ids.attempt_id(early, 1)
    assert subprocess.run(["git", "check-ref-format", f"refs/heads/inspan/{name}"]).returncode == 0
    assert subprocess.run(["git", "check-ref-format", "refs/heads/inspan/a..b"]).returncode != 0


def test_many_processes_open_a_fresh_state_at_once() -> None:
    code = "from inspan.store.store import Store; from inspan.spec.paths import state; Store.open(state()).close()"
    running = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(6)]
    assert [(p.communicate()[1], p.returncode) for p in running] == [(b"", 0)] * 6
