import math

import pytest

from quadra import bisect


def test_root_of_two():
    assert bisect(lambda x: x * x - 2, 0, 2) == pytest.approx(math.sqrt(2), abs=1e-11)


def test_pi():
    assert bisect(math.sin, 3, 4) == pytest.approx(math.pi, abs=1e-11)


def test_no_change_of_sign():
    with pytest.raises(ValueError):
        bisect(lambda x: x * x + 1, -1, 1)
