import pytest

from feed.records import FormatError, Record, parse, parse_all


def test_parse():
    assert parse("oslo;1700000000;-3.5\n") == Record("oslo", 1700000000, -3.5)


def test_wrong_number_of_fields():
    with pytest.raises(FormatError, match="three fields"):
        parse("oslo;1700000000")


def test_parse_all_skips_empty_lines():
    assert [r.station for r in parse_all("a;1;1\n\nb;2;2\n")] == ["a", "b"]
