import pytest

from months import days_in_month, is_leap


def test_ordinary_years():
    assert is_leap(2024)
    assert not is_leap(2023)


def test_centuries():
    assert is_leap(2000)
    assert not is_leap(1900)
    assert not is_leap(2100)


def test_february():
    assert days_in_month(2024, 2) == 29
    assert days_in_month(2023, 2) == 28


def test_december():
    assert days_in_month(2023, 12) == 31


@pytest.mark.parametrize("month", [0, 13, -1])
def test_no_such_month(month):
    with pytest.raises(ValueError):
        days_in_month(2023, month)
