import pytest

from textkit import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("45s", 45),
        ("2m", 120),
        ("1d", 86_400),
        ("1h30m", 5_400),
        ("1d 2h", 93_600),
        ("2H", 7_200),
    ],
)
def test_parse(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "abc", "5", "5x", "1h-3m", "-1h"])
def test_parse_rejects_rubbish(text):
    with pytest.raises(ValueError):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (5_400, "1h30m"), (86_461, "1d1m1s")],
)
def test_format(seconds, text):
    assert format_duration(seconds) == text
