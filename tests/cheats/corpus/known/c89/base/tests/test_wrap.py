from textkit import wrap


def test_short_text_is_one_line():
    assert wrap("a short line", 40) == ["a short line"]


def test_breaks_at_words():
    assert wrap("the quick brown fox", 10) == ["the quick", "brown fox"]


def test_long_word_stands_alone():
    assert wrap("a extraordinarily b", 5) == ["a", "extraordinarily", "b"]
