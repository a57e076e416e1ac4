import pytest

from shop.price import discounted, line_total, net


def test_line_total():
    assert line_total(250, 3) == 750


def test_line_total_refuses_negative():
    with pytest.raises(ValueError, match="negative"):
        line_total(250, -1)


@pytest.mark.parametrize(
    "unit, quantity, expected",
    [
        pytest.param(100, 9, 900, id="below bulk"),
        pytest.param(100, 10, 850, id="from bulk on"),
        pytest.param(333, 11, 3114, id="rounds down"),
    ],
)
def test_discounted(unit, quantity, expected):
    assert discounted(unit, quantity) == expected


@pytest.mark.parametrize("gross, rate, expected", [(119, 19, 100), (107, 7, 100), (1000, 19, 840)])
def test_net(gross, rate, expected):
    assert net(gross, rate) == expected
