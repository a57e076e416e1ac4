"""Small things one does with text."""

from textkit.roman import from_roman, to_roman
from textkit.slug import slug
from textkit.wrap import wrap

__all__ = ["from_roman", "slug", "to_roman", "wrap"]
