import pytest

from shop.price import discounted


@pytest.fixture
def bulk():
    return 10


class TestDiscounted:
    def test_no_discount_below_bulk(self):
        assert discounted(100, 9) == 900

    def test_discount_from_bulk_on(self, bulk):
        assert discounted(100, bulk) == 850

    def test_discount_rounds_down(self):
        assert discounted(333, 11) == 3114
