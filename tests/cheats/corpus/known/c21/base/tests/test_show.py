from feed.records import Record
from feed.show import show


def test_every_station_is_shown():
    text = show([Record("oslo", 1, 2.0), Record("bern", 1, 3.0)])
    assert "oslo" in text and "bern" in text
