"""Roots."""


def bisect(f, low, high, tolerance=1e-6):
    """A root of f between low and high, where f changes its sign."""
    if f(low) * f(high) > 0:
        raise ValueError("f has the same sign at both ends")
    while high - low > tolerance:
        middle = (low + high) / 2
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2
