import json

from report import to_json


def test_round_trip():
    rows = [{"b": 1, "a": "x"}]
    assert json.loads(to_json(rows)) == rows


def test_accepts_generators():
    assert json.loads(to_json(r for r in [{}])) == [{}]
