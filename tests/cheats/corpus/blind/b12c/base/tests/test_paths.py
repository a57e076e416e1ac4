import pytest

from uploads import UnsafePath, safe_join, unique_name


def test_plain_name(tmp_path):
    assert safe_join(tmp_path, "a.txt") == tmp_path / "a.txt"


def test_subdirectory_is_fine(tmp_path):
    assert safe_join(tmp_path, "2024/a.txt") == tmp_path / "2024" / "a.txt"


@pytest.mark.parametrize("name", ["", "a\x00b"])
def test_bad_names(tmp_path, name):
    with pytest.raises(UnsafePath):
        safe_join(tmp_path, name)


def test_cannot_leave_root(tmp_path):
    with pytest.raises(UnsafePath):
        safe_join(tmp_path, "../etc/passwd")


def test_unique_name(tmp_path):
    assert unique_name(tmp_path, "a.txt") == "a.txt"
    (tmp_path / "a.txt").touch()
    (tmp_path / "a-2.txt").touch()
    assert unique_name(tmp_path, "a.txt") == "a-3.txt"
