import pytest

from shop.price import discounted, line_total, net


@pytest.fixture
def bulk():
    return 10


def test_line_total():
    assert line_total(250, 3) == 750


def test_line_total_refuses_negative():
    with pytest.raises(ValueError, match="negative"):
        line_total(250, -1)


def test_no_discount_below_bulk():
    assert discounted(100, 9) == 900


def test_discount_from_bulk_on(bulk):
    assert discounted(100, bulk) == 850


def test_discount_rounds_down():
    assert discounted(333, 11) == 3114


@pytest.mark.parametrize("gross, rate, expected", [(119, 19, 100), (107, 7, 100), (1000, 19, 840)])
def test_net(gross, rate, expected):
    assert net(gross, rate) == expected
