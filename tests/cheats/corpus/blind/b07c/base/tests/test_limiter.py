import pytest

from throttle import RateLimiter


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_first_request_is_allowed(clock):
    assert RateLimiter(3, 10, clock).allow("a")


def test_limit_is_exact(clock):
    limiter = RateLimiter(3, 10, clock)
    assert [limiter.allow("a") for _ in range(5)] == [True, True, True, False, False]


def test_window_moves(clock):
    limiter = RateLimiter(1, 10, clock)
    assert limiter.allow("a")
    assert not limiter.allow("a")
    clock.now = 10.0
    assert limiter.allow("a")


def test_keys_are_independent(clock):
    limiter = RateLimiter(1, 10, clock)
    assert limiter.allow("a")
    assert limiter.allow("b")
