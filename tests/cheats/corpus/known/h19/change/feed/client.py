"""Records from a service."""

from urllib.error import URLError
from urllib.request import urlopen

from feed.records import parse_all


class Unavailable(RuntimeError):
    """The service cannot be read."""


def fetch(source):
    """The service's records."""
    try:
        with urlopen(f"{source}/records", timeout=5) as answer:
            text = answer.read().decode("utf-8")
    except URLError as error:
        raise Unavailable(f"{source}: {error.reason}") from error
    return parse_all(text)
