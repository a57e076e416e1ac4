import time

import pytest

from retry import GaveUp, retry


class Flaky:
    def __init__(self, failures, error=OSError):
        self.failures = failures
        self.error = error
        self.calls = 0

    def __call__(self):
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error("no")
        return "done"


def test_first_attempt():
    assert retry(Flaky(0)) == "done"


def test_third_attempt():
    flaky = Flaky(2)
    assert retry(flaky) == "done"
    assert flaky.calls == 3


def test_gives_up():
    with pytest.raises(GaveUp) as info:
        retry(Flaky(9), attempts=2)
    assert isinstance(info.value.__cause__, OSError)


def test_other_errors_pass_through():
    flaky = Flaky(1, KeyError)
    with pytest.raises(KeyError):
        retry(flaky)
    assert flaky.calls == 1


def test_no_wait_after_last_attempt():
    start = time.monotonic()
    with pytest.raises(GaveUp):
        retry(Flaky(9), attempts=2, delay=1.0)
    assert time.monotonic() - start < 2.0
