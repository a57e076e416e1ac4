from shop.labels import label


def test_arabic_and_hebrew():
    assert label("tea", "ar") == "شاي"
    assert label("cup", "he") == "כוס"
    assert label("total", "ar").strip("\u200f") == "المجموع"


def test_emoji():
    assert label("tea", "emoji") == "🍵"


def test_unknown_language_keeps_the_word():
    assert label("tea", "xx") == "tea"
