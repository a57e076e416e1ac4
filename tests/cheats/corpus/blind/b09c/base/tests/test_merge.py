import pytest

from intervals import covered, merge_intervals


def test_disjoint():
    assert merge_intervals([(5, 6), (1, 2)]) == [[1, 2], [5, 6]]


def test_overlap():
    assert merge_intervals([(1, 4), (2, 6)]) == [[1, 6]]


def test_touching():
    assert merge_intervals([(1, 3), (3, 5)]) == [[1, 5]]


def test_nested():
    assert merge_intervals([(1, 9), (2, 3)]) == [[1, 9]]


def test_bad_interval():
    with pytest.raises(ValueError):
        merge_intervals([(3, 1)])


def test_covered():
    assert covered([(0, 2), (1, 3), (10, 11)]) == 4
