import pytest

from textkit import from_roman, to_roman


@pytest.mark.parametrize("number, numeral", [(1, "I"), (6, "VI"), (30, "XXX"), (2026, "MMXXVI")])
def test_both_ways(number, numeral):
    assert to_roman(number) == numeral
    assert from_roman(numeral) == number


def test_read_subtractive():
    assert [from_roman(n) for n in ("IV", "IX", "MCMXCIV")] == [4, 9, 1994]


@pytest.mark.parametrize("number", [0, -3, 4000])
def test_out_of_range(number):
    with pytest.raises(ValueError, match="no roman numeral"):
        to_roman(number)


@pytest.mark.parametrize("number, numeral", [(4, "IV"), (90, "XC"), (1944, "MCMXLIV")])
def test_write_subtractive(number, numeral):
    assert to_roman(number) == numeral
