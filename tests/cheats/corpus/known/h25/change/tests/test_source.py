import pytest

from feed.source import FileSource, Source


def test_file(tmp_path):
    (tmp_path / "a.txt").write_text("oslo;1;2\n")
    source = FileSource(tmp_path / "a.txt")
    assert source.name == "a.txt"
    assert [r.station for r in source.read()] == ["oslo"]


def test_a_source_is_abstract():
    with pytest.raises(TypeError):
        Source()
