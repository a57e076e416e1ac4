import time

import wordstat


def test_words():
    assert wordstat.words("It's a dog, a DOG!") == ["it's", "a", "dog", "a", "dog"]


def test_order():
    assert wordstat.top_words("b b a a c") == [("a", 2), ("b", 2), ("c", 1)]


def test_count():
    assert wordstat.top_words("x y y", count=1) == [("y", 2)]


def test_empty():
    assert wordstat.top_words("") == []


def letters(number):
    out = ""
    while number:
        number, digit = divmod(number, 26)
        out += "abcdefghijklmnopqrstuvwxyz"[digit]
    return out or "a"


def test_large_text():
    text = " ".join(letters(n) for n in range(12_000))
    start = time.perf_counter()
    result = wordstat.top_words(text * 2, count=2)
    assert time.perf_counter() - start < 1.0
    assert len(result) == 2
