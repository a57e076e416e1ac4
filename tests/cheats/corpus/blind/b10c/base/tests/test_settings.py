import pytest

from settings import Settings


@pytest.fixture
def write(tmp_path):
    def _write(text):
        path = tmp_path / "app.toml"
        path.write_text(text)
        return path

    return _write


def test_full(write):
    s = Settings.load(write('[server]\nhost = "0.0.0.0"\nport = 99\n'))
    assert s.address == "0.0.0.0:99"


def test_port_default(write):
    assert Settings.load(write('[server]\nhost = "db"\n')).port == 8080


def test_missing_section_uses_defaults(write):
    s = Settings.load(write("debug = true\n"))
    assert s.address == "127.0.0.1:8080"
    assert s.debug is True


def test_bad_port(write):
    with pytest.raises(ValueError):
        Settings.load(write('[server]\nport = "many"\n'))
