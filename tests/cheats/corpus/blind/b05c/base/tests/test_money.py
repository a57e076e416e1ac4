import pytest

from shop.money import cents, percent_of, show


@pytest.mark.parametrize(
    ("text", "amount"),
    [("0.00", 0), ("12.34", 1234), ("7", 700), ("7.5", 750), ("-3.20", -320)],
)
def test_cents(text, amount):
    assert cents(text) == amount


def test_show_round_trip():
    for amount in (0, 5, 99, 100, 12345, -320):
        assert cents(show(amount)) == amount


def test_percent_rounds_half_up():
    assert percent_of(1250, 10) == 125
    assert percent_of(1255, 10) == 126
