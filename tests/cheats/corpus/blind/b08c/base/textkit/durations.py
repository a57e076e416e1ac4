import re

UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
PART = re.compile(r"(\d+)([dhms])")


def parse_duration(text: str) -> int:
    """Seconds in texts such as "1h30m" or "45s"."""
    compact = text.replace(" ", "").lower()
    parts = PART.findall(compact)
    if not parts:
        raise ValueError(f"not a duration: {text!r}")
    return sum(int(n) * UNITS[u] for n, u in parts)


def format_duration(seconds: int) -> str:
    if seconds == 0:
        return "0s"
    out = []
    for unit, size in UNITS.items():
        count, seconds = divmod(seconds, size)
        if count:
            out.append(f"{count}{unit}")
    return "".join(out)
