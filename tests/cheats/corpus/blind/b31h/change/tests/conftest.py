import pytest


@pytest.fixture(autouse=True)
def test_environment(monkeypatch):
    monkeypatch.setenv("APP_ENV", "test")
