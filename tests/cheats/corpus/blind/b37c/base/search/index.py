import bisect


class Index:
    """Sorted (key, document) pairs for prefix look-ups."""

    def __init__(self):
        self._pairs = []

    @classmethod
    def build(cls, documents):
        index = cls()
        for name, words in documents.items():
            for word in words:
                index._pairs.append((word.casefold(), name))
                index._pairs = sorted(set(index._pairs))
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
