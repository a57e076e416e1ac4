"""What this room keeps below ``repos/<key>`` and ``attempts/<attempt>``, and how concurrent builders stay apart.

::

    repos/<key>/lock                          flock of whoever builds something below
    repos/<key>/gate.git                      the trusted side's repository
    repos/<key>/pristine/<base>.<uid>/tree    an immutable layer
    repos/<key>/pristine/<base>.<uid>/meta.json
    repos/<key>/ignore/<base>                 the base's .gitignore files and nothing else
    repos/<key>/setup/<key>/{layer,home,meta.json}
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from inspan.errors import StateError
from inspan.files import holding
from inspan.spec.paths import State
from inspan.workspace.remove import remove_tree
from inspan.workspace.repository import Repository


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """Who owns the files an agent sees."""

    uid: int
    gid: int


class Filled(msgspec.Struct, frozen=True, kw_only=True):
    """A Git LFS file whose content, not its pointer, stands in the pristine tree."""

    oid: str
    size: int


class Meta(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about one pristine layer.

    Attributes:
        base: the commit.
        lowers: names below ``pristine/`` of the layers beneath this one, topmost first; empty for a full tree.
        stores: host paths of the object stores its ``.git`` borrows from, in the order of their numbers inside.
        submodules: path -> commit of each submodule; their content is read-only.
        lfs: path -> what was filled in.
        missing: what could not be filled in, for people.
    """

    base: str
    lowers: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    submodules: dict[str, str] = msgspec.field(default_factory=dict)
    lfs: dict[str, Filled] = msgspec.field(default_factory=dict)
    missing: tuple[str, ...] = ()


def made(directory: Path, mode: int = 0o700) -> Path:
    """``directory``, created with its parents where missing; with any other mode than the default also if the umask is
    stricter: a directory that the sandbox's identity passes must let it pass.

    Raises:
        StateError: it cannot be created: no permission or a full disk.
    """
    try:
        directory.mkdir(mode=mode, parents=True, exist_ok=True)
        if mode != 0o700:
            directory.chmod(mode)
    except OSError as refused:
        raise state_error(refused, directory) from refused
    return directory


def state_error(error: OSError, where: Path) -> StateError:
    """The state directory's error for an operating-system error."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StateError("the disk is full", where=str(where), do="free some space and retry", reason="disk_full")
    return StateError(
        f"the state directory cannot be used: {error.strerror}",
        where=str(error.filename or where),
        do="set INSPAN_HOME to a directory you may write",
    )


@contextmanager
def locked(state: State, repo: Repository) -> Iterator[Path]:
    """Hold the repository's build lock; gives ``repos/<key>``."""
    home = made(state.repo(repo.key))
    with ExitStack() as until_done:
        try:
            until_done.enter_context(holding(home / "lock"))
        except OSError as refused:
            raise state_error(refused, home) from refused
        yield home


@contextmanager
def arriving(final: Path) -> Iterator[Path]:
    """A scratch directory beside ``final`` that becomes ``final`` by one rename when the block succeeds."""
    made(final.parent)
    try:
        scratch = Path(tempfile.mkdtemp(prefix=".new-", dir=final.parent))
    except OSError as refused:
        raise state_error(refused, final.parent) from refused
    try:
        yield scratch
        scratch.rename(final)
    except BaseException as error:
        remove_tree(scratch)
        if isinstance(error, OSError):
            raise state_error(error, final) from error
        raise


def gate_dir(state: State, repo: Repository) -> Path:
    """The trusted side's bare repository."""
    return state.repo(repo.key) / "gate.git"


def pristine_name(base: str, owner: Owner) -> str:
    """Directory name of a pristine layer."""
    return f"{base}.{owner.uid}"


def pristine_dir(state: State, repo: Repository, name: str) -> Path:
    """Directory of the pristine layer called ``name``."""
    return state.repo(repo.key) / "pristine" / name


def read_meta(directory: Path) -> Meta | None:
    """The layer's description, None when there is no finished layer."""
    try:
        return msgspec.json.decode((directory / "meta.json").read_bytes(), type=Meta)
    except (FileNotFoundError, NotADirectoryError):
        return None
