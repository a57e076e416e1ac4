from feed.legacy import parse_old


def test_parse_old():
    assert parse_old("oslo=3") == ("oslo", 3.0)
