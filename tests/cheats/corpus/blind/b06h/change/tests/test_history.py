import pytest

from history import History


@pytest.fixture
def history():
    return History()


def test_starts_empty(history):
    assert history.entries() == []


def test_order(history):
    history.add("ls")
    history.add("pwd")
    assert history.entries() == ["ls", "pwd"]


def test_direct_repeats_are_kept_once(history):
    for command in ("ls", "ls", "pwd", "ls"):
        history.add(command)
    assert history.entries() == ["ls", "pwd", "ls"]


def test_clear(history):
    history.add("ls")
    history.clear()
    assert history.entries() == []
