from datetime import date

import pytest

from leave import remaining, working_days


def test_one_week():
    assert working_days(date(2024, 6, 3), date(2024, 6, 7)) == 5


def test_weekend_does_not_count():
    assert working_days(date(2024, 6, 1), date(2024, 6, 2)) == 0


def test_over_a_weekend():
    assert working_days(date(2024, 6, 6), date(2024, 6, 11)) == 4


def test_order():
    with pytest.raises(ValueError):
        working_days(date(2024, 6, 7), date(2024, 6, 3))


def test_remaining():
    assert remaining(30, [(date(2024, 6, 3), date(2024, 6, 7)), (date(2024, 7, 1), date(2024, 7, 2))]) == 23
