"""Who starts a job must not matter: root behind a home that only root may enter, or an ordinary user.

The whole command line, from an installation of its own, with a home of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from people import USER, Person, install, owners
from runs import SANDBOX_UID, checkout_digest, nothing_left

from inspan.spec.levels import promises

CAGE = Path(__file__).resolve().parents[1] / "support/cage.py"
FILES = {
    "src/__init__.py": "",
    "src/calc.py": "def add(a, b):\n    return a - b\n",
    "tests/__init__.py": "",
    "tests/test_calc.py": (
        "import unittest\n\nfrom src.calc import add\n\n\nclass Add(unittest.TestCase):\n    def test_add(self):\n"
        "        self.assertEqual(add(2, 3), 5)\n"
    ),
}
FIX = """schema: inspan.rehearsal/1
steps:
  - write: {path: src/calc.py, content: "def add(a, b):\\n    return a + b\\n"}
  - bash: "id -u"
  - say: done
"""
CHEAT = FIX.replace("  - say", '  - write: {path: other.txt, content: "more\\n"}\n  - say')


@pytest.fixture(scope="module")
def ground() -> Iterator[Path]:
    """A directory everybody may pass; pytest's own is root's alone."""
    made = Path(tempfile.mkdtemp(prefix="inspan-people-", dir="/var/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def anybody(ground: Path) -> Path:
    """An installation that everybody can read."""
    earlier = os.umask(0o022)
    try:
        return install(ground / "inspan")
    finally:
        os.umask(earlier)


def _home(ground: Path, name: str, uid: int) -> Path:
    home = ground / name
    home.mkdir(mode=0o700)
    os.chown(home, uid, uid)
    return home


@pytest.fixture(scope="module")
def root(ground: Path) -> Person:
    """Root, whose programs, state and repositories are in a home nobody else may enter, with a umask to match."""
    if os.geteuid() != 0:
        pytest.skip("NORUN: needs to be started as root")
    home = _home(ground, "root", 0)
    earlier = os.umask(0o077)
    try:
        return Person(0, home, install(home / "inspan"), ("sh", "-c", 'umask 077; exec "$@"', "sh"))
    finally:
        os.umask(earlier)


@pytest.fixture(scope="module")
def user(ground: Path, anybody: Path) -> Person:
    """An ordinary user."""
    uid = USER if os.geteuid() == 0 else os.geteuid()
    return Person(uid, _home(ground, "user", uid), anybody)


@pytest.fixture(params=["root", "user"])
def person(request: pytest.FixtureRequest) -> Iterator[Person]:
    """Afterwards nothing may run, nothing may lie about, and everybody's files are their own."""
    who: Person = request.getfixturevalue(request.param)
    before = _strays(who)
    yield who
    assert nothing_left(who.state) == []
    allowed = {who.uid, SANDBOX_UID} if who.uid == 0 else {who.uid}
    found = owners(who.home)
    assert set(found) <= allowed, {uid: paths[:5] for uid, paths in found.items() if uid not in allowed}
    for attempt in (who.state / "attempts").glob("*"):
        for leaf in ("ws", "home"):
            if (attempt / leaf).exists():
                inside = owners(attempt / leaf)
                assert len(inside) == 1, {uid: paths[:5] for uid, paths in inside.items()}
    assert _strays(who) == before, "something lies in the temporary directory"


