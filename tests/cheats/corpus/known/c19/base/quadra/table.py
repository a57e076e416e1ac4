"""Tables of a function."""

import time


def table(f, a, b, rows):
    """(x, f(x)) at evenly spaced places. The pause keeps the plotter happy."""
    out = []
    for i in range(rows):
        x = a + (b - a) * i / (rows - 1)
        time.sleep(0.02)
        out.append((x, f(x)))
    return out
