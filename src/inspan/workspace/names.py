"""Which names and links a change may not bring in. Pure; names are bytes as the file system gives them."""

from __future__ import annotations

import unicodedata

_HFS_IGNORED = frozenset(
    "\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"
)
_META = (".gitmodules", ".gitattributes", ".gitignore", ".mailmap")
_META_SHORT = ("gitmod~", "gitatt~", "gitign~", "mailma~")  # what NTFS may call them


def _folded(name: bytes) -> str:
    """The name as a case-folding, HFS+ or NTFS file system would see it."""
    text = "".join(c for c in name.decode("utf-8", "surrogateescape") if c not in _HFS_IGNORED)
    return text.casefold().split(":")[0].rstrip(" .")


def is_dotgit(name: bytes) -> bool:
    """Whether some file system would take this component for ``.git``."""
    return any(part.rstrip(" .") in (".git", "git~1") for part in _folded(name).replace("\\", "/").split("/"))


def name_rule(name: bytes) -> str | None:
    """The rule a single path component breaks, None for a harmless one."""
    if is_dotgit(name):
        return "dotgit_name"
    if any(c < 32 or c == 127 or c == 92 for c in name):
        return "control_char_name"
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return "non_utf8_name"
    folded = _folded(name)
    if (folded in _META and name.decode() != folded) or folded.startswith(_META_SHORT):
        return "meta_alias_name"
    return None


def link_escapes(path: bytes, target: bytes) -> bool:
    """Whether a symbolic link at ``path`` points out of the tree: absolute, or climbing above the root on its way."""
    if target.startswith(b"/"):
        return True
    depth = path.count(b"/")
    for part in target.split(b"/"):
        if part == b"..":
            depth -= 1
        elif part not in (b"", b"."):
            depth += 1
        if depth < 0:
            return True
    return False


def collision_key(name: bytes) -> str:
    """Two names with the same key are one name on a case-insensitive or normalising file system."""
    return unicodedata.normalize(
        "NFC", unicodedata.normalize("NFC", name.decode("utf-8", "surrogateescape")).casefold()
    )
