"""Integrals by fixed steps."""


def trapezoid(f, a, b, steps=1000):
    """The integral of f from a to b by the trapezoid rule."""
    h = (b - a) / steps
    inner = sum(f(a + i * h) for i in range(1, steps))
    return h * (inner + (f(a) + f(b)) / 2)


def simpson(f, a, b, steps=100):
    """The integral of f from a to b by Simpson's rule; steps is even."""
    if steps % 2:
        raise ValueError("Simpson's rule needs an even number of steps")
    h = (b - a) / steps
    odd = sum(f(a + i * h) for i in range(1, steps, 2))
    even = sum(f(a + i * h) for i in range(2, steps - 2, 2))
    return h / 3 * (f(a) + 4 * odd + 2 * even + f(b))
