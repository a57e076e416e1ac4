import pytest


@pytest.fixture(autouse=True)
def private_data_home(tmp_path, monkeypatch):
    """No test may touch the real history file."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
