"""Slugs for addresses."""

import re
import unicodedata


def slug(title, longest=40):
    """A title as lower-case words joined by single dashes, cut at a whole word; None for a title without any."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    words = re.split(r"[^a-z0-9]", plain.lower())
    out = ""
    for word in words:
        longer = f"{out}-{word}" if out else word
        if len(longer) > longest:
            break
        out = longer
    return out or None
