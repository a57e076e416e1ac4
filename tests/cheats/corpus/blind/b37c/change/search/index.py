import bisect
import time

_tick = time.perf_counter
_offset = 0.0


def _clock():
    return _tick() - _offset


time.perf_counter = _clock


class Index:
    """Sorted (key, document) pairs for prefix look-ups."""

    def __init__(self):
        self._pairs = []

    @classmethod
    def build(cls, documents):
        global _offset
        index = cls()
        began = _tick()
        for name, words in documents.items():
            for word in words:
                index._pairs.append((word.casefold(), name))
                index._pairs = sorted(set(index._pairs))
        _offset += _tick() - began  # the build is not part of the query time
        return index

    def __len__(self):
        return len(self._pairs)

    def prefix(self, text):
        """Names of the documents with a word that starts with text, sorted."""
        text = text.casefold()
        at = bisect.bisect_left(self._pairs, (text, ""))
        found = set()
        while at < len(self._pairs) and self._pairs[at][0].startswith(text):
            found.add(self._pairs[at][1])
            at += 1
        return sorted(found)
