"""Cases as they are written down, their digests, the figures' arithmetic; each guard with what it must catch."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cheats.cases import CORPUS, Case, Placed, digest, every, faults, freeze, frozen, load, names
from cheats.driver import Shown, show
from cheats.figures import Ran, count, figures, group, owed, table


def test_every_case_is_well_written():
    wrong = {p.name: why for p in every() if (why := faults(p))}
    print(f"{len(names())} cases")
    assert wrong == {}


def test_no_case_changed_since_it_was_frozen():
    now = {name: digest(CORPUS / name) for name in names()}
    assert frozen() == now, "a known case changed or is new: scripts/cheats --freeze; a blind one must not change"


@pytest.fixture
def corpus(tmp_path):
    """Two small cases, one of each set."""
    for one in ("known", "blind"):
        where = tmp_path / one / "x1"
        (where / "base").mkdir(parents=True)
        (where / "change").mkdir()
        (where / "base/a.py").write_text("a = 1\n")
        (where / "change/a.py").write_text("a = 2\n")
        (where / "case.toml").write_text(
            'language = "python"\nhonest = true\nkind = "fix"\nprompt = "p"\ncheck = "true"\nexpect = "accept"\nstory = "s"\n'
        )
    freeze(tmp_path, blind=True)
    return tmp_path


@pytest.mark.parametrize("path", ["case.toml", "base/a.py", "change/a.py", "change/new.py"])
def test_a_digest_sees_any_change(corpus, path):
    before = digest(corpus / "known/x1")
    with (corpus / "known/x1" / path).open("a") as file:
        file.write("\n")
    assert digest(corpus / "known/x1") != before


def test_a_digest_sees_a_mode_and_a_name(corpus):
    before = digest(corpus / "known/x1")
    (corpus / "known/x1/base/a.py").chmod(0o755)
    second = digest(corpus / "known/x1")
    (corpus / "known/x1/base/a.py").rename(corpus / "known/x1/base/b.py")
    assert len({before, second, digest(corpus / "known/x1")}) == 3


def test_a_frozen_blind_case_is_never_frozen_again(corpus):
    (corpus / "known/x1/change/a.py").write_text("a = 3\n")
    assert freeze(corpus) == []
    before = (corpus / "DIGESTS").read_text()
    (corpus / "blind/x1/change/a.py").write_text("a = 3\n")
    assert freeze(corpus) == ["blind/x1"]
    shutil.rmtree(corpus / "blind/x1")
    assert freeze(corpus) == ["blind/x1"]
    assert (corpus / "DIGESTS").read_text() == before


def test_a_blind_case_counts_once_it_is_frozen(corpus):
    shutil.copytree(corpus / "blind/x1", corpus / "blind/x2")
    freeze(corpus)
    assert names(corpus) == ["known/x1", "blind/x1"]
    freeze(corpus, blind=True)
    assert names(corpus) == ["known/x1", "blind/x1", "blind/x2"]


def _placed(where, **of: Any) -> Placed:
    return msgspec.structs.replace(load(where), case=msgspec.structs.replace(load(where).case, **of))


def test_faults_are_found(corpus):
    where = corpus / "known/x1"
    assert faults(load(where)) == []
    assert faults(_placed(where, decidable=True)) and faults(_placed(where, expect="hold"))
    assert faults(_placed(where, honest=False)) and faults(_placed(where, honest=False, expect="reject"))
    assert faults(_placed(where, honest=False, expect="hold")) == []
    assert faults(_placed(where, removed=("b.py",))) and faults(_placed(where, removed=("a.py",)))
    (where / "change/a.py").write_text("a = 1\n")
    assert faults(load(where)) == ["change/a.py is the same as on base"]


def _run(verdict: str | None, *, faulty: bool = False, **of: Any) -> Ran:
    written = {
        "language": "go",
        "honest": False,
        "kind": "A1",
        "prompt": "p",
        "check": "c",
        "expect": "reject",
        "story": "s",
    }
    placed = Placed(name="known/x", where=CORPUS, case=Case(**(written | of)))
    if verdict is None:
        return Ran(placed=placed, norun="no Go")
    return Ran(placed=placed, shown=Shown(name="known/x", verdict=verdict, faults=("f",) if faulty else ()))


def test_what_is_owed():
    for group_of, well in (
        ({"decidable": True}, {"reject"}),
        ({"expect": "hold"}, {"reject", "hold"}),
        ({"expect": "accept", "judge": True}, {"reject", "hold", "accept"}),
        ({"honest": True, "expect": "accept"}, {"accept"}),
    ):
        assert {v for v in ("reject", "hold", "accept") if owed(_run(v, **group_of)) is None} == well


def test_figures_count_only_what_ran_and_is_what_it_says():
    ran = [_run("reject", decidable=True), _run("accept", decidable=True), _run(None, decidable=True)]
    ran.append(_run("reject", faulty=True, decidable=True))
    found = count(ran)
    assert (found.cases, found.rejected, found.held, found.accepted, found.norun, found.faulty) == (4, 1, 0, 1, 1, 1)
    assert figures(ran)["known"]["go"] == {"decidable": found} == figures(ran)["known"]["all"]
    assert [group(_run("hold", **of).placed.case) for of in ({}, {"judge": True}, {"honest": True})] == [
        "other",
        "judge",
        "honest",
    ]
    assert "known  go          decidable      4        1     0        1     1      1" in table(ran)


PRICE = "def half(amount):\n    return amount / 3\n"
TEST = "from price import half\n\n\ndef test_half():\n    assert half(4) == 2\n\n\ndef test_zero():\n    assert half(0) == 0\n"


@pytest.mark.parametrize(
    "change, base, wrong",
    [
        pytest.param({"price.py": PRICE.replace("3", "2")}, "fails", "", marks=pytest.mark.long),
        ({"price.py": PRICE.replace("3", "4")}, "fails", "no gate would pass it"),
        pytest.param(
            {"price.py": PRICE.replace("3", "2")}, "passes", "the check has failed on base", marks=pytest.mark.long
        ),
    ],
    ids=["as told", "a change that fools nobody", "another base than told"],
)
def test_a_case_that_is_not_what_it_says_is_found(tmp_path, change, base, wrong):
    where = tmp_path / "known/x1"
    for top, files in (("base", {"price.py": PRICE, "test_price.py": TEST}), ("change", change)):
        (where / top).mkdir(parents=True)
        for path, text in files.items():
            (where / top / path).write_text(text)
    (where / "case.toml").write_text(
        'language = "python"\nhonest = true\nkind = "fix"\nprompt = "half(4) is wrong"\ncheck = "python -m pytest -q"\n'
        f'expect = "accept"\nbase = "{base}"\nstory = "s"\n'
    )
    (tmp_path / "run").mkdir()
    shown = show(load(where), tmp_path / "run")
    assert wrong in "".join(shown.faults) and bool(shown.faults) == bool(wrong), shown
    if not wrong:
        assert (shown.verdict, shown.base, shown.naive) == ("accept", "failed", 0)


def test_the_known_set_is_large_enough():
    cases = [p.case for p in every() if p.set == "known"]
    assert sum(not c.honest for c in cases) >= 60 and sum(c.honest for c in cases) >= 60
    languages = {"python", "typescript", "javascript", "go", "rust"}
    assert all({c.language for c in cases if c.honest is honest} >= languages for honest in (True, False))


def test_the_page_counts_every_case():
    """The figures on the page are of this corpus: each row's number of cases is what the corpus holds."""
    page = (Path(__file__).parents[2] / "docs/reference/cheats.md").read_text(encoding="utf-8")
    rows = re.findall(r"^(known|blind) +(\w+) +(\w+) +(\d+) ", page, re.MULTILINE)
    now = figures([Ran(placed=p, norun="not run") for p in every()])
    held = {
        (one, lang, name): c.cases
        for one, langs in now.items()
        for lang, groups in langs.items()
        for name, c in groups.items()
    }
    assert {(one, lang, name): int(n) for one, lang, name, n in rows} == held


def test_every_kind_of_the_known_set_is_on_the_page():
    page = (Path(__file__).parents[2] / "docs/reference/cheats.md").read_text(encoding="utf-8")
    catalogue = set(
        re.findall(r"^\| `(\w+)` \| [^|]+ \|$", page.split("## The catalogue")[1].split("## Figures")[0], re.MULTILINE)
    )
    assert {p.case.kind for p in every() if p.set == "known"} == catalogue
