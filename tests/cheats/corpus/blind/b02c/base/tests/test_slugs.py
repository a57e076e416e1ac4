from textkit import slugify


def test_plain_words():
    assert slugify("Hello, World!") == "hello-world"


def test_accents_are_folded():
    assert slugify("Crème Brûlée") == "creme-brulee"


def test_runs_of_punctuation_make_one_hyphen():
    assert slugify("a -- b ... c") == "a-b-c"


def test_cut_at_word_boundary():
    assert slugify("one two three four", max_length=10) == "one-two"


def test_nothing_left():
    assert slugify("!!!") == ""
