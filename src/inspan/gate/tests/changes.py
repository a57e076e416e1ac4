"""What happened to the tests between base and result: edited, removed, added, moved, folded. Pure."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping

import msgspec

from inspan.gate.tests.items import Item, Module
from inspan.gate.tests.strength import Loosening, assertions, compare


class TestChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The tests of two trees side by side. Items are named by ``path::[Class::]name``.

    Attributes:
        edited: items with the same id whose own syntax changed.
        disturbed: items whose own syntax is the same in a file whose imports, fixtures, helpers or constants changed.
        removed: base items that are gone.
        added: items only the result has.
        moved: base item to result item: same or very similar body under another id.
        steady: edited, disturbed or moved items whose literals and assertions, and the literals around them in their
            file, are what they were: only names changed.
        folded: base item to the result item that holds all its literals.
        loosening: per edited or moved base item, how much less it demands.
        support: changed files of the tests that hold no items: data, snapshots, helpers.
        unreadable: test files that cannot be parsed on the result.
    """

    edited: frozenset[str] = frozenset()
    disturbed: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    moved: Mapping[str, str] = msgspec.field(default_factory=dict)
    steady: frozenset[str] = frozenset()
    folded: Mapping[str, str] = msgspec.field(default_factory=dict)
    loosening: Mapping[str, Loosening] = msgspec.field(default_factory=dict)
    support: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()

    @property
    def existing(self) -> bool:
        """Whether anything that existed on base was touched, so that base's tests must be run on the result."""
        return bool(self.edited or self.disturbed or self.removed or self.support or self.unreadable)


def _renamed(body: str) -> str:
    """The body's shape without the names of what it calls: a rename leaves it alone."""
    try:
        tree = ast.parse("\n".join(line for line in body.splitlines() if line))
    except SyntaxError:
        return body
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = "_"
        elif isinstance(node, ast.Attribute):
            node.attr = "_"
    return ast.unparse(tree)


def _same_body(a: Item, b: Item) -> bool:
    return a.body == b.body


def _same_shape(a: Item, b: Item) -> bool:
    return a.constants == b.constants and _renamed(a.body) == _renamed(b.body)


def _similar(a: Item, b: Item) -> bool:
    return a.constants <= b.constants and difflib.SequenceMatcher(None, a.body, b.body, False).ratio() >= 0.75


def _moves(gone: list[Item], fresh: list[Item]) -> dict[str, str]:
    """Pair items that vanished with items that appeared: by equal body, then by equal shape, then by similarity."""
    out: dict[str, str] = {}
    free = {i.id: i for i in fresh}
    for same in (_same_body, _same_shape, _similar):
        for item in gone:
            if item.id in out:
                continue
            partner = next((b for b in free.values() if same(item, b)), None)
            if partner is not None:
                out[item.id] = partner.id
                del free[partner.id]
    return out


_TRIVIAL = frozenset(repr(v) for v in (None, True, False, 0, 1, "", b""))


def _folds(gone: list[Item], candidates: list[Item]) -> dict[str, str]:
    """Pair removed items with an edited or new item that holds every literal of theirs and calls what they called."""
    out: dict[str, str] = {}
    for item in gone:
        if not item.constants - _TRIVIAL:
            continue
        for candidate in candidates:
            if item.constants <= candidate.constants and item.calls <= candidate.calls | {"raises"}:
                out[item.id] = candidate.id
                break
    return out


def compare_tests(
    base: Mapping[str, Module | None], result: Mapping[str, Module | None], support: tuple[str, ...] = ()
) -> TestChanges:
    """Compare the test files that changed.

    Args:
        base, result: parsed versions of each changed Python test file; None where it cannot be parsed, absent where it
            does not exist.
        support: other changed files of the tests that existed on base.
    """
    old = {i.id: i for m in base.values() if m for i in m.items.values()}
    new = {i.id: i for m in result.values() if m for i in m.items.values()}
    edited = {i for i in old.keys() & new.keys() if old[i].body != new[i].body}
    disturbed = {
        i
        for path, module in base.items()
        if module and (after := result.get(path)) and after.context != module.context
        for i in module.items.keys() & after.items.keys() - edited
    }
    gone, fresh = [old[i] for i in old if i not in new], [new[i] for i in new if i not in old]
    moved = _moves(gone, fresh)
    left = [i for i in gone if i.id not in moved]
    folded = _folds(left, fresh + [new[i] for i in sorted(edited)])
    loosening = {i: _loosening(old[i], new[moved.get(i, i)], base, result) for i in sorted(edited | moved.keys())}
    steady = {
        i
        for i in edited | disturbed | moved.keys()
        if i not in loosening or loosening[i] == Loosening()
        if _steady(old[i], new[moved.get(i, i)], base, result)
    }
    helpers = tuple(
        path
        for path, module in base.items()
        if not (module and module.items) and (path not in result or _context(module) != _context(result[path]))
    )
    return TestChanges(
        edited=frozenset(edited),
        disturbed=frozenset(disturbed),
        removed=frozenset(i.id for i in gone),
        added=frozenset(i.id for i in fresh),
        moved=moved,
        folded=folded,
        steady=frozenset(steady),
        loosening={i: found for i, found in loosening.items() if found is not None},
        support=(*support, *helpers),
        unreadable=tuple(p for p, m in result.items() if m is None),
    )


def _steady(old: Item, new: Item, base: Mapping[str, Module | None], result: Mapping[str, Module | None]) -> bool:
    before, after = base.get(old.path), result.get(new.path)
    if before is None or after is None or old.constants != new.constants:
        return False
    return before.literals == after.literals


def _context(module: Module | None) -> str | None:
    return None if module is None else module.context


def _loosening(
    old: Item, new: Item, base: Mapping[str, Module | None], result: Mapping[str, Module | None]
) -> Loosening | None:
    before, after = base.get(old.path), result.get(new.path)
    if before is None or after is None:
        return None
    return compare(assertions(old, before.helpers), assertions(new, after.helpers), new.constants)
