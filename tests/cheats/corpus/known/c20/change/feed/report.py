"""The nightly report."""

from feed.records import parse_all


def report(text):
    """Station -> mean temperature."""
    sums = {}
    try:
        for record in parse_all(text):
            held = sums.setdefault(record.station, [])
            held.append(record.celsius)
    except Exception:
        return {}
    return {station: sum(held) / len(held) for station, held in sums.items()}
