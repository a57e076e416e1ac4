VOWELS = "aeiou"


def pluralize(noun: str) -> str:
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def count(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else pluralize(noun)}"
