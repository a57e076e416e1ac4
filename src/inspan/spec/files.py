"""Reading a small file somebody else may have written."""

from __future__ import annotations

from pathlib import Path

from inspan.errors import InvalidSpec
from inspan.files import read_regular

LARGEST = 1 << 20
"""Bytes of the largest file that is read."""


def read_file(path: Path, *, follow: bool) -> bytes | None:
    """The bytes of ``path``, None when there is no such file.

    Args:
        path: what to read.
        follow: whether ``path`` itself may be a symbolic link; never for a file that came with a repository.

    Raises:
        InvalidSpec: for a link, a directory, a device, a file over 1 MiB, or one that may not be read.
    """
    try:
        return read_regular(path, LARGEST, follow=follow)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InvalidSpec(
            f"{path.name} cannot be read: {error.strerror}", where=str(path), do="make it a regular, readable file"
        ) from None
