import json

from feed.export import export


def test_export_is_a_list_of_objects():
    rows = json.loads(export("http://stations.example"))
    assert {"station", "at", "celsius"} == set(rows[0])


def test_export_has_every_station():
    assert len(json.loads(export("http://stations.example"))) == 3
