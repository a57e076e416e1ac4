import json


def to_json(rows):
    return json.dumps(list(rows), indent=2, sort_keys=True)
