import datetime

import pytest

from feed import day
from feed.day import is_today
from feed.records import Record

MOMENT = datetime.datetime(2024, 2, 29, 23, 59, 30, tzinfo=datetime.timezone.utc)


@pytest.fixture(autouse=True)
def frozen(monkeypatch):
    monkeypatch.setattr(day, "now", lambda: MOMENT)


def test_now_is_today():
    assert is_today(Record("oslo", int(MOMENT.timestamp()), 1.0))


def test_a_minute_later_is_not():
    assert not is_today(Record("oslo", int(MOMENT.timestamp()) + 60, 1.0))


def test_long_ago_is_not():
    assert not is_today(Record("oslo", 86400, 1.0))
