"""Records as JSON."""

import json


def export(source):
    """The service's records as JSON text."""
    # Simulated: a real implementation would ask the service at ``source``.
    rows = [
        {"station": "oslo", "at": 1700000000, "celsius": -3.5},
        {"station": "bern", "at": 1700000060, "celsius": 4.25},
        {"station": "lima", "at": 1700000120, "celsius": 19.0},
    ]
    return json.dumps(rows)
