"""What was shown to work is remembered, and shown again when anything it depends on is another."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from inspan.workspace import shown
from inspan.workspace.shown import forget, remembered


class Shows:
    """Something to be shown, and how often that was done."""

    def __init__(self, works: bool = True) -> None:
        self.works, self.times = works, 0

    def __call__(self) -> bool:
        self.times += 1
        return self.works


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir(mode=0o700)
    return tmp_path / "state"


def test_a_success_is_shown_once_and_a_failure_every_time(root: Path) -> None:
    good, bad = Shows(), Shows(False)
    assert [remembered(root, "a", good), remembered(root, "a", good)] == [True, True]
    assert [remembered(root, "b", bad), remembered(root, "b", bad)] == [False, False]
    assert (good.times, bad.times) == (1, 2)
    forget(root)
    assert remembered(root, "a", bad) is False  # and what now fails is not remembered as working
    assert remembered(root, "a", good) and good.times == 2


def test_another_program_or_boot_or_privilege_is_shown_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = root / "bwrap"
    program.write_text("one")
    show = Shows()
    given: dict[str, Any] = {"programs": (str(program), "/no/such/program")}
    assert remembered(root, "a", show, **given) and remembered(root, "a", show, **given)
    assert show.times == 1
    program.write_text("another")
    assert remembered(root, "a", show, **given) and show.times == 2
    read = shown._read
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/sys/user/max_user_namespaces"):
        with monkeypatch.context() as patch:
            patch.setattr(shown, "_read", lambda asked, path=path: "0" if asked == path else read(asked))
            times = show.times
            assert remembered(root, "a", show, **given) and show.times == times + 1
            assert remembered(root, "a", show, **given) and show.times == times + 1
    with monkeypatch.context() as patch:
        patch.setattr(shown, "_read", lambda asked: read(asked).replace("CapEff:\t", "CapEff:\tf"))
        times = show.times
        assert remembered(root, "a", show, **given) and show.times == times + 1


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", '{"state": 1}', "\xff"])
def test_a_memory_that_cannot_be_read_is_none(root: Path, text: str) -> None:
    show = Shows()
    assert remembered(root, "a", show)
    [kept] = (root / "shown").iterdir()
    assert json.loads(kept.read_text())["inspan"]
    kept.write_bytes(text.encode("latin-1"))
    assert remembered(root, "a", show) and show.times == 2


def test_a_directory_others_may_write_to_remembers_nothing(root: Path, tmp_path: Path) -> None:
    show = Shows()
    root.chmod(0o777)
    assert remembered(root, "a", show) and remembered(root, "a", show)
    assert show.times == 2 and os.listdir(root) == []
    os.symlink(root, tmp_path / "link")
    root.chmod(0o700)
    for place in (tmp_path / "link", tmp_path / "absent"):
        assert remembered(place, "a", show)
    assert show.times == 4 and os.listdir(root) == []


def test_a_wrong_memory_chooses_no_weaker_level(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever could write the memory could only have a level tried that then fails."""
    from inspan.sandbox import bubblewrap, levels
    from inspan.sandbox.contract import Proof

    monkeypatch.setattr(levels, "probe", lambda level, _: Proof(level=level, available=level == "none", detail="gone"))
    ask = {"state_dir": str(root), "rehearsal": True, "allow_none": False}
    assert levels.choose("auto", **ask) == "none"
    assert remembered(root, "level-sandbox", lambda: True, programs=bubblewrap.candidates())
    assert levels.choose("auto", **ask) == "sandbox"
