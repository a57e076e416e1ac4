"""Which level a job gets: never weaker than asked for, and ``none`` only by somebody's own word."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from inspan.errors import SandboxError, UnknownName
from inspan.sandbox import bubblewrap, levels, probe
from inspan.sandbox.contract import Proof
from inspan.sandbox.levels import choose
from inspan.spec.job import LEVELS as NAMES
from inspan.spec.levels import DEFAULT, PROMISES


@pytest.fixture
def works(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Say which levels work on the machine of the test."""

    def set_to(working: str) -> None:
        def found(level: str, state_dir: str) -> Proof:
            available = level in working.split()
            return Proof(level=level, available=available, detail="refused", enable=None if available else "do this")

        monkeypatch.setattr(levels, "probe", found)

    return set_to


ANSWERS = [
    # levels that work, asked, rehearsal, allow_none, minimum -> answer (None: refused)
    ("none landlock sandbox", "auto", False, False, None, "sandbox"),
    ("none landlock sandbox", "auto", True, True, None, "sandbox"),
    ("none landlock sandbox", "none", False, False, None, "none"),
    ("none landlock sandbox", "none", False, True, "sandbox", None),
    ("none landlock sandbox", "none", False, True, "landlock", None),
    ("none landlock sandbox", "landlock", False, False, "sandbox", None),
    ("none landlock sandbox", "landlock", False, False, "landlock", "landlock"),
    ("none landlock sandbox", "sandbox", False, False, "sandbox", "sandbox"),
    ("none landlock", "auto", False, False, None, "landlock"),
    ("none landlock", "auto", True, True, None, "landlock"),
    ("none landlock", "auto", False, False, "landlock", "landlock"),
    ("none landlock", "auto", True, True, "sandbox", None),
    ("none landlock", "sandbox", True, True, None, None),
    ("none", "auto", False, False, None, None),
    ("none", "auto", True, False, None, "none"),
    ("none", "auto", False, True, None, "none"),
    ("none", "auto", True, True, "landlock", None),
    ("none", "auto", True, False, "none", "none"),
    ("none", "landlock", True, True, None, None),
    ("none", "none", False, False, None, "none"),
    ("none landlock sandbox gvisor", "auto", False, False, None, "sandbox"),
    ("none landlock sandbox gvisor", "auto", False, False, "gvisor", "gvisor"),
    ("none landlock sandbox gvisor", "gvisor", False, False, None, "gvisor"),
    ("none landlock sandbox", "auto", True, True, "gvisor", None),
    ("none landlock sandbox", "gvisor", True, True, None, None),
    ("none landlock sandbox gvisor", "sandbox", False, False, "gvisor", None),
]


@pytest.mark.parametrize(("working", "asked", "rehearsal", "allow_none", "minimum", "answer"), ANSWERS)
def test_the_table_of_choices(
    works: Callable[[str], None],
    working: str,
    asked: str,
    rehearsal: bool,
    allow_none: bool,
    minimum: str | None,
    answer: str | None,
) -> None:
    works(working)
    further = {"state_dir": "/tmp", "rehearsal": rehearsal, "allow_none": allow_none, "minimum": minimum}
    if answer is None:
        with pytest.raises(SandboxError) as caught:
            choose(asked, **further)
        assert caught.value.reason == "sandbox_unavailable"
    else:
        assert choose(asked, **further) == answer


def test_the_refusal_names_the_command_that_would_help(works: Callable[[str], None]) -> None:
    works("none")
    with pytest.raises(SandboxError, match="do this"):
        choose("auto", state_dir="/tmp", rehearsal=False, allow_none=False)


LADDER = [
    # levels that work, asked, minimum -> answer (None: refused)
    ("none landlock sandbox beyond", "auto", None, "sandbox"),
    ("none beyond", "auto", None, None),
    ("none landlock sandbox beyond", "auto", "beyond", "beyond"),
    ("none landlock sandbox", "auto", "beyond", None),
    ("none landlock sandbox beyond", "beyond", None, "beyond"),
]


@pytest.mark.parametrize(("working", "asked", "minimum", "answer"), LADDER)
def test_a_level_above_the_default_is_taken_only_by_name(
    monkeypatch: pytest.MonkeyPatch, working: str, asked: str, minimum: str | None, answer: str | None
) -> None:
    """It costs more; and where the default does not work, it is not what ``auto`` means."""
    table = {**PROMISES, "beyond": PROMISES["sandbox"]}
    monkeypatch.setattr("inspan.spec.levels.PROMISES", table)
    monkeypatch.setattr(levels, "LEVELS", tuple(table))
    monkeypatch.setattr(
        levels, "probe", lambda level, state: Proof(level=level, available=level in working.split(), detail="refused")
    )
    given = {"state_dir": "/tmp", "rehearsal": False, "allow_none": False, "minimum": minimum}
    if answer is None:
        with pytest.raises(SandboxError, match="refused"):
            choose(asked, **given)
    else:
        assert choose(asked, **given) == answer


