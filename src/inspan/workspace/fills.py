"""Submodules and Git LFS files filled in from what the user's repository has locally. What it lacks is named."""

from __future__ import annotations

import configparser
import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from inspan.errors import WorkspaceError
from inspan.files import open_regular
from inspan.workspace.git import TrustedGit
from inspan.workspace.layers import Difference, copy_file
from inspan.workspace.layout import Filled
from inspan.workspace.objects import Objects
from inspan.workspace.remove import remove_tree
from inspan.workspace.repository import Repository
from inspan.workspace.template import RAW

_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_POINTER_MAX = 1024


def concerned(changes: Iterable[Difference], submodules: Mapping[str, str], lfs: Mapping[str, Filled]) -> bool:
    """Whether a difference touches what is filled in or decides it; such a base gets a full tree."""
    for change in changes:
        path = os.fsdecode(change.path)
        if b"160000" in (change.mode_before, change.mode) or path in lfs:
            return True
        if os.path.basename(path) in (".gitattributes", ".gitmodules"):
            return True
    return bool(submodules) and any(os.fsdecode(c.path) == ".gitmodules" for c in changes)


def brings_pointer(changes: Iterable[Difference], objects: Objects) -> bool:
    """Whether a difference brings a Git LFS pointer in, whose content might have to be filled in."""
    return any(
        change.mode.startswith(b"100") and parse_pointer(objects.blob(change.oid) or b"") is not None
        for change in changes
    )


def fill_submodules(repo: Repository, git: TrustedGit, tree: Path, missing: list[str]) -> dict[str, str]:
    """Fill the submodules of ``tree``, a raw checkout whose index is ``git``'s: path -> commit of each.

    A sentence for each one that could not be filled is added to ``missing``.
    """
    links: dict[str, str] = {}
    for line in git.run("ls-files", "-s", "-z").split(b"\0")[:-1]:
        head, raw = line.split(b"\t", 1)
        if head.startswith(b"160000 "):
            links[os.fsdecode(raw)] = head.split(b" ")[1].decode()
    if not links:
        return {}
    names = _module_names(tree)
    for path, commit in links.items():
        (tree / path).mkdir(parents=True, exist_ok=True)
        if not any(_checkout(place, repo, commit, tree / path) for place in _module_dirs(repo, path, names.get(path))):
            missing.append(
                f"submodule {path} is empty: commit {commit} is not in the repository (git submodule update)"
            )
    return links


def _module_names(tree: Path) -> dict[str, str]:
    """Path -> name by the base's ``.gitmodules``; what cannot be read counts as absent."""
    file = tree / ".gitmodules"
    parser = configparser.RawConfigParser(strict=False, interpolation=None)
    try:
        if file.is_symlink() or not file.is_file():
            return {}
        text = file.read_text("utf-8", "surrogateescape")
        parser.read_string("\n".join(line.strip() for line in text.splitlines()))
    except (OSError, configparser.Error):
        return {}
    names = {}
    for section in parser.sections():
        if section.startswith('submodule "') and section.endswith('"') and parser.has_option(section, "path"):
            names[parser.get(section, "path")] = section[11:-1]
    return names


def _module_dirs(repo: Repository, path: str, name: str | None) -> list[str]:
    """Where the user's repository may keep a submodule's git directory. The name is the repository's word: it may not
    lead anywhere else."""
    places = []
    for candidate in dict.fromkeys((name or path, path)):
        parts = candidate.split("/")
        if candidate and not any(part in ("", ".", "..") for part in parts):
            places += [os.path.join(home, "modules", candidate) for home in (repo.git_dir, repo.common_dir)]
    inner = os.path.join(repo.toplevel, path, ".git")
    if os.path.isdir(inner) and not os.path.islink(inner):
        places.append(inner)
    roots = tuple(os.path.realpath(root) + os.sep for root in (repo.git_dir, repo.common_dir, repo.toplevel))
    return [place for place in places if os.path.isdir(place) and (os.path.realpath(place) + os.sep).startswith(roots)]


