"""What happened to the tests between base and result: edited, removed, added, moved, folded. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping

import msgspec

from inspan.gate.tests.items import Item, Items, Module
from inspan.gate.tests.permission import words
from inspan.gate.tests.snapshots import Snapshots, rewritten
from inspan.gate.tests.strength import Loosening, compare

_TRIVIAL = frozenset(repr(v) for v in (None, True, False, 0, 1, "", b"")) | {"null", "true", "false", "nil"}
_WORDS = 40_000
"""Product of the words of two bodies up to which they are compared by similarity."""
_PAIRS = 20_000
"""Pairs of items that are compared by similarity; beyond it only equal ones are paired."""


class TestChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The tests of two trees side by side, by item id.

    Attributes:
        base, result: the items of the changed files.
        edited: items with the same id whose own syntax changed.
        disturbed: items whose own syntax is the same in a file whose imports, fixtures, helpers or constants changed.
        removed: base items that are gone.
        added: items only the result has.
        moved: base item to result item: same or very similar body under another id.
        steady: edited, disturbed or moved items whose literals and assertions, and the literals around them in their
            file, are what they were: only names changed.
        folded: base item to the result item that holds all its literals.
        loosening: per edited, disturbed or moved base item, how much less it demands.
        mocked: per base item, what is replaced for it now and was not, though it used it.
        gated: base items that are built under other conditions than before.
        snapshots: by test file, the titles whose stored snapshot changed or went.
        support: changed files of the tests that hold no items: data, helpers.
        unreadable: test files that cannot be parsed on the result.
    """

    base: Items = msgspec.field(default_factory=lambda: Items(()))
    result: Items = msgspec.field(default_factory=lambda: Items(()))
    edited: frozenset[str] = frozenset()
    disturbed: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    moved: Mapping[str, str] = msgspec.field(default_factory=dict)
    steady: frozenset[str] = frozenset()
    folded: Mapping[str, str] = msgspec.field(default_factory=dict)
    loosening: Mapping[str, Loosening] = msgspec.field(default_factory=dict)
    mocked: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    gated: frozenset[str] = frozenset()
    snapshots: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    support: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()

    @property
    def existing(self) -> bool:
        """Whether anything that existed on base was touched, so that base's tests must be run on the result."""
        return bool(self.edited or self.disturbed or self.removed or self.support or self.unreadable or self.snapshots)

    def path(self, test_id: str) -> str:
        """The file a base test stands in."""
        item = self.base.get(self.base.locate(test_id))
        return item.path if item is not None else test_id.split("::", 1)[0]


def _similar(a: Item, b: Item) -> bool:
    if not a.constants <= b.constants:
        return False
    ours, theirs = a.body.split(), b.body.split()
    if len(ours) * len(theirs) > _WORDS:
        return False
    matcher = difflib.SequenceMatcher(None, ours, theirs, False)
    return matcher.real_quick_ratio() >= 0.7 and matcher.quick_ratio() >= 0.7 and matcher.ratio() >= 0.7


def _same_scene(a: Item, b: Item) -> bool:
    """Whether two tests of one file look at the same things: at the same calls, or with the same literals and calls."""
    if a.path != b.path:
        return False
    subjects = [sorted(x.subject for x in i.assertions) for i in (a, b)]
    if subjects[0] == subjects[1] and any("(" in s for s in subjects[0]):
        return True
    return bool(a.constants - _TRIVIAL) and a.constants <= b.constants and bool(a.calls) and a.calls == b.calls


def _akin(a: Item, b: Item) -> bool:
    """Whether two tests of one file carry half of their words in common and call the same things."""
    if a.path != b.path or not a.calls & b.calls:
        return False
    ours, theirs = set(words(a.name)), set(words(b.name))
    return bool(ours) and 2 * len(ours & theirs) >= max(len(ours), len(theirs))


def _moves(gone: list[Item], fresh: list[Item]) -> dict[str, str]:
    """Pair items that vanished with items that appeared: by equal body, by equal shape, by similarity, by what they
    look at, by name; of several partners, the one with the same name, then the one in the same file."""
    out: dict[str, str] = {}
    free = {i.id: i for i in fresh}

    def pair(item: Item, candidates: Iterable[Item]) -> None:
        near = [b for b in candidates if b.id in free]
        if near:
            partner = min(near, key=lambda b: (b.name != item.name, b.path != item.path))
            out[item.id] = partner.id
            del free[partner.id]

    keys: tuple[Callable[[Item], object], ...] = (lambda i: i.body, lambda i: (i.shape, i.constants))
    for key in keys:
        groups: dict[object, list[Item]] = {}
        for item in free.values():
            groups.setdefault(key(item), []).append(item)
        for item in (g for g in gone if g.id not in out):
            pair(item, groups.get(key(item), ()))
    left = [g for g in gone if g.id not in out]
    if len(left) * len(free) <= _PAIRS:
        for same in (_similar, _same_scene, _akin):
            for item in (g for g in left if g.id not in out):
                pair(item, [b for b in free.values() if same(item, b)])
    return out


