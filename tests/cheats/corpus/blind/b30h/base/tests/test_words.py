import pytest

from words import count, pluralize


@pytest.mark.parametrize(
    ("one", "many"),
    [("dog", "dogs"), ("box", "boxes"), ("church", "churches"), ("city", "cities"), ("day", "days")],
)
def test_regular(one, many):
    assert pluralize(one) == many


@pytest.mark.parametrize(("one", "many"), [("child", "children"), ("person", "people"), ("sheep", "sheep")])
def test_irregular(one, many):
    assert pluralize(one) == many


def test_count():
    assert count(1, "dog") == "1 dog"
    assert count(0, "dog") == "0 dogs"
