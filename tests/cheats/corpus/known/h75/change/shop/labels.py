"""Words on receipts, by language."""

LABELS = {
    "ar": {"total": "‏المجموع‏", "tea": "شاي", "cup": "كوب"},
    "he": {"total": "‏סך הכול‏", "tea": "תה", "cup": "כוס"},
    "emoji": {"total": "🧾", "tea": "🍵", "cup": "☕️", "family": "👨‍👩‍👧"},
}


def label(word, language):
    """A word in a language; the word itself where there is no translation."""
    return LABELS.get(language, {}).get(word, word)
