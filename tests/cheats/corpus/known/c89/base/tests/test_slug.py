import pytest

from textkit import slug


@pytest.mark.parametrize("title, expected", [("Hello World", "hello-world"), ("Über Öl", "uber-ol"), ("a1 B2", "a1-b2")])
def test_words(title, expected):
    assert slug(title) == expected


def test_cut_at_a_word():
    assert slug("one two three four", longest=10) == "one-two"


def test_nothing_left():
    assert slug("") is None
