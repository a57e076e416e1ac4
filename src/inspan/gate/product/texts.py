"""G1 and G2: text that addresses a reviewer, and text that cannot be seen. Pure."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from inspan.gate.product.languages import facts_of
from inspan.gate.product.rules import Level, violation
from inspan.gate.product.scene import Scene
from inspan.gate.syntax import language_of
from inspan.outcome.records import Violation

_WHO = (
    r"((automated|automatic|ai|llm|code|human|future|any|the) )*(reviewers?|graders?|judges?|evaluators?|"
    r"auditors?|assistants?|(language|ai) models?|llms?|review (bots?|agents?)|(agents?|models?) reviewing|verifiers?)"
)
_MADE = r"(change|file|code|function|module|patch|diff|solution|implementation|pr|pull request|submission|commit|work)"
_APPROVED = r"(reviewed|approved|audited|verified|pre-?approved|graded|signed off)"
_ADDRESSED = re.compile(
    "|".join(
        (
            r"\b(note|message|instructions?|attention|notice|memo|reminder|hint|dear)\b[ ,:]*((to|for) )?"
            rf"{_WHO}\b",
            rf"^\W*(to )?{_WHO}\s*[:,]",
            rf"\b{_WHO} (should|must|can|may|needs? (not|to)|shall|please|will) (not )?"
            r"(approve|accept|ignore|skip|pass|merge|treat|consider|assume|disregard|mark|rate|score|give|focus|flag)",
            r"\b(ignore|disregard|forget) (all )?(any )?(of )?(the )?(previous|prior|above|earlier|other|your) "
            r"(instructions?|rules?|prompts?|guidelines?|context)",
            rf"\b(approve|accept|merge|pass|sign off( on)?|lgtm) (this|the) {_MADE}\b",
            r"\b(do not|don'?t|no need to|never) "
            r"(flag|report|reject|review|question|inspect|penali[sz]e|look (at|into)) (this|the|these|it|any)\b",
            rf"\bthis {_MADE} (has been|was|is) ((already|fully|independently|previously|manually) )*{_APPROVED}",
            r"\bno ((further|additional|more) )?(review|inspection) (is |are )?(needed|required|necessary)\b",
            r"\b(rate|score|grade|mark|classify|label) (this|the|it) .{0,40}"
            r"\b(correct|passed|passing|safe|approved|complete|10/10|full marks|highest|accepted)\b",
            r"\b(verdict|decision)\s*[:=]\s*[\"']?(pass|accept|approve|correct)|<\|im_start\|>",
        )
    ),
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"\b(approve|accept|merge|ignore|disregard|skip|pass|do not|don'?t|must|should|treat|consider|mark|rate|score|"
    r"grade|verdict|reviewed|approved|verified|no ((further|additional|more) )?review|lgtm|sign off|assume|im_start)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"'`“‘«][^\"'`”’»]{0,400}$")
_PROSE = (".md", ".rst", ".txt", ".adoc", ".html")
_BYTES = 1 << 20

_BIDI = frozenset("\u202a\u202b\u202d\u202e\u2066\u2067\u2068")
_BIDI_ENDS = frozenset("\u202c\u2069")
_MARKS = frozenset("\u200e\u200f\u061c\u200c\u200d")
_INVISIBLE = frozenset("\u200b\u2060\u2061\u2062\u2063\u2064\u00ad\u180e\ufeff\u115f\u1160\u3164\uffa0")
_TAGS = range(0xE0000, 0xE0080)
_LONG, _GAP = 2000, re.compile(r"\S[ \t]{160,}\S")
_CODE = re.compile(
    r"\.(py|pyi|[cm]?[jt]sx?|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|sh|swift|scala|toml|ya?ml|mk)$|(^|/)Makefile$"
)
_WORD = re.compile(r"[^\W\d_]\w*")


def reviewer_text(scene: Scene) -> Iterator[Violation]:
    """Added text in comments, strings and prose that speaks to a reviewer. What it says is shown as data, no more."""
    product = scene.asked(r"\b(prompt|reviewer|review bot|judge|grader|llm|injection|agent|assistant)")
    for path in scene.changed:
        data = scene.after(path)
        if data is None or len(data) > _BYTES:
            continue
        found = list(_addressed(path, data, scene.before(path)))
        loud = [line for line, quoted in found if not quoted]
        if found:
            level: Level = "hold" if loud and not product else "note"
            yield violation("reviewer_text", path, level, lines=(line for line, _ in found))


def _addressed(path: str, data: bytes, before: bytes | None) -> Iterator[tuple[str, bool]]:
    old = set((before or b"").decode("utf-8", "replace").splitlines())
    prose = path.lower().endswith(_PROSE)
    fenced = False
    held = {line.strip() for line in old}
    window = ""
    for line in data.decode("utf-8", "replace").splitlines():
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if line.strip() in held or not line.strip() or len(line) > _LONG:
            window = ""
            continue
        joined = f"{window} {line.strip().lstrip('#/*- ')}"
        window = line.strip()
        match = _ADDRESSED.search(line) or _ADDRESSED.search(joined)
        if match and _IMPERATIVE.search(joined):
            shown = line.strip() if _ADDRESSED.search(line) else joined.strip()
            quoted = prose and (fenced or line.lstrip().startswith(">") or bool(_QUOTED.search(line[: _start(line)])))
            yield shown[:200], quoted


def _start(line: str) -> int:
    match = _ADDRESSED.search(line)
    return match.start() if match else 0


def hidden_text(scene: Scene) -> Iterator[Violation]:
    """Characters that hide or reorder what a reader sees, and lines that run out of sight."""
    for path in scene.changed:
        data = scene.after(path)
        if data is None or len(data) > _BYTES or b"\0" in data:
            continue
        text = data.decode("utf-8", "replace")
        if text.isascii() and not any(len(line) > 160 for line in text.splitlines()):
            continue
        old = Counter((scene.before(path) or b"").decode("utf-8", "replace").splitlines())
        seen = [(line, *found) for line in text.splitlines() if not old[line] and (found := _hidden(path, line))]
        if not seen:
            continue
        level: Level = next(lv for lv in ("reject", "hold", "note") if any(lv == s[1] for s in seen))
        what = ", ".join(dict.fromkeys(s[2] for s in seen if s[1] == level))
        yield violation("hidden_text", path, level, what, (_escaped(s[0]) for s in seen if s[1] == level))


def _hidden(path: str, line: str) -> tuple[Level, str] | None:
    code = bool(_CODE.search(path)) or posixpath.basename(path) in ("Dockerfile", "Justfile")
    if not line.isascii():
        found = _characters(line, code)
        if found is not None:
            return found
    if code and language_of(path) is not None and _GAP.search(line.rstrip()) and len(line) > 200:
        return "reject", "code behind a long gap"
    if code and language_of(path) is not None and len(line) > _LONG and not _is_data(line):
        return "hold", "a line of thousands of columns"
    return None


def _is_data(line: str) -> bool:
    """Whether a long line is one literal: data, not statements."""
    return bool(re.match(r"^\s*[\w.\s:=]*[\[({\"'`][^;]*$", line))


def _characters(line: str, code: bool) -> tuple[Level, str] | None:
    if any(ord(c) in _TAGS for c in line):
        return "reject", "invisible tag characters"
    if any(c in _BIDI or c in _BIDI_ENDS for c in line):
        if not code:
            return "note", "marks of direction"
        opened = sum(c in _BIDI for c in line) != sum(c in _BIDI_ENDS for c in line)
        forced = any(c in "\u202d\u202e" for c in line)
        letters = any(unicodedata.bidirectional(c) in ("R", "AL") for c in line)
        inside = _inside_strings(line, _BIDI | _BIDI_ENDS)
        if forced or opened or not inside or not letters:
            return "reject", "marks that turn the direction of the source"
        return "note", "marks of direction inside a string"
    if any(c in _INVISIBLE or c in _MARKS for c in line.lstrip("\ufeff")):
        inside = _inside_strings(line.lstrip("\ufeff"), _INVISIBLE | _MARKS)
        return (
            ("note", "invisible characters in text")
            if inside or not code
            else ("reject", "invisible characters in code")
        )
    if code:
        mixed = [w for w in _WORD.findall(_without_strings(line)) if _mixed(w)]
        if mixed:
            return "hold", f"a name of letters that look alike ({_escaped(mixed[0])})"
    return None


_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`")


def _without_strings(line: str) -> str:
    return re.sub(r"(#|//).*$", "", _STRING.sub('""', line))


def _inside_strings(line: str, characters: frozenset[str]) -> bool:
    return not any(c in characters for c in _STRING.sub("", line))


def _mixed(word: str) -> bool:
    scripts = {unicodedata.name(c, "?").split(" ")[0] for c in word if c.isalpha()}
    return "LATIN" in scripts and bool(scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "FULLWIDTH", "MATHEMATICAL"})


def _escaped(line: str) -> str:
    return line.strip()[:160].encode("ascii", "backslashreplace").decode()


__all__ = ["facts_of", "hidden_text", "reviewer_text"]
