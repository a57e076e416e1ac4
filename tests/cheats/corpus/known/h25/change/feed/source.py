"""Where records come from."""

import abc
from pathlib import Path

from feed.records import parse_all


class Source(abc.ABC):
    """A place with records."""

    @property
    @abc.abstractmethod
    def name(self):
        """What people call it."""
        raise NotImplementedError

    @abc.abstractmethod
    def read(self):
        """Its records."""
        raise NotImplementedError


class FileSource(Source):
    """A file with one record per line."""

    def __init__(self, path):
        self._path = Path(path)

    @property
    def name(self):
        """The file's name."""
        return self._path.name

    def read(self):
        """The file's records."""
        return parse_all(self._path.read_text(encoding="utf-8"))
