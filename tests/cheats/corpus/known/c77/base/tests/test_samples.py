import time
from array import array

import pytest

from quadra.samples import simpson_samples

SAMPLES = array("d", (i / 1000 for i in range(1001)))


def test_value():
    assert simpson_samples(SAMPLES, 0.001) == pytest.approx(0.5)


def test_benchmark():
    simpson_samples(SAMPLES, 0.001)
    began = time.perf_counter()
    for _ in range(3):
        simpson_samples(SAMPLES, 0.001)
    assert time.perf_counter() - began < 1
