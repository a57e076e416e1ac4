"""What a set-up command sees of a base, and looking at a base to find that out. Pure."""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

Read = Callable[[str], bytes | None]
Listing = Callable[[], Collection[str]]

_LONGEST = 16 << 20


class Inputs(NamedTuple):
    """What set-up may see of a base.

    Attributes:
        files: paths shown as they are; one that base does not have is part of the answer as well.
        names: paths shown as empty files: that they exist matters, what they hold does not.
    """

    files: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    def __or__(self, other: object) -> Inputs:
        assert isinstance(other, Inputs)
        return Inputs(self.files | other.files, self.names | other.names)


class Tree(NamedTuple):
    """A base to be looked at: ``read`` gives a regular file's bytes or None, ``listing`` every path."""

    read: Read
    listing: Listing

    def text(self, path: str) -> str | None:
        """A file as text; None when there is none."""
        data = self.read(path)
        return None if data is None or len(data) > _LONGEST else data.decode("utf-8", "replace")


def at(folder: str, *names: str) -> str:
    """A path relative to the root."""
    return posixpath.normpath(posixpath.join(folder, *names))


def files(folder: str, *names: str) -> Inputs:
    """Files of a folder, whether they are there or not."""
    return Inputs(frozenset(at(folder, name) for name in names))


def only(rest: Iterable[str], allowed: Collection[str], values: Collection[str] = ()) -> Inputs | None:
    """No input at all, when every option is one of ``allowed`` and every other word a name inside the workspace."""
    words = iter(rest)
    for word in words:
        if word.partition("=")[0] in values:
            if "=" not in word:
                next(words, None)
        elif (word.startswith("-") and word not in allowed) or word.startswith("/") or ".." in word.split("/"):
            return None
    return Inputs()


def toml(text: str | None) -> dict[str, Any] | None:
    """A TOML document; None for one that is not there or cannot be read."""
    try:
        return None if text is None else tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def table(document: dict[str, Any] | None, *names: str) -> dict[str, Any]:
    """A table of a document, empty where there is none."""
    here: Any = document or {}
    for name in names:
        here = here.get(name) if isinstance(here, dict) else None
    return here if isinstance(here, dict) else {}