def test_every_level_of_the_table_has_a_driver_that_knows_its_name() -> None:
    assert [levels.driver(name).level for name in PROMISES] == list(PROMISES)
    assert [name for name in NAMES if name in PROMISES] == list(PROMISES)  # in the order of strength
    assert not PROMISES["none"].confined and DEFAULT in PROMISES


@pytest.mark.parametrize("name", ["container", "microvm", "", "Sandbox"])
def test_a_level_that_is_not_built_is_refused_by_name(name: str) -> None:
    with pytest.raises(UnknownName, match="none, landlock, sandbox, gvisor"):
        levels.driver(name)
    with pytest.raises(UnknownName):
        choose(name, state_dir="/tmp", rehearsal=True, allow_none=True)


def test_without_bubblewrap_the_level_is_unavailable_and_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    bubblewrap.find.cache_clear()
    monkeypatch.setattr(bubblewrap, "_SYSTEM", ("/no/such/bwrap",))
    monkeypatch.setattr(bubblewrap, "_packaged", lambda: None)
    try:
        found = levels.driver("sandbox").probe(str(tmp_path))
    finally:
        bubblewrap.find.cache_clear()
    assert not found.available
    assert found.enable is not None and "inspan[sandbox]" in found.enable


def test_bubblewrap_never_comes_from_a_path(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    fake = f"{tmp_path}/bwrap"
    with open(fake, "w") as out:
        out.write("#!/bin/sh\necho bubblewrap 99.0\n")
    os.chmod(fake, 0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    bubblewrap.find.cache_clear()
    assert bubblewrap.find().version != "99.0"
    # Control: put where it is looked for, it would be taken.
    bubblewrap.find.cache_clear()
    monkeypatch.setattr(bubblewrap, "_SYSTEM", (fake,))
    assert bubblewrap.find().version == "99.0"
    bubblewrap.find.cache_clear()


def test_a_probe_that_sees_too_much_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """Negative control of the probe: a script that reports a leak makes the level unavailable."""
    if not levels.driver("sandbox").probe(str(tmp_path)).available:
        pytest.skip("NORUN: level sandbox does not work here")
    monkeypatch.setattr(probe, "_SCRIPT", probe._SCRIPT.replace('"$CANARY"', "/usr"))
    found = levels.driver("sandbox").probe(str(tmp_path))
    assert not found.available
    assert "sees: /usr" in found.detail
    assert os.listdir(str(tmp_path)) == []


def test_a_probe_without_a_filter_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    from inspan.sandbox import launching

    if not levels.driver("sandbox").probe(str(tmp_path)).available:
        pytest.skip("NORUN: level sandbox does not work here")
    full = launching.specification
    monkeypatch.setattr(launching, "specification", lambda *given: full(*given) | {"seccomp": ""})
    found = levels.driver("sandbox").probe(str(tmp_path))
    assert (found.available, "filter" in found.detail) == (False, True)


def test_a_sandbox_in_the_hosts_network_is_refused_before_it_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Negative control of the proof taken from outside: a launcher that makes no network namespace."""
    from inspan.sandbox import launching, spawning

    if not levels.driver("sandbox").probe(str(tmp_path)).available:
        pytest.skip("NORUN: level sandbox does not work here")
    true = Path(spawning.__file__).with_name("launcher.py").read_text()
    broken = true.replace(" | NEWNET)", ")").replace("\n    loopback_up()\n", "\n")
    assert len(broken) == len(true) - len(" | NEWNET") - len("    loopback_up()\n")
    (tmp_path / "launcher.py").write_text(broken)
    full = launching.specification
    monkeypatch.setattr(launching, "specification", lambda *given: full(*given) | {"ports": []})
    monkeypatch.setattr(spawning, "__file__", str(tmp_path / "spawning.py"))
    found = levels.driver("sandbox").probe(str(tmp_path))
    assert (found.available, found.detail) == (False, "the sandbox does not hold: the net namespace is the host's")


def test_the_owner_is_the_caller_unless_the_caller_is_root() -> None:
    own = (os.geteuid(), os.getegid())
    none, sandbox = levels.owner("none"), levels.sandbox_owner()
    assert (none.uid, none.gid) == own
    assert (sandbox.uid, sandbox.gid) == ((levels.SANDBOX_UID,) * 2 if own[0] == 0 else own)
