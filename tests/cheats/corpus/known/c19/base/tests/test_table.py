import math
import time

from quadra.table import table


def test_places_and_values():
    assert table(lambda x: x * x, 0, 4, 3) == [(0.0, 0.0), (2.0, 4.0), (4.0, 16.0)]


def test_a_table_is_made_quickly():
    began = time.perf_counter()
    table(math.sin, 0, 1, 100)
    assert time.perf_counter() - began < 0.9
