"""Content-addressed files: what a job leaves behind besides its rows."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inspan.errors import StateError
from inspan.files import holding, write_whole
from inspan.redact import Redactor
from inspan.store.database import explained, make_private_directory

_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_LOCK = "lock"


def _place(root: Path, digest: str) -> Path:
    match = _DIGEST.fullmatch(digest)
    if match is None:
        raise StateError(
            f"{digest!r} is not the digest of an artifact.", where=str(root), do="Give sha256:<64 digits>."
        )
    return root / match[1][:2] / match[1]


def read_artifact(root: Path, digest: str) -> bytes:
    """The bytes of one artifact.

    Raises:
        StateError: when it is gone, or is no longer what its name says.
    """
    path = _place(root, digest)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise StateError(
            "The artifact is gone.", where=str(path), do="It may have been collected; run the job again."
        ) from None
    except OSError as error:
        raise StateError(
            f"The artifact cannot be read: {error}.", where=str(path), do="Check its permission."
        ) from error
    if hashlib.sha256(data).hexdigest() != path.name:
        raise StateError("The artifact was changed after it was written.", where=str(path), do="Run the job again.")
    return data


@contextmanager
def unremoved(root: Path) -> Iterator[None]:
    """No file goes meanwhile: who finds one that is there already may note that it is kept.

    Raises:
        StateError: full disk, no permission.
    """
    make_private_directory(root)
    with explained(root), holding(root / _LOCK, shared=True):
        yield


@contextmanager
def removing(root: Path) -> Iterator[None]:
    """Nobody keeps anything meanwhile: from the last look at a file's rows until they are marked."""
    with explained(root), holding(root / _LOCK):
        yield


class Artifacts:
    """Writes artifacts, each redacted before its digest is taken."""

    def __init__(self, root: Path, redactor: Redactor, exact: Redactor) -> None:
        """``redactor`` cleans text for people; ``exact`` (by value only) cleans what must stay applicable: patches."""
        self._root, self._redactor, self._exact = root, redactor, exact

    def put(self, data: bytes, *, exact: bool = False) -> tuple[str, int]:
        """Keep ``data`` and return its digest and size. The same bytes are kept once. Survives a power cut.

        Raises:
            StateError: full disk, no permission.
        """
        clean = (self._exact if exact else self._redactor).data(data)
        digest = "sha256:" + hashlib.sha256(clean).hexdigest()
        path = _place(self._root, digest)
        if not path.exists():
            make_private_directory(path.parent)
            with explained(path):
                write_whole(path, clean)
        return digest, len(clean)

    def get(self, digest: str) -> bytes:
        """See ``read_artifact``."""
        return read_artifact(self._root, digest)
