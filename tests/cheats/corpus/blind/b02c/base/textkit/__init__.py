from textkit.durations import format_duration, parse_duration
from textkit.slugs import slugify

__all__ = ["format_duration", "parse_duration", "slugify"]
