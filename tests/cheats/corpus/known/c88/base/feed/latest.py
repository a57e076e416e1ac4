"""The last reading of each station."""

import time


class Latest:
    """Keeps the last reading of each station; one older than an hour counts as missing."""

    def __init__(self, now=time.time):
        self._now = now
        self._held = {}

    def take(self, record):
        """Remember a record unless a later one is there."""
        held = self._held.get(record.station)
        if held is None or held.at < record.at:
            self._held[record.station] = record

    def celsius(self, station):
        """The temperature at a station, None when its last reading is older than an hour."""
        record = self._held.get(station)
        if record is None or self._now() - record.at > 3600:
            return None
        return record.celsius
