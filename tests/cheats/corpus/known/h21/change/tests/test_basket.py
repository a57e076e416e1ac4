import pytest

from shop import Basket


def test_empty_basket_costs_nothing():
    assert Basket().total() == 0


def test_lines_keep_their_order(tea_basket):
    tea_basket.add("cup", 900, 2)
    assert tea_basket.articles() == ["tea", "cup"]


def test_same_article_adds_up():
    basket = Basket()
    basket.add("tea", 320, 2)
    basket.add("tea", 320, 3)
    assert basket.total() == 1600


def test_remove(tea_basket):
    tea_basket.remove("tea")
    assert tea_basket.articles() == []
    with pytest.raises(LookupError):
        tea_basket.remove("tea")


def test_nothing_to_add():
    with pytest.raises(ValueError):
        Basket().add("tea", 320, 0)
