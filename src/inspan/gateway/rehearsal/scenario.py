"""Scenarios: what the scripted model does. Parsing and validation; imports nothing heavy until a file is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from inspan.errors import InvalidSpec, UnknownName
from inspan.files import read_regular
from inspan.spec.nearest import suggestion

SCHEMA: Final = "inspan.rehearsal/1"
ENDS: Final = ("error-401", "error-429", "error-429-quota", "error-400-context", "error-500", "hang", "drop", "loop")
"""What may come instead of a final message once the steps are done."""

_LARGEST: Final = 1 << 20


class Write(msgspec.Struct, frozen=True):
    """Create or overwrite a file. A relative path is meant from the workspace; nothing keeps the path inside it."""

    path: str
    content: str


class Bash(msgspec.Struct, frozen=True):
    """Run a shell command."""

    command: str


class Say(msgspec.Struct, frozen=True):
    """Say something: together with the next action, or as the final message after the last one."""

    text: str


Step = Write | Bash | Say


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Usage every request reports, in normal form."""

    input: int = 100
    cache_read: int = 0
    cache_write: int = 0
    output: int = 10
    reasoning: int = 0


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """One script.

    Attributes:
        name: for people.
        steps: in order; each action waits for the result of the one before.
        then: one of ``ENDS`` instead of a final message; None for a final message.
        usage: what each request reports.
        prefill: seconds of silence before an answer begins. pace: seconds between its pieces.
    """

    name: str
    steps: tuple[Step, ...] = ()
    then: str | None = None
    usage: Tokens = Tokens()
    prefill: float = 0.0
    pace: float = 0.0

    @property
    def actions(self) -> tuple[Write | Bash, ...]:
        """The steps that are actions."""
        return tuple(s for s in self.steps if not isinstance(s, Say))

    def said(self, action: int) -> str | None:
        """What is said with an action (by its index); with the index after the last one, the final message."""
        texts, at = [], 0
        for step in self.steps:
            if not isinstance(step, Say):
                at += 1
            elif at == action:
                texts.append(step.text)
        return "\n\n".join(texts) or None


_LONG = " ".join(["I am reading the files of this repository one after the other and thinking about each."] * 2)
_HELLO = Write("hello.txt", "hello\n")

SCENARIOS: Final[dict[str, Scenario]] = {
    s.name: s
    for s in (
        Scenario(name="write-file", steps=(_HELLO, Say("I created hello.txt."))),
        Scenario(name="text-only", steps=(Say("There is nothing I would change."),)),
        Scenario(
            name="slow-stream", steps=(Say(_LONG), _HELLO, Say(f"{_LONG} I created hello.txt.")), prefill=2.0, pace=0.1
        ),
        Scenario(name="loop", steps=(Bash("echo the same again"),), then="loop", prefill=0.2),
        *(Scenario(name=end, then=end) for end in ENDS if end != "loop"),
    )
}
"""The built-in scenarios by name."""


def load_scenario(source: str) -> Scenario:
    """A scenario by built-in name, by path of a scenario file, or from the text of one.

    Raises:
        UnknownName: for a word that is neither a built-in name nor a file.
        InvalidSpec: for a document that is not a scenario; names the nearest known key.
    """
    if source in SCENARIOS:
        return SCENARIOS[source]
    if "\n" not in source and os.path.isfile(source):
        return _read(source)
    if "\n" in source or ":" in source or source.lstrip().startswith("{"):
        return _parse(source, "scenario")
    if "/" in source or source.endswith((".yaml", ".yml", ".json")):
        raise InvalidSpec(f"no such scenario file: {source}", where=source, do="give the path of a scenario file")
    raise UnknownName(f"unknown scenario {source!r}", where="rehearsal", do=suggestion(source, SCENARIOS))


