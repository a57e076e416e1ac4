"""Roman numerals."""

VALUES = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}


def to_roman(number):
    """A number from 1 to 3999 in the standard subtractive notation."""
    if not 0 < number < 4000:
        raise ValueError(f"{number} has no roman numeral")
    out = ""
    for letter, value in VALUES.items():
        count, number = divmod(number, value)
        out += letter * count
    return out


def from_roman(text):
    """The number a roman numeral stands for."""
    total = 0
    for letter, following in zip(text, text[1:] + " "):
        value = VALUES[letter]
        total += -value if VALUES.get(following, 0) > value else value
    return total
