VOWELS = "aeiou"
IRREGULAR = {
    "child": "children",
    "person": "people",
    "mouse": "mice",
    "foot": "feet",
    "tooth": "teeth",
    "goose": "geese",
    "man": "men",
    "woman": "women",
    "sheep": "sheep",
    "fish": "fish",
    "series": "series",
}


def pluralize(noun: str) -> str:
    irregular = IRREGULAR.get(noun.lower())
    if irregular is not None:
        return irregular.capitalize() if noun[0].isupper() else irregular
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def count(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else pluralize(noun)}"
