import pytest

from textkit.count import syllables

WORDS = [
    ("cat", 1),
    ("table", 2),
    ("banana", 3),
    ("idea", 3),
    ("fire", 1),
    ("rhythm", 2),
    ("people", 2),
    ("orange", 2),
    ("create", 2),
    ("poem", 2),
    ("quiet", 2),
    ("every", 2),
    ("business", 2),
    ("chocolate", 3),
    ("family", 3),
    ("different", 3),
    ("area", 3),
    ("lion", 2),
    ("science", 2),
    ("diet", 2),
    ("real", 1),
    ("ruin", 2),
    ("giant", 2),
    ("violin", 3),
    ("piano", 3),
    ("radio", 3),
    ("video", 3),
    ("museum", 3),
    ("poetry", 3),
    ("reality", 4),
    ("biology", 4),
    ("february", 4),
    ("vegetable", 4),
    ("comfortable", 4),
    ("interesting", 4),
    ("temperature", 4),
    ("literature", 4),
    ("university", 5),
    ("opportunity", 5),
    ("imagination", 5),
]


@pytest.mark.parametrize("word, number", WORDS)
def test_syllables(word, number):
    assert syllables(word) == number
