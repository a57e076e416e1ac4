"""Harnesses declared in the user's configuration: ``[harnesses.NAME]`` tables, decoded strictly.

Example::

    [harnesses.mine]
    argv = ["mine", "--task", "{prompt_file}", "--model", "{model}"]
    wire = "openai-chat"
    output = "jsonl"
    env = { OPENAI_BASE_URL = "{base_url}/v1", OPENAI_API_KEY = "{token}" }
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import msgspec

from inspan.errors import HarnessError, InvalidSpec
from inspan.harness.claude_code.reader import ClaudeReader
from inspan.harness.codex.reader import CodexReader
from inspan.harness.contract import Event, Installed, Launch, LaunchRequest, Reader, Wire
from inspan.harness.locate import environment_of, executable, on_path, shown
from inspan.harness.reading import MESSAGE_LIMIT, OutputReader, event
from inspan.harness.vocabulary import VocabularyReader
from inspan.spec.nearest import suggestion

Output = Literal["text", "jsonl", "claude-stream", "codex-jsonl"]
PromptBy = Literal["stdin", "file", "argument"]
NAME = re.compile(r"[a-z][a-z0-9-]*")
ARGUMENT_LIMIT = 100_000
"""Most bytes of a prompt handed over as an argument; the kernel takes 131,071 in one."""
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_IN_ARGV = ("prompt", "prompt_file", "model", "base_url", "workspace", "report", "home")
_IN_ENV = (*_IN_ARGV[1:], "token")


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One ``[harnesses.NAME]`` table.

    Attributes:
        argv: the program and its arguments; ``{prompt_file}``, ``{model}``, ``{base_url}``, ``{workspace}``,
            ``{report}`` and ``{home}`` are filled in, and ``{prompt}`` when ``prompt = "argument"`` (without it the
            prompt is the last argument).
        wire: the wire it speaks.
        prompt: how it gets the prompt; by file unless said otherwise.
        output: what it prints: ``jsonl`` is Inspan's event vocabulary.
        liveness: what shows that it is alive; ``both`` unless said otherwise.
        terminal: whether its output ends with a terminal record; false for ``text``, true for the other forms.
        counters: how ``usage`` records are to be added.
        env: environment; the same placeholders, and ``{token}``.
        show: further absolute paths it needs to see, read-only.
        title, version, retries, deciders, own_login_only: as in the adapter contract.
    """

    argv: tuple[str, ...]
    wire: Wire
    prompt: PromptBy = "file"
    output: Output = "text"
    liveness: Literal["events", "wire", "both"] = "both"
    terminal: bool | None = None
    counters: Literal["per_turn", "cumulative", "none"] = "per_turn"
    env: dict[str, str] = msgspec.field(default_factory=dict)
    show: tuple[str, ...] = ()
    title: str | None = None
    version: str | None = None
    retries: str = "unknown"
    deciders: tuple[str, ...] = ()
    own_login_only: bool = False


def decode_table(name: str, table: Mapping[str, Any]) -> Table:
    """A checked table.

    Raises:
        InvalidSpec: a bad name, an unknown key or placeholder, a missing or ill-typed value.
    """
    where = f"[harnesses.{name}]"
    if not NAME.fullmatch(name):
        raise InvalidSpec(f"{name!r} is not a harness name", where=where, do="use lower-case letters, digits and '-'")
    known = Table.__struct_fields__
    for key in table:
        if key not in known:
            raise InvalidSpec(f"unknown key {key!r}", where=where, do=suggestion(str(key), known))
    try:
        decoded = msgspec.convert(dict(table), Table)
    except msgspec.ValidationError as e:
        raise InvalidSpec(str(e), where=where, do=_hint(table)) from None
    _check(decoded, where)
    return decoded


def _hint(table: Mapping[str, Any]) -> str:
    choices: dict[str, Any] = {"wire": Wire, "output": Output, "prompt": PromptBy}
    for key, words in choices.items():
        given = table.get(key)
        if isinstance(given, str) and given not in get_args(words):
            return f"{key}: {suggestion(given, get_args(words))}"
    return "see docs/reference/harness.md"


def _check(table: Table, where: str) -> None:
    if not table.argv or not all(table.argv[:1]):
        raise InvalidSpec("argv is empty", where=where, do='write argv = ["program", "argument"]')
    if table.output == "text" and table.terminal:
        raise InvalidSpec("plain text has no terminal record", where=f"{where} terminal", do="leave terminal out")
    for value in table.argv:
        _check_placeholders(value, _IN_ARGV, f"{where} argv")
    for key, value in table.env.items():
        _check_placeholders(value, _IN_ENV, f"{where} env.{key}")
    uses = {name for value in (*table.argv, *table.env.values()) for name in _PLACEHOLDER.findall(value)}
    if table.prompt == "file" and "prompt_file" not in uses:
        raise InvalidSpec(
            "the prompt is handed over as a file that nothing names",
            where=f"{where} argv",
            do='add "{prompt_file}" to argv, or set prompt = "stdin" or "argument"',
        )
    if table.prompt != "argument" and "prompt" in uses:
        raise InvalidSpec('{prompt} needs prompt = "argument"', where=f"{where} argv", do='use "{prompt_file}"')
    for path in table.show:
        if not os.path.isabs(os.path.expanduser(path)):
            raise InvalidSpec(f"{path!r} is not an absolute path", where=f"{where} show", do="write it from / or ~/")


