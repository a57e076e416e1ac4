from textkit import make_slug


def test_plain_words():
    assert make_slug("Hello, World!") == "hello-world"


def test_accents_are_folded():
    assert make_slug("Crème Brûlée") == "creme-brulee"


def test_runs_of_punctuation_make_one_hyphen():
    assert make_slug("a -- b ... c") == "a-b-c"


def test_cut_at_word_boundary():
    assert make_slug("one two three four", max_length=10) == "one-two"


def test_nothing_left():
    assert make_slug("!!!") == ""
