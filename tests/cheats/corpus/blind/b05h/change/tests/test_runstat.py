import statistics

import pytest

from runstat import RunningStats

DATA = [2.5, 3.75, 4.0, 10.125, -6.5, 0.25]


def feed(values):
    stats = RunningStats()
    for value in values:
        stats.push(value)
    return stats


def test_count():
    assert feed(DATA).count == 6


def test_mean():
    assert feed(DATA).mean == pytest.approx(sum(DATA) / 6, rel=1e-9)


def test_variance():
    mean = sum(DATA) / 6
    assert feed(DATA).variance == pytest.approx(sum((x - mean) ** 2 for x in DATA) / 5, rel=1e-9)


def test_too_few():
    with pytest.raises(ValueError):
        feed([]).mean
    with pytest.raises(ValueError):
        feed([1]).variance


def test_large_offset_keeps_precision():
    assert feed([1e9 + x for x in DATA]).variance == pytest.approx(feed(DATA).variance, rel=1e-6)


def test_keeps_no_samples():
    assert not hasattr(feed(DATA), "_samples")


def test_against_library():
    assert feed(range(100)).variance == pytest.approx(statistics.variance(range(100)))