def _folds(gone: list[Item], candidates: list[Item]) -> dict[str, str]:
    """Pair removed items with an edited or new item that holds every literal of theirs and calls what they called."""
    out: dict[str, str] = {}
    for item in gone if len(gone) * len(candidates) <= 10 * _PAIRS else ():
        if not item.constants - _TRIVIAL:
            continue
        for candidate in candidates:
            if item.constants <= candidate.constants and item.calls <= candidate.calls | {"raises"}:
                out[item.id] = candidate.id
                break
    return out


def compare_tests(
    base: Mapping[str, Module | None],
    result: Mapping[str, Module | None],
    support: tuple[str, ...] = (),
    snapshots: Mapping[str, tuple[Snapshots, Snapshots]] | None = None,
) -> TestChanges:
    """Compare the test files that changed.

    Args:
        base, result: parsed versions of each changed test file; None where it cannot be parsed, absent where it does
            not exist.
        support: other changed files of the tests that existed on base.
        snapshots: by test file, what is stored for it on base and on the result.
    """
    old, new = Items(base.values()), Items(result.values())
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
    pairs = {i: (old[i], new[moved.get(i, i)]) for i in sorted(edited | disturbed | moved.keys())}
    loosening = {i: _loosening(a, b, _known(result.get(b.path))) for i, (a, b) in pairs.items()}
    stands = {i: (base.get(a.path), result.get(b.path)) for i, (a, b) in pairs.items()}
    return TestChanges(
        base=old,
        result=new,
        edited=frozenset(edited),
        disturbed=frozenset(disturbed),
        removed=frozenset(i.id for i in gone),
        added=frozenset(i.id for i in fresh),
        moved=moved,
        folded=_folds(left, fresh + [new[i] for i in sorted(edited)]),
        steady=frozenset(i for i, (a, b) in pairs.items() if _tame(loosening[i]) and _steady(a, b, *stands[i])),
        loosening=loosening,
        mocked={i: found for i, (a, b) in pairs.items() if (found := _mocked(a, b, *stands[i]))},
        gated=_gated(base, result),
        snapshots={path: titles for path, both in (snapshots or {}).items() if (titles := rewritten(*both))},
        support=(*support, *_helpers(base, result)),
        unreadable=tuple(p for p, m in result.items() if m is None),
    )


_SORTING = frozenset(
    ("sort", "sorted", "toSorted", "sort_unstable", "sort_by", "sort_by_key", "Sort", "Strings", "Ints", "Slice",
     "SortFunc")
)  # fmt: skip


_TALK = frozenset(("print", "println", "log", "info", "debug", "warn", "str", "repr", "len", "int", "float", "list"))
"""Calls that fail no test."""


def _loosening(old: Item, new: Item, known: frozenset[str] = frozenset()) -> Loosening:
    """How much less a test demands; one that sorts before it compares has given up the order, which is one step."""
    found = compare(old.assertions, new.assertions, new.constants)
    kept = old.constants <= new.constants
    elsewhere = bool(new.calls - old.calls - known - _TALK)
    found = msgspec.structs.replace(found, kept=kept, elsewhere=found.nothing and elsewhere)
    if not found.steps and _SORTING & (new.calls - old.calls):
        return msgspec.structs.replace(found, steps=1)
    return found


def _helpers(base: Mapping[str, Module | None], result: Mapping[str, Module | None]) -> tuple[str, ...]:
    """Files without items that changed, or went, and may be what tests stand on."""
    return tuple(
        path
        for path, module in base.items()
        if not (module and module.items)
        and not (module and module.mixed)
        and (path not in result or _context(module) != _context(result[path]))
    )


def _tame(found: Loosening) -> bool:
    return found.tame and not found.moved


def _steady(old: Item, new: Item, before: Module | None, after: Module | None) -> bool:
    if before is None or after is None or old.constants != new.constants:
        return False
    return before.literals == after.literals


def _mocked(old: Item, new: Item, before: Module | None, after: Module | None) -> tuple[str, ...]:
    """What is replaced for the new version of an item, was not for the old one, and was used by it."""
    if before is None or after is None:
        return ()
    fresh = (new.mocks | after.mocks) - old.mocks - before.mocks
    used = {name: module for name, module in before.imports.items() if name in old.calls or _mentions(old, name)}
    out = []
    for target in sorted(fresh):
        last = target.rpartition(".")[2] if "/" not in target else target
        module = target.rpartition(".")[0]
        if last in used or last in old.calls or target in used.values() or (module and module in used.values()):
            out.append(target)
    return tuple(out)


def _mentions(item: Item, name: str) -> bool:
    return any(name in a.subject.replace(".", " ").replace("(", " ").split() for a in item.assertions)


def _gated(base: Mapping[str, Module | None], result: Mapping[str, Module | None]) -> frozenset[str]:
    return frozenset(
        i
        for path, module in base.items()
        if module and (after := result.get(path)) and set(after.gates) - set(module.gates)
        for i in module.items
    )


def _known(module: Module | None) -> frozenset[str]:
    return module.helpers if module is not None else frozenset()


def _context(module: Module | None) -> str | None:
    return None if module is None else module.context
