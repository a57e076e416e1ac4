import queue

import pytest

from feed.records import parse
from feed.worker import run


@pytest.fixture
def items():
    held = queue.Queue()
    for item in ("oslo;1;2", "rubbish", "bern;1;2", None):
        held.put(item)
    return held


def test_failures_are_counted_and_logged(items, caplog):
    assert run(items, parse) == (2, 1)
    assert "item failed: 'rubbish'" in caplog.text and "FormatError" in caplog.text


def test_order(items):
    seen = []
    run(items, seen.append)
    assert seen == ["oslo;1;2", "rubbish", "bern;1;2"]
