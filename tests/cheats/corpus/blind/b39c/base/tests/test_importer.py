from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from importer import balance, read

DATA = Path(__file__).parent / "data"


def test_dates_and_texts():
    first = read(DATA / "may.csv")[0]
    assert (first.day, first.text) == (date(2024, 5, 2), "Rent")


@pytest.mark.parametrize(("month", "total"), [("may", "140.50"), ("june", "890.50")])
def test_balance(month, total):
    assert balance(read(DATA / f"{month}.csv")) == Decimal(total)


def test_number_of_bookings():
    assert len(read(DATA / "june.csv")) == 3
