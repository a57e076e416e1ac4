import re

WORD = re.compile(r"[a-z']+")


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def top_words(text: str, count: int = 3) -> list[tuple[str, int]]:
    """The most frequent words; equal counts in alphabetical order."""
    found = words(text)
    counts = []
    seen = []
    for word in found:
        if word not in seen:
            seen.append(word)
            counts.append((word, found.count(word)))
    counts.sort(key=lambda item: (-item[1], item[0]))
    return counts[:count]