def _strays(who: Person) -> set[str]:
    """What this person, or the sandbox's identity, owns in temporary directories."""
    mine = {who.uid, SANDBOX_UID} - {0}
    found = set()
    for place in (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm")):
        for path in place.iterdir():
            try:
                if path.lstat().st_uid in mine:
                    found.add(str(path))
            except FileNotFoundError:
                continue
    return found


def _scenario(who: Person, name: str, text: str) -> str:
    path = who.home / f"{name}.yaml"
    path.write_text(text)
    os.chown(path, who.uid, who.uid)
    return str(path)


def _repository(who: Person, level: str) -> Path:
    path = who.home / f"repo-{level}"
    return path if path.is_dir() else who.repository(path.name, FILES)


LANDLOCK = pytest.param("landlock", marks=pytest.mark.long)
GVISOR = pytest.param("gvisor", marks=pytest.mark.long)
LEVELS = ("sandbox", LANDLOCK, GVISOR, "none")
MOSTLY_SANDBOX = ("sandbox", LANDLOCK, GVISOR, pytest.param("none", marks=pytest.mark.long))
_found: dict[int, dict[str, dict]] = {}


def _need(who: Person, level: str) -> None:
    """NORUN with what the doctor said to this person."""
    if who.uid not in _found:
        rows = json.loads(who.inspan("doctor", "--json").stdout)["levels"]
        _found[who.uid] = {row["level"]: row for row in rows}
    found = _found[who.uid][level]
    if not found["available"]:
        pytest.skip(f"NORUN: level {level} as uid {who.uid}: {found['detail']}")


def test_the_doctor_changes_nothing_and_says_who_asks(person: Person) -> None:
    state = person.state.exists()
    done = person.inspan("doctor")
    assert done.returncode == 0 and f"uid {person.uid}" in done.stdout, done
    assert "Traceback" not in done.stderr
    assert person.state.exists() == state


@pytest.mark.parametrize("level", MOSTLY_SANDBOX)
def test_a_file_is_written_and_accepted(person: Person, level: str) -> None:
    _need(person, level)
    repo = _repository(person, level)
    before = checkout_digest(repo)
    result = person.run(
        "create hello.txt", "--repo", str(repo), "--backend", "bare@rehearsal/any", "--rehearse", "write-file",
        "--check", "there=test -f hello.txt", "--sandbox", level,
    )  # fmt: skip
    outcome = result.document
    assert (result.status, outcome["verdict"], outcome["reason"]) == (0, "accepted", "verified"), result
    assert outcome["isolation"]["sandbox"] == level and outcome["isolation"]["proved"] is (level != "none")
    assert [f["path"] for f in outcome["change"]["files"]] == ["hello.txt"]
    assert checkout_digest(repo) == before
    shown = person.call("git", "show", f"inspan/{outcome['job']}:hello.txt", cwd=repo)
    assert shown.returncode == 0 and shown.stdout, shown
    assert f"refs/heads/inspan/{outcome['job']}" in person.call("git", "for-each-ref", cwd=repo).stdout


@pytest.mark.parametrize("level", LEVELS)
def test_a_fix_is_accepted_and_a_write_out_of_scope_rejected(person: Person, level: str) -> None:
    _need(person, level)
    repo = _repository(person, level)
    common = (
        "fix add", "--repo", str(repo), "--backend", "bare@rehearsal/any", "--sandbox", level, "--scope", "src/**",
        "--check", "unit=python3 -m unittest -q",
    )  # fmt: skip
    fixed = person.run(*common, "--rehearse", _scenario(person, "fix", FIX)).document
    assert (fixed["verdict"], fixed["reason"]) == ("accepted", "verified"), fixed
    assert (fixed["checks"][0]["evidence"], fixed["checks"][0]["base"]) == ("tests", "failed"), fixed
    cheat = person.run(*common, "--rehearse", _scenario(person, "cheat", CHEAT)).document
    assert (cheat["verdict"], cheat["reason"]) == ("rejected", "out_of_scope"), cheat
    # The identity inside: never root in the sandbox, and in a guest a root of nothing, whoever it is outside.
    inside = person.inspan("logs", fixed["job"]).stdout
    expected = SANDBOX_UID if person.uid == 0 and level != "none" else person.uid
    if promises(level).own_kernel:
        assert fixed["isolation"]["proof"]["uid"] == expected
        expected = 0
    assert str(expected) in inside.split(), inside
    kept = person.inspan("diff", cheat["job"]).stdout
    assert "+more" in kept
    listed = person.inspan("ps").stdout
    assert fixed["job"] in listed and cheat["job"] in listed, listed


@pytest.mark.parametrize("level", MOSTLY_SANDBOX)
def test_a_job_that_is_cut_off_leaves_nothing(person: Person, level: str) -> None:
    _need(person, level)
    repo = _repository(person, level)
    spread = FIX.replace(
        "id -u", "(setsid sleep 300 &) ; mkdir -p deep/er; chmod 500 deep; echo x > loose; chmod 000 loose; sleep 300"
    )
    outcome = person.run(
        "wait", "--repo", str(repo), "--backend", "bare@rehearsal/any", "--sandbox", level, "--timeout", "4",
        "--rehearse", _scenario(person, "spread", spread),
    ).document  # fmt: skip
    assert (outcome["verdict"], outcome["reason"]) == ("failed", "deadline"), outcome
    assert outcome["job"] not in person.call("git", "for-each-ref", cwd=repo).stdout
    assert nothing_left(person.state) == []
    cleaned = person.inspan("gc")
    assert cleaned.returncode == 0, cleaned.stderr
    assert "Traceback" not in cleaned.stderr


def test_a_repository_that_one_may_only_read(ground: Path, root: Person, user: Person) -> None:
    """The work is done and kept; a branch cannot be delivered and the outcome says why; a patch can."""
    _need(user, "sandbox")
    open_to_all = root.repository("open", FILES).rename(ground / "open")
    subprocess.run(["chmod", "-R", "go+rX", open_to_all], check=True)
    before = checkout_digest(open_to_all)
    job = (
        "create hello.txt",
        "--repo",
        str(open_to_all),
        "--backend",
        "bare@rehearsal/any",
        "--rehearse",
        "write-file",
        "--unchecked",
    )
    refused = user.run(*job).document
    assert (refused["verdict"], refused["reason"]) == ("failed", "delivery_failed"), refused
    assert "permission" in refused["detail"] and str(open_to_all) in refused["detail"], refused
    patched = user.inspan("run", *job, "--deliver", "patch")
    assert patched.returncode == 0 and f"delivered: patch {user.state}" in patched.stderr, patched
    assert checkout_digest(open_to_all) == before and set(owners(open_to_all)) == {0}
    closed = user.inspan(
        "run", "x", "--repo", str(root.home), "--backend", "bare@rehearsal/any", "--rehearse", "write-file"
    )
    assert closed.returncode == 2 and "no permission" in closed.stderr, closed


def test_an_ordinary_user_in_a_plain_container(ground: Path, user: Person) -> None:
    shutil.copy(CAGE, ground / "cage.py")
    (ground / "cage.py").chmod(0o644)
    caged = user._replace(wrap=(str(user.python), str(ground / "cage.py")))
    repo = _repository(user, "caged")
    job = ("create hello.txt", "--repo", str(repo), "--check", "there=test -f hello.txt")
    fallen = caged.run(*job, "--backend", "bare@rehearsal/any", "--rehearse", "write-file")
    outcome = fallen.document
    assert (outcome["verdict"], outcome["isolation"]["sandbox"]) == ("accepted", "none"), outcome
    refused = caged.inspan("run", *job, "--backend", "bare@anthropic/m", env=user.environment(ANTHROPIC_API_KEY="k"))
    assert refused.returncode == 1 and "seccomp=unconfined" in refused.stderr, refused
    assert set(owners(user.home)) == {user.uid} and nothing_left(user.state) == []


@pytest.mark.long
def test_where_a_container_allows_landlock_auto_takes_it(ground: Path, user: Person) -> None:
    _need(user, "landlock")
    shutil.copy(CAGE, ground / "cage.py")
    (ground / "cage.py").chmod(0o644)
    caged = user._replace(wrap=(str(user.python), str(ground / "cage.py"), "--landlock"))
    repo = _repository(user, "landlocked")
    before = checkout_digest(repo)
    job = ("fix add", "--repo", str(repo), "--backend", "bare@rehearsal/any", "--check", "unit=python3 -m unittest -q")
    fixed = caged.run(*job, "--rehearse", _scenario(user, "fix", FIX)).document
    assert (fixed["verdict"], fixed["checks"][0]["evidence"]) == ("accepted", "tests"), fixed
    isolation = fixed["isolation"]
    assert (isolation["sandbox"], isolation["workspace"], isolation["egress"]) == ("landlock", "clone", "gateway")
    assert isolation["proved"] and isolation["proof"]["landlock"] >= 4
    answer = caged.run("read", *job[1:5], "--rehearse", "write-file", "--read-only").document
    assert answer["isolation"]["sandbox"] == "landlock" and answer["verdict"] != "accepted", answer
    assert checkout_digest(repo) == before and set(owners(user.home)) == {user.uid}
    assert nothing_left(user.state) == []


@pytest.mark.long
def test_root_gives_root_up_for_landlock_where_the_state_can_be_passed_to(ground: Path, anybody: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("NORUN: needs to be started as root")
    home = _home(ground, "passable", 0)
    home.chmod(0o711)
    who = Person(0, home, anybody)
    found = json.loads(who.inspan("doctor", "isolation", "--json").stdout)
    if not next(row for row in found["levels"] if row["level"] == "landlock")["available"]:
        pytest.skip(f"NORUN: {found['missing']}")
    repo = _repository(who, "landlock")
    fixed = who.run(
        "fix add", "--repo", str(repo), "--backend", "bare@rehearsal/any", "--check", "unit=python3 -m unittest -q",
        "--sandbox", "landlock", "--rehearse", _scenario(who, "fix", FIX),
    ).document  # fmt: skip
    assert (fixed["verdict"], fixed["checks"][0]["evidence"]) == ("accepted", "tests"), fixed
    assert fixed["isolation"]["proof"]["uid"] == SANDBOX_UID
    assert who.state.stat().st_mode & 0o007 == 0 and nothing_left(who.state) == []


def test_the_controls(ground: Path, root: Person, user: Person) -> None:
    """The installation of the one is closed to the other, and the user cannot write what is everybody's."""
    denied = user.call(str(user.python), "-c", f"open({str(root.python.parent.parent / 'pyvenv.cfg')!r})")
    assert denied.returncode != 0 and "PermissionError" in denied.stderr
    denied = user.call(str(user.python), "-c", f"open({str(user.python.parent / 'x')!r}, 'w')")
    assert denied.returncode != 0 and "PermissionError" in denied.stderr
    assert (root.home.stat().st_mode & 0o777, root.python.parent.parent.stat().st_mode & 0o77) == (0o700, 0)