def _checkout(git_dir: str, repo: Repository, commit: str, target: Path) -> bool:
    """Check ``commit`` out raw into ``target`` through a scratch repository of ours; False when it is not there."""
    stores = os.path.join(git_dir, "objects")
    scratch = target / ".inspan-fill"
    for name in ("objects", "refs", "info"):
        (scratch / name).mkdir(parents=True)
    (scratch / "HEAD").write_text("ref: refs/heads/none\n")
    (scratch / "info/attributes").write_bytes(RAW)
    version = "1\n[extensions]\n\tobjectformat = sha256\n" if repo.object_format == "sha256" else "0\n"
    (scratch / "config").write_text("[core]\n\tbare = false\n\trepositoryformatversion = " + version)
    git = TrustedGit(scratch, repo.object_format, work_tree=target, objects=stores)
    try:
        git.run("read-tree", "--reset", "-u", commit, config={"core.sparseCheckout": "false"})
        return True
    except WorkspaceError:
        return False
    finally:
        remove_tree(scratch)


def parse_pointer(content: bytes) -> Filled | None:
    """Read a Git LFS pointer file; None when ``content`` is none."""
    if not content.startswith(_POINTER) or len(content) > _POINTER_MAX:
        return None
    fields = dict(line.split(b" ", 1) for line in content.splitlines()[1:] if b" " in line)
    oid, size = fields.get(b"oid", b""), fields.get(b"size", b"")
    digest = oid.removeprefix(b"sha256:").decode("ascii", "replace")
    if (
        not oid.startswith(b"sha256:")
        or len(digest) != 64
        or set(digest) - set("0123456789abcdef")
        or not size.isdigit()
    ):
        return None
    return Filled(oid=digest, size=int(size))


def fill_lfs(repo: Repository, git: TrustedGit, tree: Path, missing: list[str]) -> dict[str, Filled]:
    """Put the content of LFS files in place of their pointers: path -> what stands there now.

    The index keeps the pointers and takes those files as unchanged.
    """
    entries = [line.split(b"\t", 1) for line in git.run("ls-files", "-s", "-z").split(b"\0")[:-1]]
    with Objects(git) as objects:
        asked = any(
            b"lfs" in (objects.blob(head.split(b" ")[1].decode()) or b"")
            for head, path in entries
            if path.rsplit(b"/", 1)[-1] == b".gitattributes" and head.startswith(b"100")
        )
    if not asked:
        return {}
    filled = {}
    for path in _lfs_paths(git, [path for head, path in entries if head.startswith(b"100")]):
        target = tree / os.fsdecode(path)
        if target.stat().st_size > _POINTER_MAX:
            continue
        pointer = parse_pointer(target.read_bytes())
        if pointer is None:
            continue
        source = os.path.join(repo.common_dir, "lfs/objects", pointer.oid[:2], pointer.oid[2:4], pointer.oid)
        if _is_object(source, pointer):
            mode = target.stat().st_mode & 0o777
            target.unlink()
            copy_file(source, os.fspath(target), mode)
            filled[os.fsdecode(path)] = pointer
        else:
            missing.append(f"LFS file {os.fsdecode(path)} is only a pointer: its content is not here (git lfs pull)")
    held = b"".join(os.fsencode(path) + b"\0" for path in filled)
    if held:
        git.run("update-index", "-z", "--assume-unchanged", "--stdin", input=held)
    return filled


def _lfs_paths(git: TrustedGit, paths: list[bytes]) -> list[bytes]:
    """Paths to which the base's own attributes give ``filter=lfs``."""
    bare = TrustedGit(git.git_dir, git.object_format, index=os.path.join(git.git_dir, "index"))
    bare.env["GIT_OBJECT_DIRECTORY"] = git.env["GIT_OBJECT_DIRECTORY"]
    attributes = os.path.join(git.git_dir, "info/attributes")
    aside = attributes + ".aside"
    os.rename(attributes, aside)
    try:
        out = bare.run("check-attr", "--cached", "-z", "--stdin", "filter", input=b"".join(p + b"\0" for p in paths))
    finally:
        os.rename(aside, attributes)
    fields = out.split(b"\0")[:-1]
    return [path for path, _name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True) if value == b"lfs"]


def _is_object(source: str, pointer: Filled) -> bool:
    """Whether ``source`` is exactly the content the pointer names."""
    try:
        with open_regular(source) as content:
            same_size = os.fstat(content.fileno()).st_size == pointer.size
            return same_size and hashlib.file_digest(content, "sha256").hexdigest() == pointer.oid
    except OSError:
        return False
