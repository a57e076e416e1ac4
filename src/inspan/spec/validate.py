"""A job as asked becomes a job that can be run, or is refused with what is wrong, where, and what to do."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from inspan.errors import InvalidSpec, UnknownName
from inspan.spec.checkparse import NAME
from inspan.spec.decode import convert, parse_json
from inspan.spec.egress import destinations
from inspan.spec.globs import Globs
from inspan.spec.job import LEVELS, Check, Job
from inspan.spec.nearest import suggestion

_LONGEST = 30 * 24 * 3600.0
"""No limit of time may exceed thirty days: beyond it a figure is a mistake of units."""


def decode_job(data: bytes | Mapping[str, Any]) -> Job:
    """A job from a JSON document or a mapping, strictly: an unknown key names the nearest known one.

    Raises:
        InvalidSpec: for anything that is not a well-formed job.
        UnknownName: for an unknown sandbox level.
    """
    document = parse_json(data, "job") if isinstance(data, bytes) else data
    return validated(convert(document, Job, "job"))


def validated(job: Job) -> Job:
    """The job, normalised: absolute ``repo``, no duplicate globs, ``deliver`` none for a read-only job.

    Raises:
        InvalidSpec: for a field that is empty, malformed, out of range or contradicts another.
        UnknownName: for an unknown sandbox level.
    """
    job = convert(msgspec.to_builtins(job), Job, "job")  # a Struct does not check its types when it is built
    if not job.prompt.strip():
        raise InvalidSpec("the prompt is empty", where="prompt", do="say what is to be done")
    _plain_text(job)
    if not job.repo:
        raise InvalidSpec("the repository's path is empty", where="repo", do="name a directory of a git repository")
    if job.base is not None and (not job.base.strip() or job.base.startswith("-")):
        raise InvalidSpec(f"bad base {job.base!r}", where="base", do="name a commit, branch or tag")
    if job.base is not None and job.dirty:
        raise InvalidSpec("base and dirty contradict each other", where="base", do="leave one of them out")
    known_level(job.sandbox, "sandbox", ("auto", *LEVELS))
    for field in ("timeout", "stall"):
        seconds(field, getattr(job, field))
    _read_only(job)
    _checks(job)
    if job.backend is not None:
        backend_text(job.backend)
    return msgspec.structs.replace(
        job,
        repo=os.path.abspath(os.path.expanduser(job.repo)),
        scope=_globs("scope", job.scope),
        may_change=_globs("may_change", job.may_change),
        setup=_commands("setup", job.setup),
        share=tuple(dict.fromkeys(share_path(s) for s in job.share)),
        egress=destinations(job.egress, "egress"),
        writable=directories(job.writable, "writable"),
        deliver="none" if job.read_only else job.deliver,
    )


def share_path(text: str, where: str = "share") -> str:
    """A shared directory, normalised: relative to the checkout's root, without ``.``, ``..`` or ``.git``.

    Raises:
        InvalidSpec: otherwise.
    """
    parts = text.split("/")
    clean = [p for p in parts if p not in ("", ".")]
    if (
        not clean
        or text.startswith(("/", "~"))
        or ".." in parts
        or "\0" in text
        or ".git" in (p.lower() for p in clean)
    ):
        raise InvalidSpec(
            f"bad shared directory {text!r}",
            where=where,
            do="name a git-ignored directory of the checkout by its path from the root, like node_modules",
        )
    return "/".join(clean)


def directories(paths: Iterable[str], where: str) -> tuple[str, ...]:
    """Directories of the host in one form: absolute, ``~`` expanded, each once. Whether they are fit is asked later.

    Raises:
        InvalidSpec: for a path that is empty, relative or goes up.
    """
    made = []
    for path in paths:
        whole = os.path.expanduser(path)
        if not os.path.isabs(whole) or ".." in whole.split("/") or "\0" in whole:
            raise InvalidSpec(f"bad directory {path!r}", where=where, do="give an absolute path, or one below ~")
        made.append("/" + os.path.normpath(whole).lstrip("/"))
    return tuple(dict.fromkeys(made))


def known_level(name: str, where: str, names: tuple[str, ...] = LEVELS) -> None:
    """Refuse a name that is no level.

    Raises:
        UnknownName: names the nearest one.
    """
    if name not in names:
        raise UnknownName(f"no sandbox level is called {name!r}", where=where, do=suggestion(name, names))


def seconds(field: str, value: float) -> None:
    """Refuse a span of time that is not above zero and at most thirty days.

    Raises:
        InvalidSpec: naming ``field``.
    """
    if not math.isfinite(value) or not 0 < value <= _LONGEST:
        raise InvalidSpec(
            f"{field} is {value:g} seconds", where=field, do=f"give seconds above 0 and at most {_LONGEST:.0f}"
        )


def _read_only(job: Job) -> None:
    if not job.read_only:
        return
    for field, given in (
        ("scope", bool(job.scope)),
        ("may_change", bool(job.may_change)),
        ("deliver", job.deliver == "patch"),
        ("unchecked", job.unchecked),
        ("writable", bool(job.writable)),
    ):
        if given:
            raise InvalidSpec(
                f"a read-only job changes nothing, so {field} has no meaning", where=field, do=f"leave {field} out"
            )


def _checks(job: Job) -> None:
    if job.unchecked and job.checks:
        raise InvalidSpec("unchecked and checks contradict each other", where="unchecked", do="leave one of them out")
    seen: set[str] = set()
    for check in job.checks:
        check_defect(check, f"check {check.name!r}")
        if check.name in seen:
            raise InvalidSpec(f"two checks are called {check.name!r}", where="checks", do="give each its own name")
        seen.add(check.name)


_INSIDE = re.compile(r"(?!/)(?!(.*/)?\.\.(/|$))[^\0\n]+")


def check_defect(check: Check, where: str) -> None:
    """Refuse a check with a bad name, an empty command or a limit out of range.

    Raises:
        InvalidSpec: naming ``where``.
    """
    if not re.fullmatch(NAME, check.name):
        raise InvalidSpec(
            f"bad check name {check.name!r}",
            where=where,
            do="use a lower-case letter, then up to 30 of a-z, 0-9, '_' and '-'",
        )
    if not check.command.strip():
        raise InvalidSpec("the command is empty", where=where, do="give a shell command")
    seconds(f"{where} timeout", check.timeout)
    if check.junit is not None and not _INSIDE.fullmatch(check.junit):
        raise InvalidSpec(
            f"{check.junit!r} is no path inside of the repository",
            where=f"{where} junit",
            do="give the JUnit XML file's path relative to the repository's root, without '..'",
        )


def _commands(field: str, commands: tuple[str, ...]) -> tuple[str, ...]:
    for command in commands:
        if not command.strip():
            raise InvalidSpec("a command is empty", where=field, do="give a shell command")
    return commands


def _globs(field: str, patterns: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(Globs(patterns).patterns))
    except InvalidSpec as error:
        raise InvalidSpec(error.what, where=field, do=error.do) from None


def backend_text(text: str, where: str = "backend") -> None:
    """Refuse what cannot be a backend.

    Raises:
        InvalidSpec: naming ``where``.
    """
    # The full syntax belongs to routing, a higher layer; here only what makes the field a backend at all.
    harness, at, rest = text.partition("@")
    provider, slash, model = rest.partition("/")
    if not (harness and at and provider and slash and model.strip()):
        raise InvalidSpec(
            f"bad backend {text!r}",
            where=where,
            do="write harness@provider/model, like claude-code@anthropic/MODEL",
        )


def _plain_text(job: Job) -> None:
    """Refuse a NUL, and bytes that are not UTF-8 (which arrive as surrogates): neither can be stored or passed on."""
    for field in msgspec.structs.fields(Job):
        value = getattr(job, field.name)
        for text in _texts(value):
            if "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
                raise InvalidSpec("it holds a NUL or is not UTF-8", where=field.name, do="write it as UTF-8 text")


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Check):
        return [value.name, value.command]
    return [text for inner in value for text in _texts(inner)] if isinstance(value, tuple) else []
