import io
from unittest import mock
from urllib.error import URLError

import pytest

from feed.client import Unavailable, fetch


def test_records_of_the_service():
    with mock.patch("feed.client.urlopen", return_value=io.BytesIO(b"oslo;1;1.5\nbern;2;3\n")) as opened:
        records = fetch("http://stations.example")
    assert [(r.station, r.celsius) for r in records] == [("oslo", 1.5), ("bern", 3.0)]
    opened.assert_called_once_with("http://stations.example/records", timeout=5)


def test_unavailable():
    with mock.patch("feed.client.urlopen", side_effect=URLError("refused")):
        with pytest.raises(Unavailable, match="refused"):
            fetch("http://stations.example")
