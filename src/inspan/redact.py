"""Secrets out of anything before it is written. Pure.

Two nets: by value (the credentials this process knows, in every form they are likely to be printed in) and by pattern
(common shapes of keys nobody told us about). Both work on bytes; text goes through UTF-8.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, quote_plus

MARK: Final = "[redacted]"
SHORTEST: Final = 6
"""Shorter values are not taken as secrets: replacing them would garble ordinary text and protect nothing."""

_TOKEN_HOLD: Final = 4096
_BLOCK_HOLD: Final = 32768
_EDGE = rb"(?<![A-Za-z0-9])"
_PATTERNS: Final = (
    rb"-----BEGIN [A-Z ]{0,24}PRIVATE KEY-----"
    rb"(?:[\s\S]{0,16384}?-----END [A-Z ]{0,24}PRIVATE KEY-----|[A-Za-z0-9+/=\s\\]{0,16384})",
    _EDGE + rb"sk-[A-Za-z0-9_-]{20,256}",
    _EDGE + rb"(?:gh[oprsu]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{30,255})",
    _EDGE + rb"glpat-[A-Za-z0-9_-]{20,64}",
    _EDGE + rb"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    _EDGE + rb"AIza[A-Za-z0-9_-]{35}",
    _EDGE + rb"xox[abeoprs]-[A-Za-z0-9-]{10,255}",
    _EDGE + rb"(?:hf|npm|gsk|xai)[_-][A-Za-z0-9]{30,255}",
    _EDGE + rb"pypi-[A-Za-z0-9_-]{40,512}",
    _EDGE + rb"eyJ[A-Za-z0-9_-]{8,1024}\.eyJ[A-Za-z0-9_-]{8,2048}\.[A-Za-z0-9_-]{8,1000}",
    rb"(?i:(?<![a-z])bearer[ \t]{1,4})[A-Za-z0-9._~+/-]{16,2048}={0,2}",
    rb"(?<=://)[^\s/:@]{0,128}:[^\s/@]{3,256}(?=@)",
)
_FOLD: Final = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ-", b"abcdefghijklmnopqrstuvwxyz_")
_STARTS: Final = (
    (b"_____begin ", (0,)), (b"sk_", (0, -1)), (b"glpat_", (0,)), (b"akia", (0,)), (b"asia", (0,)), (b"aiza", (0,)),
    (b"xox", (0,)), (b"hf_", (0,)), (b"npm_", (0,)), (b"xai_", (0,)), (b"pypi_", (0,)), (b"eyj", (0,)),
    (b"github_pat_", (0,)),
    (b"bearer", (0,)), (b"://", (3,)),
)  # fmt: skip
"""Where a match of a pattern can begin: a literal of it in folded bytes, and the beginnings relative to its place. One
search for literals is fifty times as fast as one for the patterns; only at these places are the patterns tried."""
_GITHUB = re.compile(rb"gh[oprsu]_")
_BEARER_BEFORE = re.compile(rb"(?i:bearer)[ \t]{1,4}\Z")
_BLOCK_OPEN = re.compile(
    rb"-----BEGIN [A-Z ]{0,36}(?:(?<=PRIVATE KEY)-{0,5})?\Z|-----BEGIN [A-Z ]{0,24}PRIVATE KEY-----"
)
_BLOCK_END = re.compile(rb"-----END [A-Z ]{0,24}PRIVATE KEY-----")


def _forms(secret: str) -> Iterator[bytes]:
    """The ways a secret value is likely to be printed: as it is, JSON-escaped, URL-quoted, hexadecimal, base64."""
    raw = secret.encode("utf-8", "surrogatepass")
    yield raw
    for ascii_only in (True, False):
        yield json.dumps(secret, ensure_ascii=ascii_only)[1:-1].encode("utf-8", "surrogatepass")
    for quoted in (quote(raw, safe=""), quote(raw, safe="/"), quote_plus(raw)):
        yield quoted.encode()
        yield re.sub(r"%[0-9A-F]{2}", lambda escape: escape[0].lower(), quoted).encode()
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    for offset in range(3):
        # Inside a longer base64 text the secret starts at one of three alignments; these characters depend on it alone.
        first, last = -(-offset * 8 // 6), (offset + len(raw)) * 8 // 6
        core = base64.b64encode(bytes(offset) + raw + bytes(3))[first:last]
        yield core
        yield core.replace(b"+", b"-").replace(b"/", b"_")


class Redactor:
    """Replaces secrets with ``[redacted]``.

    Args:
        secrets: values to hide wherever they appear, in every printed form. Values under six characters are ignored.
        patterns: also hide common shapes of keys (provider keys, tokens of code hosts, bearer headers, private keys).
    """

    def __init__(self, secrets: Iterable[str] = (), patterns: bool = True) -> None:
        values = {form for secret in secrets if len(secret) >= SHORTEST for form in _forms(secret)}
        self.forms: tuple[bytes, ...] = tuple(sorted(values, key=len, reverse=True))
        self.patterns = patterns
        parts = [re.escape(form) for form in self.forms] + list(_PATTERNS if patterns else ())
        self._regex = re.compile(b"|".join(parts)) if parts else None

    def data(self, b: bytes) -> bytes:
        """``b`` without secrets."""
        return _replaced(b, self._secrets(b))

    def text(self, s: str) -> str:
        """``s`` without secrets."""
        return self.data(s.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def settled(self, b: bytes) -> tuple[bytes, bytes]:
        """What of ``b`` is sure, without secrets, and the tail that may still turn into one when more bytes follow."""
        cut = len(b) - max((_overlap(b, form) for form in self.forms), default=0)
        if self.patterns:
            cut = min(cut, _pattern_tail(b))
        secrets = self._secrets(b)
        cut = min((start for start, end in secrets if start < cut < end), default=cut)
        return _replaced(b[:cut], [span for span in secrets if span[1] <= cut]), b[cut:]

    def _secrets(self, b: bytes) -> list[tuple[int, int]]:
        """Start and end of every secret in ``b``, in order: what searching with the one big pattern would find."""
        if self._regex is None:
            return []
        starts: set[int] = set()
        for form in self.forms:
            if form in b:
                _add_places(starts, b, form)
        if self.patterns:
            folded = b.translate(_FOLD)
            for literal, offsets in _STARTS:
                if literal in folded:
                    _add_places(starts, folded, literal, offsets)
            starts.update(found.start() for found in _GITHUB.finditer(folded))
        spans: list[tuple[int, int]] = []
        if not starts:
            return spans
        for start in sorted(starts):
            if start >= (spans[-1][1] if spans else 0):
                found = self._regex.match(b, start)
                if found:
                    spans.append(found.span())
        return spans


def _add_places(places: set[int], b: bytes, literal: bytes, offsets: tuple[int, ...] = (0,)) -> None:
    """Add where ``literal`` stands in ``b``, moved by each of ``offsets``; places may overlap."""
    place = b.find(literal)
    while place >= 0:
        places.update([place + offset for offset in offsets if place + offset >= 0])
        place = b.find(literal, place + 1)


def _replaced(b: bytes, spans: list[tuple[int, int]]) -> bytes:
    """``b`` with a mark in place of every span."""
    if not spans:
        return b
    kept: list[bytes] = []
    last = 0
    for start, end in spans:
        kept += [b[last:start], MARK.encode()]
        last = end
    return b"".join([*kept, b[last:]])


def _overlap(b: bytes, form: bytes) -> int:
    """Length of the longest end of ``b`` that is a beginning of ``form``."""
    return next((k for k in range(min(len(form) - 1, len(b)), 0, -1) if b.endswith(form[:k])), 0)


def _pattern_tail(b: bytes) -> int:
    """Where the last word begins (with a ``bearer`` before it), or a private key that has not ended."""
    tail = b[-_TOKEN_HOLD:]
    cut = len(b) if not tail or tail[-1:].isspace() else len(b) - len(tail.split()[-1])
    before = _BEARER_BEFORE.search(b, max(0, cut - 16), cut)
    if before:
        cut = before.start()
    for block in _BLOCK_OPEN.finditer(b, max(0, len(b) - _BLOCK_HOLD)):
        if not _BLOCK_END.search(b, block.start()):
            return min(cut, block.start())
    return cut


class StreamRedactor:
    """Redacts a stream of chunks. A secret split over chunks is still caught: an undecided tail is held back.

    What is held back is at most the last word of the stream (or an unfinished private key), so complete lines pass
    at once.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """Take a chunk; return what can be written now."""
        sure, self._held = self._redactor.settled(self._held + chunk)
        return sure

    def flush(self) -> bytes:
        """The rest, at the end of the stream."""
        rest, self._held = self._held, b""
        return self._redactor.data(rest)
