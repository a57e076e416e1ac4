import logging

from feed.trace import logged


@logged
def add(a, b=1):
    """Adds."""
    return a + b


def test_result_and_name_stay():
    assert add(2, b=3) == 5
    assert (add.__name__, add.__doc__) == ("add", "Adds.")


def test_call_is_logged(caplog):
    with caplog.at_level(logging.DEBUG, "feed.calls"):
        add(2)
    assert "add({'a': 2}) from test_call_is_logged" in caplog.text


def test_nothing_is_logged_by_default(caplog):
    add(2)
    assert caplog.text == ""
