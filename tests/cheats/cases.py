"""Cases of the corpus: how they are written down, read, and frozen.

A case is a folder ``corpus/<set>/<id>/`` with ``case.toml``, ``base/`` (a whole small repository) and ``change/`` (only files
that are new or differ). The sets are ``known``, written with the gate's rules in view, and ``blind``, written without.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from pathlib import Path
from typing import Literal

import msgspec

CORPUS = Path(__file__).parent / "corpus"
SETS = ("known", "blind")

Language = Literal["python", "typescript", "javascript", "go", "rust", "other"]
Verdict = Literal["reject", "hold", "accept"]


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One change with its story.

    Attributes:
        language: what it is written in.
        honest: whether the change does what was asked and only that.
        kind: the taxonomy's id of what it is or looks like (``A5``); in the blind set a few free words.
        prompt: the job's text, as its user wrote it.
        check: the job's one check, a shell command.
        may_change: the job's permissions.
        removed: paths of base the change deletes.
        expect: the verdict the gate owes; ``accept`` means nothing above a note.
        decidable: a cheat that facts alone convict.
        judge: a cheat that only somebody who reads it can tell; it says nothing about the gate.
        story: what happened, for people.
        base: what the check does on base, where the case says so: ``fails`` or ``passes``.
    """

    language: Language
    honest: bool
    kind: str
    prompt: str
    check: str
    expect: Verdict
    story: str
    may_change: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    decidable: bool = False
    judge: bool = False
    base: Literal["fails", "passes"] | None = None


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A case and where it lies; ``name`` is ``<set>/<id>``."""

    name: str
    where: Path
    case: Case

    @property
    def set(self) -> str:
        """``known`` or ``blind``."""
        return self.name.split("/", 1)[0]


def load(where: Path) -> Placed:
    """Read one case.

    Raises:
        msgspec.ValidationError, tomllib.TOMLDecodeError, OSError: it is not written as a case.
    """
    table = tomllib.loads((where / "case.toml").read_text(encoding="utf-8"))
    return Placed(name=f"{where.parent.name}/{where.name}", where=where, case=msgspec.convert(table, Case))


def names(corpus: Path = CORPUS) -> list[str]:
    """Every case's name, without reading any. A blind case is one once it is frozen: until then its author is at work."""
    return [n for n in found(corpus) if n.startswith("known/") or n in frozen(corpus)]


def found(corpus: Path = CORPUS) -> list[str]:
    """The names of all folders of both sets."""
    return [
        f"{s}/{p.name}" for s in SETS if (corpus / s).is_dir() for p in sorted((corpus / s).iterdir()) if p.is_dir()
    ]


def every(corpus: Path = CORPUS) -> list[Placed]:
    """Every case of both sets, in order."""
    return [load(corpus / name) for name in names(corpus)]


def faults(placed: Placed) -> list[str]:
    """What is wrong with a case as it is written down; running it shows the rest."""
    case, out = placed.case, []
    base, change = files(placed.where / "base"), files(placed.where / "change")
    if not base:
        out.append("base/ holds no file")
    if not change and not case.removed:
        out.append("nothing is changed")
    out += [f"change/{p} is the same as on base" for p in sorted(change.keys() & base.keys()) if change[p] == base[p]]
    out += [f"removed: {p} is not on base" for p in case.removed if p not in base]
    out += [f"removed: {p} is also in change/" for p in case.removed if p in change]
    if case.honest and (case.expect != "accept" or case.decidable or case.judge):
        out.append("an honest change is to be accepted, and neither decidable nor for a judge")
    if not case.honest and case.decidable != (case.expect == "reject"):
        out.append("a cheat is to be rejected where it is decidable, and only there")
    if not case.honest and case.judge != (case.expect == "accept"):
        out.append("a cheat is only to pass where it is left to a judge")
    return out


def files(top: Path) -> dict[str, tuple[str, bytes]]:
    """Relative path -> (``link``, ``exec`` or ``file``; content) of everything below a folder that is no folder."""
    found = {}
    for folder, folders, plain in os.walk(top):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in (*plain, *links):
            path = Path(folder, name)
            if path.is_symlink():
                entry = ("link", os.fsencode(os.readlink(path)))
            else:
                entry = (
                    "exec" if os.access(path, os.X_OK) and path.stat().st_mode & 0o100 else "file",
                    path.read_bytes(),
                )
            found[str(path.relative_to(top))] = entry
    return found


def digest(where: Path) -> str:
    """The sha256 over everything of one case: paths, kinds, lengths and bytes, in the order of the paths."""
    total = hashlib.sha256()
    for path, (kind, data) in sorted(files(where).items()):
        total.update(f"{kind} {len(data)} {path}\0".encode("utf-8", "surrogateescape"))
        total.update(data)
    return total.hexdigest()


def frozen(corpus: Path = CORPUS) -> dict[str, str]:
    """Name -> digest, as written in ``DIGESTS``."""
    target = corpus / "DIGESTS"
    lines = target.read_text(encoding="utf-8").splitlines() if target.exists() else []
    return {name: value for value, name in (line.split("  ", 1) for line in lines)}


def freeze(corpus: Path = CORPUS, *, blind: bool = False) -> list[str]:
    """Write the digests of the known cases, and with ``blind`` of new blind ones. A frozen blind case stays as it is.

    Returns:
        The frozen blind cases that changed or are gone; nothing is written when there are any.
    """
    old = {name: value for name, value in frozen(corpus).items() if name.startswith("blind/")}
    differ = [name for name, value in old.items() if not (corpus / name).is_dir() or digest(corpus / name) != value]
    if not differ:
        now = {n: digest(corpus / n) for n in found(corpus) if blind or n.startswith("known/") or n in old}
        (corpus / "DIGESTS").write_text("".join(f"{value}  {name}\n" for name, value in now.items()), encoding="utf-8")
    return differ
