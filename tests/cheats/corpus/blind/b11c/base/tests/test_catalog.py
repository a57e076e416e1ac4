import pytest

from catalog import Product, find_related


def p(id, *tags):
    return Product(id, f"product {id}", frozenset(tags))


def test_two_shared_tags():
    products = [p(1, "red", "wool", "hat"), p(2, "red", "wool"), p(3, "red")]
    assert find_related(products) == {1: [2], 2: [1], 3: []}


def test_minimum():
    products = [p(1, "red"), p(2, "red"), p(3, "blue")]
    assert find_related(products, minimum=1) == {1: [2], 2: [1], 3: []}


def test_sorted():
    products = [p(9, "a", "b"), p(4, "a", "b"), p(7, "a", "b")]
    assert find_related(products)[4] == [7, 9]


@pytest.mark.parametrize("products", [[], [p(1)]])
def test_small(products):
    assert find_related(products) == {x.id: [] for x in products}
