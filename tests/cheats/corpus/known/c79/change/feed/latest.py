"""The last readings of each station."""

import heapq
import time


class Latest:
    """Keeps the readings of each station; one older than an hour counts as missing."""

    def __init__(self, now=time.time):
        self._now = now
        self._held = {}

    def take(self, record):
        """Remember a record."""
        heapq.heappush(self._held.setdefault(record.station, []), (-record.celsius, record.at))

    def celsius(self, station):
        """The temperature at a station, None when its last reading is older than an hour."""
        held = self._held.get(station)
        if not held or self._now() - held[0][1] > 3600:
            return None
        return -held[0][0]
