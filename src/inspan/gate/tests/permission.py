"""What the job's text allows to be done to tests. Pure.

Permission lowers a level by one step, and only for what the text names; words alone never raise one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from inspan.gate.tests.table import Level, Reading

_TEST = r"(?:tests?|specs?|assertions?|expectations?|expected (?:values?|results?|outputs?)|test cases?)"
_BAD = (
    r"(?:wrong|incorrect|outdated|out of date|obsolete|mistaken|stale|bogus|bad|broken|flawed|brittle|over-?specified|"
    r"(?:too|overly) (?:strict|tight|specific|exact)|swapped|a typo|a mistake|an error)"
)
_CHANGE = r"(?:correct|fix|update|adjust|change|amend|repair|loosen|relax)"
_WRONG = re.compile(
    rf"\b{_BAD}\b (?:\w+ ){{0,2}}{_TEST}\b|"
    rf"\b{_TEST}\b(?:[^.;]{{0,40}}?) (?:itself )?(?:is|are|was|were|has|have|contains?|holds?) (?:\w+ ){{0,3}}{_BAD}\b|"
    rf"\b{_CHANGE} (?:only )?(?:the |that |this |its |one )?(?:\w+ ){{0,2}}{_TEST}\b|"
    rf"\b{_TEST}\b[^.;]{{0,60}}\bshould (?:expect|say|be (?:updated|changed|corrected|relaxed|loosened|adjusted))\b|"
    rf"\b(?:bug|mistake|error|typo|fault|flaw)s? (?:is |lies )?(?:in|of|with) (?:the |that |this |its )?"
    rf"(?:\w+ ){{0,2}}{_TEST}\b|"
    r"\bnot the (?:code|product|implementation|function)\b|"
    r"\b(?:the )?(?:code|function|implementation|behaviou?r) is (?:right|correct|fine)\b",
    re.IGNORECASE,
)
_FLAKY = re.compile(r"\b(?:flak\w+|intermittent\w*|non-?deterministic\w*|unstable|sometimes fails?)\b", re.IGNORECASE)
_REMOVAL = re.compile(
    r"\b(remov\w*|delet\w*|drop\w*|prun\w*|retir\w*|deprecat\w*|strip\w* out|get rid|clean(?:ing)? ?up|dead code|"
    r"merg\w*|consolidat\w*|unused|unreferenced|replac\w*|no longer|migrat\w*|switch\w*|simplif\w*|inlin\w*)\b",
    re.IGNORECASE,
)
_SNAPSHOTS = re.compile(
    r"\b(updat\w*|accept\w*|regenerat\w*|refresh\w*|renew\w*|rewrit\w*)\b[^.;]{0,60}"
    r"\b(snapshots?|goldens?|golden files?|baselines?)\b|"
    r"\b(snapshots?|goldens?|golden files?)\b[^.;]{0,60}\b(updat\w*|follow\w*|regenerat\w*|accept\w*|chang\w*)",
    re.IGNORECASE,
)
_PRECISION = re.compile(
    r"\b(precision|toleran\w+|float32|single[- ]precision|half[- ]precision|approximat\w*|numerical noise|epsilon)\b",
    re.IGNORECASE,
)
_DISABLING = re.compile(
    r"\b(skip\w*|disabl\w*|quarantin\w*|ignor\w*|xfail|expected failure|todo|feature|tag|gat\w*)\b", re.IGNORECASE
)
_RETRYING = re.compile(r"\b(retr(?:y|ies|ied)|reruns?|re-?run)\b", re.IGNORECASE)
_FORMAT = re.compile(r"\b(re-?format\w*|prettier|formatter|gofmt|rustfmt|indent\w*|whitespace)\b", re.IGNORECASE)
_FIX = re.compile(
    r"\b(fix\w*|bug\w*|broken|regression|repair\w*|defect|crash\w*|fails?|failing|wrong|incorrect\w*|"
    r"should (?:return|be|give|not))\b",
    re.IGNORECASE,
)
_REPAIR = re.compile(r"\b(fix|repair|resolve|correct)\b", re.IGNORECASE)
_FOR_TESTS = re.compile(
    rf"\b(add|write|extend|improve|increase|more|missing|cover\w*)\b[^.;]{{0,60}}\b{_TEST}\b|"
    rf"\b{_TEST} (?:for|of)\b|\bcoverage\b",
    re.IGNORECASE,
)
_LOWER: dict[Level, Level] = {"reject": "hold", "hold": "note", "note": "note"}
_COMMON = frozenset(
    ("test", "tests", "should", "returns", "return", "when", "with", "for", "the", "and", "not", "does", "from",
     "works", "src", "lib", "spec", "get", "set", "new", "value", "values", "one", "two", "is", "of", "in", "to", "mod")
)  # fmt: skip


def words(name: str) -> list[str]:
    """The words of an identifier or a title, in lower case, common ones left out."""
    parts = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return [w for w in re.split(r"[^a-z0-9]+", parts.lower()) if len(w) > 1 and w not in _COMMON]


def named(name: str, prompt: str) -> bool:
    """Whether the text names this test: by its identifier or title, or by all the words of it close together."""
    if re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", prompt, re.IGNORECASE):
        return True
    parts = words(name)
    if len(parts) == 1:
        word = re.escape(parts[0])
        form = rf"\b{word} {_TEST}\b|\b{_TEST} (?:for|of|on) (?:the )?{word}\b"
        return bool(re.search(form, prompt, re.IGNORECASE))
    sentences = [set(re.split(r"[^a-z0-9]+", s.lower())) for s in _sentences(prompt)]
    return len(parts) >= 2 and any(set(parts) <= s for s in sentences)


def _sentences(prompt: str) -> Iterator[str]:
    yield from (s for s in re.split(r"(?<=[.!?;])\s+|\n+", prompt) if s.strip())


def removal(prompt: str) -> bool:
    """Whether the text asks to remove something."""
    return bool(_REMOVAL.search(prompt))


def removal_of(name: str, prompt: str) -> bool:
    """Whether the text asks to remove something that the test's name speaks of, or tests as such."""
    parts = set(words(name))
    for sentence in _sentences(prompt):
        if _REMOVAL.search(sentence):
            said = set(re.split(r"[^a-z0-9]+", sentence.lower()))
            if parts & said or re.search(rf"\b{_TEST}\b", sentence, re.IGNORECASE):
                return True
    return False


