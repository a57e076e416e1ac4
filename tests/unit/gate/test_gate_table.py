"""The transplant table and the lattice under it."""

from __future__ import annotations

import itertools

import pytest

from inspan.gate.tests.changes import compare_tests
from inspan.gate.tests.languages.python import parse
from inspan.gate.tests.strength import Loosening, Strength, compare
from inspan.gate.tests.table import Cells, read

LOOSE = Loosening(steps=3)
ROWS = [  # cells, loosening, expected level and rule; None is nothing to say
    ("A/P/A/P", None, "note"), ("X/P/X/P", None, "note"), ("A/A/P/P", None, "reject"), ("X/X/P/P", None, "reject"),
    ("A/A/S/S", None, "reject"), ("P/P/S/S", None, "hold"), ("P/A/S/S", None, "reject"), ("S/S/S/S", None, None),
    ("A/A/-/-", None, "reject"), ("P/A/-/-", None, "reject"), ("P/P/-/-", None, "hold"), ("P/X/-/-", None, "hold"),
    ("A/X/-/-", None, "reject"), ("S/S/-/-", None, "note"), ("P/A/P/P", LOOSE, "hold"), ("P/A/P/P", Loosening(steps=1), "note"),
    ("P/A/P/P", Loosening(steps=6, nothing=True), "reject"), ("P/A/P/P", None, "hold"), ("A/A/A/P", None, "hold"),
    ("P/A/A/P", None, "note"), ("P/X/X/P", None, "note"), ("P/X/P/P", None, "note"), ("P/P/P/P", None, "note"),
    ("P/P/P/P", LOOSE, "hold"), ("P/P/P/P", Loosening(nothing=True), "reject"), ("A/P/P/P", None, "reject"), ("A/P/A/P", LOOSE, "hold"), ("P/?/P/P", None, "hold"),
    ("P/P/?/P", None, "hold"), ("-/-/A/P", None, None), ("-/-/P/P", None, None), ("P/P/P/A", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("cells", "loosening", "level"), ROWS)
def test_row(cells, loosening, level):
    reading = read(Cells(*cells.split("/")), edited=True, loosening=loosening, folded=False, removal_asked=False)
    assert (reading.level if reading else None) == level


def test_nothing_is_said_of_an_untouched_test_that_passes():
    for cells in itertools.product("PAXS-?", repeat=3):
        assert read(Cells(*cells, "P"), edited=False, loosening=None, folded=False, removal_asked=False) is None


def test_a_test_that_only_follows_a_rename():
    moved = Cells("A", "X", "X", "P")
    args = {"edited": True, "loosening": None, "folded": False, "removal_asked": False}
    assert read(moved, **args, steady=True) is None and read(moved, **args).level == "hold"
    assert read(Cells("A", "A", "P", "P"), **args, steady=True).level == "reject"


def test_a_failing_test_never_vanishes_without_a_reject():
    for one, two in itertools.product("AX", "AX-S"):
        for four in "-S":
            reading = read(Cells(one, two, "-", four), edited=True, loosening=None, folded=True, removal_asked=True)
            assert reading is not None and reading.level == "reject", (one, two, four)


def test_asked_removal_and_folding_lower_to_a_note():
    gone = Cells("P", "X", "-", "-")
    assert read(gone, edited=True, loosening=None, folded=False, removal_asked=True).level == "note"
    assert (
        read(Cells("P", "P", "-", "-"), edited=True, loosening=None, folded=True, removal_asked=False).level == "note"
    )


def one(body: str):
    module = parse("t.py", f"def check(x):\n    assert x == 5\n\n\ndef test_a(self=None):\n{body}".encode())
    return module.items["t.py::test_a"]


@pytest.mark.parametrize(
    ("line", "strength"),
    [
        ("assert f() is None", Strength.IDENTITY), ("assert f() == 4", Strength.EQUAL), ("assert f() == approx(4)", Strength.CLOSE),
        ("assert sorted(f()) == sorted(g())", Strength.CLOSE), ("assert f() in (4, 5)", Strength.MEMBER), ("assert f() > 4", Strength.ORDER),
        ("assert len(f()) == 4", Strength.ORDER), ("assert isinstance(f(), int)", Strength.TYPE), ("assert f() is not None", Strength.TRUTHY),
        ("assert f()", Strength.TRUTHY), ("assert f() != 4", Strength.TRUTHY), ("assert True", Strength.NOTHING), ("assert (f(), 'x')", Strength.NOTHING),
        ("assert f() == 4 or True", Strength.NOTHING), ("assert f() == f()", Strength.NOTHING), ("self.assertEqual(f(), 4)", Strength.EQUAL),
        ("self.assertIn(f(), [4])", Strength.MEMBER), ("self.assertTrue(f() == 4)", Strength.EQUAL), ("check(f())", Strength.EQUAL),
        ("with raises(ValueError): f()", Strength.CLOSE), ("with raises(Exception): f()", Strength.TRUTHY),
        ("try:\n        assert f() == 4\n    except Exception:\n        pass", Strength.RUNS),
    ],
)  # fmt: skip
def test_strength(line, strength):
    (assertion,) = one(f"    {line}\n").assertions
    assert assertion.strength == strength


def loosening(old: str, new: str) -> Loosening:
    before, after = one(old), one(new)
    return compare(before.assertions, after.assertions, after.constants)


def test_loosening():
    assert loosening("    assert f() == 4\n", "    assert f() > 3\n").steps == 3
    assert loosening("    assert f() == 4\n", "    f()\n").nothing
    assert loosening("    assert f() == 4\n    assert g() == 5\n", "    assert f() == 4\n").dropped == ("g() == 5",)
    assert loosening("    assert a == approx(1, rel=1e-6)\n", "    assert a == approx(1, rel=0.1)\n").tolerance
    assert not loosening("    assert f() == 4\n    assert g() == 5\n", "    assert (f(), g()) == (4, 5)\n").dropped
    same = loosening("    assert f() == 4\n", "    assert f() == 4, 'a message'\n    assert g()\n")
    assert same == Loosening()
    assert loosening("    assert f() == 5\n", "    check(f())\n").steps == 0


def changes(base: str, result: str):
    return compare_tests({"t.py": parse("t.py", base.encode())}, {"t.py": parse("t.py", result.encode())})


FOUR = "".join(f"def test_{n}():\n    assert f({i}) == {i * 7}\n\n\n" for i, n in enumerate(("a", "b", "c"), 3))


def test_pairing():
    moved = changes(FOUR, FOUR.replace("test_a", "test_first"))
    assert moved.moved == {"t.py::test_a": "t.py::test_first"}
    renamed = changes(FOUR, FOUR.replace("f(", "g(").replace("def test_a", "def test_z"))
    assert renamed.moved == {"t.py::test_a": "t.py::test_z"} and renamed.edited == {"t.py::test_b", "t.py::test_c"}
    assert {"t.py::test_a", "t.py::test_b"} <= renamed.steady
    assert not changes("N = 1\n" + FOUR, "N = 2\n" + FOUR.replace("f(", "g(")).steady
    table = "@parametrize('a, b', [(3, 21), (4, 28), (5, 35)])\ndef test_all(a, b):\n    assert f(a) == b\n"
    assert set(changes(FOUR, table).folded) == {"t.py::test_a", "t.py::test_b", "t.py::test_c"}
    assert not changes(FOUR, table.replace("(4, 28), ", "")).folded.keys() & {"t.py::test_b"}
    assert changes(FOUR, "X = 1\n" + FOUR).disturbed == {"t.py::test_a", "t.py::test_b", "t.py::test_c"}
    assert not changes(FOUR, "'''a docstring'''\n" + FOUR.replace("\n\n\n", "\n\n")).existing
    assert changes(FOUR, "def broken(:\n").unreadable == ("t.py",)