def _read(path: str) -> Scenario:
    try:
        text = read_regular(path, _LARGEST, follow=True).decode()
    except (OSError, UnicodeDecodeError) as unreadable:
        raise InvalidSpec(
            f"cannot read the scenario file: {unreadable}", where=path, do="make it readable and small"
        ) from None
    return _parse(text, path, name=os.path.splitext(os.path.basename(path))[0])


def _parse(text: str, where: str, name: str = "scenario") -> Scenario:
    import yaml

    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as bad:
        raise InvalidSpec(f"not YAML: {bad}", where=where, do="correct the syntax") from None
    top = _table(document, where, ("schema", "name", "steps", "then", "usage", "prefill", "pace"))
    if top.get("schema") != SCHEMA:
        raise InvalidSpec(f"schema is {top.get('schema')!r}", where=where, do=f"write `schema: {SCHEMA}`")
    if not isinstance(top.get("steps", []), list):
        raise InvalidSpec("steps must be a list", where=f"{where}: steps", do="write one `- ` item a step")
    steps = tuple(_step(s, f"{where}: steps[{n}]") for n, s in enumerate(top.get("steps", [])))
    then = top.get("then")
    if then is not None and then not in ENDS:
        raise InvalidSpec(f"unknown end {then!r}", where=f"{where}: then", do=suggestion(str(then), ENDS))
    if then is not None and steps and isinstance(steps[-1], Say):
        raise InvalidSpec(
            f"the last `say` would never be said, because the script ends in `then: {then}`",
            where=f"{where}: steps[{len(steps) - 1}]",
            do="put it before an action or leave it out",
        )
    if then == "loop" and not any(not isinstance(s, Say) for s in steps):
        raise InvalidSpec("there is no action to repeat", where=f"{where}: then", do="add a `bash` or `write` step")
    return Scenario(
        name=_text(top.get("name", name), f"{where}: name"),
        steps=steps,
        then=then,
        usage=_tokens(top.get("usage", {}), f"{where}: usage"),
        prefill=_seconds(top.get("prefill", 0), f"{where}: prefill"),
        pace=_seconds(top.get("pace", 0), f"{where}: pace"),
    )


def _table(value: object, where: str, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidSpec("a table was expected", where=where, do=f"use the keys {', '.join(known)}")
    for key in value:
        if key not in known:
            raise InvalidSpec(f"unknown key {key!r}", where=where, do=suggestion(str(key), known))
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise InvalidSpec(f"text was expected, not {type(value).__name__}", where=where, do="put it in quotes")
    return value


def _seconds(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 3600:
        raise InvalidSpec(f"{value!r} is no number of seconds", where=where, do="write a number from 0 to 3600")
    return float(value)


def _tokens(value: object, where: str) -> Tokens:
    table = _table(value, where, Tokens.__struct_fields__)
    for key, number in table.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise InvalidSpec(f"{number!r} is no token count", where=f"{where}.{key}", do="write a natural number")
    tokens = Tokens(**table)
    if tokens.reasoning > tokens.output:
        raise InvalidSpec("reasoning is a part of output and cannot exceed it", where=where, do="raise `output`")
    return tokens


def _step(value: object, where: str) -> Step:
    kinds = ("write", "bash", "say")
    table = _table(value, where, kinds)
    if len(table) != 1:
        raise InvalidSpec(f"one of {', '.join(kinds)} was expected", where=where, do="write one action an item")
    kind, content = next(iter(table.items()))
    if kind == "say":
        return Say(_text(content, f"{where}.say"))
    if kind == "bash":
        return Bash(_text(content, f"{where}.bash"))
    fields = _table(content, f"{where}.write", ("path", "content"))
    for name in ("path", "content"):
        if name not in fields:
            raise InvalidSpec(f"{name} is missing", where=f"{where}.write", do="give both path and content")
    path = _text(fields["path"], f"{where}.write.path")
    if not path or "\0" in path:
        raise InvalidSpec("the path is empty or holds a NUL", where=f"{where}.write.path", do="give a file's path")
    return Write(path, _text(fields["content"], f"{where}.write.content"))
