"""The nearest known names, for every refusal that meets an unknown one."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Up to three known names like ``name``, best first: close spellings, then names that contain it or begin it."""
    from difflib import get_close_matches  # not before something is wrong

    names = sorted(set(known))
    folded = {n.casefold(): n for n in reversed(names)}
    close = [folded[m] for m in get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)]
    part = name.casefold()
    related = [n for n in names if part and len(part) > 1 and (part in n.casefold() or part.startswith(n.casefold()))]
    return list(dict.fromkeys(close + related))[:3]


def suggestion(name: str, known: Iterable[str]) -> str:
    """An instruction for an error's ``do``: the nearest names when there are some, else all that exist."""
    names = sorted(set(known))
    near = nearest(name, names)
    if near:
        return f"did you mean {' or '.join(repr(n) for n in near)}?"
    return f"use one of: {', '.join(names)}" if names else "none are known here"
