from textkit.durations import format_duration, parse_duration
from textkit.naming import make_slug

__all__ = ["format_duration", "make_slug", "parse_duration"]
