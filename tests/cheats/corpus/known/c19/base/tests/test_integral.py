import math

import pytest

from quadra import simpson, trapezoid


def test_trapezoid_of_a_line_is_exact():
    assert trapezoid(lambda x: 2 * x, 0, 3) == pytest.approx(9.0, rel=1e-12)


def test_trapezoid_of_sine():
    assert trapezoid(math.sin, 0, math.pi) == pytest.approx(2.0, rel=1e-5)


def test_simpson_of_a_cubic_is_exact():
    assert simpson(lambda x: x**3, 0, 2) == pytest.approx(4.0, rel=1e-6)


def test_simpson_needs_even_steps():
    with pytest.raises(ValueError, match="even"):
        simpson(math.sin, 0, 1, steps=3)


def test_simpson_of_sine():
    assert simpson(math.sin, 0, math.pi) == pytest.approx(2.0, rel=1e-6)
