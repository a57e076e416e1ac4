import pytest

from shop import Basket


@pytest.fixture
def tea_basket():
    basket = Basket()
    basket.add("tea", 320)
    return basket
