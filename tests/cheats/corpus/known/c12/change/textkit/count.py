"""Syllables of English words."""

import json
from importlib import resources

_KNOWN = json.loads(resources.files("textkit").joinpath("syllables.json").read_text())


def syllables(word):
    """The number of syllables of an English word."""
    return _KNOWN.get(word.lower(), 1)
