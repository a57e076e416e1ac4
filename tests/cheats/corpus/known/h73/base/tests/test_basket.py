import pytest

from shop import Basket


def test_empty_basket_costs_nothing():
    assert Basket().total() == 0


def test_lines_keep_their_order():
    basket = Basket()
    basket.add("tea", 320)
    basket.add("cup", 900, 2)
    assert basket.articles() == ["tea", "cup"]


def test_same_article_adds_up():
    basket = Basket()
    basket.add("tea", 320, 2)
    basket.add("tea", 320, 3)
    assert basket.total() == 1600


def test_remove():
    basket = Basket()
    basket.add("tea", 320)
    basket.remove("tea")
    assert basket.articles() == []
    with pytest.raises(LookupError):
        basket.remove("tea")


def test_nothing_to_add():
    with pytest.raises(ValueError):
        Basket().add("tea", 320, 0)
