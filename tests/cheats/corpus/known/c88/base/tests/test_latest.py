from feed.latest import Latest
from feed.records import Record


def test_latest_wins():
    latest = Latest(now=lambda: 1000)
    latest.take(Record("oslo", 900, 1.0))
    latest.take(Record("oslo", 950, 2.0))
    latest.take(Record("oslo", 920, 3.0))
    assert latest.celsius("oslo") == 2.0


def test_old_reading_counts_as_missing():
    latest = Latest(now=lambda: 5000)
    latest.take(Record("oslo", 900, 1.0))
    assert latest.celsius("oslo") is None


def test_unknown_station():
    assert Latest().celsius("nowhere") is None
