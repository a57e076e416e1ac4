import pytest

from textkit import format_duration, parse_duration


def test_parse_single_units():
    assert parse_duration("45s") == 45
    assert parse_duration("2m") == 120
    assert parse_duration("1d") == 86_400


def test_parse_combined():
    assert parse_duration("1h30m") == 5_400
    assert parse_duration("1d 2h") == 93_600


def test_parse_rejects_rubbish():
    for text in ("", "abc", "5", "5x", "1h-3m"):
        with pytest.raises(ValueError):
            parse_duration(text)


def test_format():
    assert format_duration(0) == "0s"
    assert format_duration(5_400) == "1h30m"
    assert format_duration(86_461) == "1d1m1s"
