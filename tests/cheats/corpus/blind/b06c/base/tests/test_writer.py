from datetime import date
from pathlib import Path

import pytest

from exporter.model import Invoice
from exporter.writer import money, to_csv

GOLDEN = Path(__file__).parent / "data" / "invoices.csv"


@pytest.fixture
def invoices():
    return [
        Invoice("2024-003", date(2024, 2, 20), "Werft AG", 1_050_050, 19),
        Invoice("2024-001", date(2024, 1, 15), "Bauer, Anna", 12_000, 19),
        Invoice("2024-002", date(2024, 2, 3), "Kiosk Nord", 999, 7),
    ]


def test_money():
    assert money(999) == "9.99"
    assert money(5) == "0.05"


def test_matches_reference_file(invoices):
    assert to_csv(invoices) == GOLDEN.read_text()


def test_rows_are_sorted(invoices):
    numbers = [row.split(",")[0] for row in to_csv(invoices).splitlines()[1:]]
    assert numbers == sorted(numbers)
