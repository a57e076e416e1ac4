import csv
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path


@dataclass(frozen=True)
class Booking:
    day: date
    text: str
    amount: Decimal


def read(path: Path) -> list[Booking]:
    with path.open(newline="", encoding="utf-8") as source:
        return [
            Booking(
                datetime.strptime(row["Date"], "%d.%m.%Y").date(),
                row["Text"].strip(),
                Decimal(row["Amount"]),
            )
            for row in csv.DictReader(source, delimiter=";")
        ]


def balance(bookings: list[Booking]) -> Decimal:
    return sum((b.amount for b in bookings), Decimal(0))