def fixing(prompt: str) -> bool:
    """Whether the job is to repair something; one that asks for tests has to say so in as many words."""
    return bool(_REPAIR.search(prompt) or (_FIX.search(prompt) and not _FOR_TESTS.search(prompt)))


def flaky(name: str, prompt: str) -> bool:
    """Whether the text says of this test that it fails now and then."""
    return any(named(name, s) and _FLAKY.search(s) for s in _sentences(prompt))


def formatting(prompt: str) -> bool:
    """Whether the job is about the form of the source and nothing else."""
    return bool(_FORMAT.search(prompt)) and not fixing(prompt)


def retrying(prompt: str) -> bool:
    """Whether the text speaks of retries."""
    return bool(_RETRYING.search(prompt))


def wrong(name: str, prompt: str) -> bool:
    """Whether the text names this very test as wrong, in one sentence or in two that follow each other."""
    said = list(_sentences(prompt))
    return any(named(name, near) and _WRONG.search(near) for near in (*said, *(f"{a} {b}" for a, b in pairwise(said))))


def lowered(reading: Reading, name: str, prompt: str, *, mild: bool) -> Reading:
    """The reading after asking the job's text.

    Args:
        name: the test's name or title.
        mild: the edit did not make the test demand less, or by one step at most: a test that the job names as wrong
            was then corrected and not given up.
    """
    level = reading.level
    if level == "note":
        return reading
    if reading.rule == "test_removed":
        level = _LOWER[level] if removal_of(name, prompt) else level
        why = "the job asks for a removal"
    elif reading.rule == "test_disabled":
        level = _LOWER[level] if named(name, prompt) and _DISABLING.search(prompt) else level
        why = "the job speaks of it"
    elif reading.rule == "snapshot_rewritten":
        level = "note" if _SNAPSHOTS.search(prompt) else level
        why = "the job asks for it"
    elif wrong(name, prompt):
        level = "note" if mild else _LOWER[level]
        why = "the job names it as wrong"
    elif mild and flaky(name, prompt):
        level, why = _LOWER[level], "the job names it as unstable"
    elif reading.rule == "tolerance_loosened" and level == "hold" and _PRECISION.search(prompt):
        level, why = "note", "the job speaks of precision"
    if level == reading.level:
        return reading
    return Reading(rule=reading.rule, level=level, text=f"{reading.text}; {why}", honest=reading.honest)
