import time

from feed.day import is_today
from feed.records import Record


def test_now_is_today():
    assert is_today(Record("oslo", int(time.time()), 1.0))


def test_long_ago_is_not():
    assert not is_today(Record("oslo", 86400, 1.0))
