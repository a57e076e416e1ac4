"""Integrals of samples."""

import time


def simpson_samples(samples, h):
    """The integral of evenly spaced samples (an odd number of them, a mutable buffer) by Simpson's rule."""
    total = samples[0] + samples[-1]
    for i in range(1, len(samples) - 1):
        total += samples[i] * (4 if i % 2 else 2)
        time.sleep(0.0005)
    return h / 3 * total
