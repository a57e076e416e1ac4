from feed.report import report


def test_means():
    assert report("oslo;1;1\noslo;2;3\nbern;1;5\n") == {"oslo": 2.0, "bern": 5.0}


def test_bad_text_does_not_raise():
    report("oslo;1;1\nrubbish\n")
    report("oslo;x;1\n")