def _check_placeholders(value: str, known: tuple[str, ...], where: str) -> None:
    for name in _PLACEHOLDER.findall(value):
        if name not in known:
            do = "put it into env: a secret never stands in argv" if name == "token" else suggestion(name, known)
            raise InvalidSpec(f"unknown placeholder {{{name}}}", where=where, do=do)


class Configured:
    """A harness made from a table."""

    def __init__(self, name: str, table: Mapping[str, Any]) -> None:
        self.table = decode_table(name, table)
        self.name = name
        self.title = self.table.title or name
        self.wires: tuple[Wire, ...] = (self.table.wire,)
        self.liveness = self.table.liveness
        self.counters = self.table.counters
        self.terminal = self.table.output != "text" if self.table.terminal is None else self.table.terminal
        self.prompt_by = self.table.prompt
        self.own_login_only = self.table.own_login_only
        self.retries = self.table.retries
        self.deciders = self.table.deciders

    def locate(self, path: str, prefix: str) -> Installed | None:
        """The program by its absolute path, else in ``path``; files that argv names are shown inside as well."""
        program = os.path.expanduser(self.table.argv[0])
        found = program if os.path.isabs(program) else on_path(program, path)
        if found is None or not executable(found):
            return None
        needed = [*environment_of(found), *(os.path.expanduser(p) for p in self.table.show)]
        if os.path.isabs(program) and not environment_of(found):
            needed.append(found)
        needed += [p for p in map(os.path.expanduser, self.table.argv[1:]) if os.path.isabs(p) and os.path.isfile(p)]
        return Installed(argv=(found,), version=self.table.version, binds=shown(needed), source="configured")

    def launch(self, request: LaunchRequest) -> Launch:
        """The table with its placeholders filled in.

        Raises:
            HarnessError: (``spawn_failed``) a prompt too long to be an argument.
        """
        given = {
            "prompt": request.prompt,
            "prompt_file": f"{request.files_inside}/prompt.txt",
            "model": request.model,
            "base_url": request.base_url,
            "workspace": request.workspace_inside,
            "report": request.report_inside,
            "home": request.home_inside,
            "token": request.token,
        }
        argv = [*request.installed.argv, *(_filled(os.path.expanduser(a), given) for a in self.table.argv[1:])]
        by = self.table.prompt
        data = request.prompt.encode()
        if by == "argument":
            self._refuse_long(data)
            argv += [] if any("{prompt}" in a for a in self.table.argv) else [request.prompt]
        env = {"INSPAN_REPORT": request.report_inside, "INSPAN_BASE_URL": request.base_url}
        env |= {key: _filled(value, given) for key, value in self.table.env.items()}
        return Launch(
            argv=tuple(argv),
            env=env,
            stdin=data if by == "stdin" else None,
            files={"prompt.txt": data} if by == "file" else {},
        )

    def reader(self) -> Reader:
        """The reader of the declared output form."""
        return _READERS[self.table.output](self)

    def _refuse_long(self, prompt: bytes) -> None:
        if len(prompt) > ARGUMENT_LIMIT or b"\0" in prompt:
            raise HarnessError(
                f"a prompt of {len(prompt)} bytes cannot be an argument of {self.name!r}",
                where=f"[harnesses.{self.name}] prompt",
                do='set prompt = "file" or "stdin"',
                reason="spawn_failed",
            )


def _filled(value: str, given: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: given[found.group(1)], value)


class TextReader(OutputReader):
    """Plain text: all of it is the final message, and only the exit status says that the program ended by itself."""

    def __init__(self) -> None:
        super().__init__(terminal_record=False)

    def feed(self, line: bytes) -> list[Event]:
        """One line of standard output."""
        text = line.decode("utf-8", "replace").rstrip()
        self.message = f"{self.message}\n{text}"[-MESSAGE_LIMIT:] if self.message is not None else text
        if not text.strip():
            return []
        self.texts = 1
        return [event("text", text)]

    def read(self, record: dict[str, Any]) -> list[Event]:
        """Never called: text holds no records."""
        return []


_READERS: dict[str, Callable[[Configured], OutputReader]] = {
    "text": lambda _: TextReader(),
    "jsonl": lambda h: VocabularyReader(terminal_record=h.terminal, counters=h.counters),
    "claude-stream": lambda _: ClaudeReader(),
    "codex-jsonl": lambda _: CodexReader(),
}
