"""What a family of runners brings: how its calls are found, arranged and read, and how its output is digested.

The user's own command line is what runs. A family adds environment, a module the runner loads by itself, or a program
of the runner's name in front of PATH; what it adds never changes which tests run or what the command's status means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources

import msgspec

from inspan.gate.results import TestRun


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One family's share of a command.

    Attributes:
        family: its name, such as ``jest``.
        details: what it noted when it found its call; its own words.
    """

    family: str
    details: tuple[str, ...] = ()


class Runner(msgspec.Struct, frozen=True, kw_only=True):
    """The known runners one command calls, one part per family."""

    parts: tuple[Part, ...]

    @property
    def name(self) -> str:
        """The families' names, ``pytest+jest`` for two of them."""
        return "+".join(part.family for part in self.parts)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a family is told to arrange one run.

    Attributes:
        details: of its part.
        token: at least 32 hexadecimal digits, fresh for this run; names and the key come from it.
        shim_inside: directory inside that will hold the shim files, read-only.
        evidence_inside: directory inside that evidence is written to.
        root_inside: the workspace's root inside; test ids are relative to it.
        only: newline-separated items to restrict the run to; empty for all. A family that cannot runs all.
    """

    details: tuple[str, ...]
    token: str
    shim_inside: str
    evidence_inside: str
    root_inside: str
    only: str = ""

    @property
    def key(self) -> str:
        """What everything of this run's evidence carries; what lacks it was written by something else."""
        return self.token[12:]

    @property
    def results(self) -> str:
        """The file inside that keyed lines are appended to."""
        return f"{self.evidence_inside}/results"

    def source(self, name: str) -> bytes:
        """A shim file with this run's key and places filled in."""
        text = resources.files("inspan.gate.shim").joinpath(name).read_text("utf-8")
        for word, value in {
            "@key@": self.key,
            "@root@": self.root_inside,
            "@shim@": self.shim_inside,
            "@evidence@": self.evidence_inside,
        }.items():
            text = text.replace(word, value)
        return text.encode()

    def program(self, name: str) -> bytes:
        """A shell script of the shim that stands before a program of the same name on PATH."""
        head, _, rest = self.source(name).partition(b"@find@")
        return head + self.source("find.sh") + rest


class Arranged(msgspec.Struct, frozen=True, kw_only=True):
    """A command arranged to leave evidence.

    Attributes:
        command: what ``sh -c`` gets.
        env: its environment.
        files: shim files to place, by name; those whose name has no suffix are programs.
        key: this run's key.
    """

    command: str
    env: Mapping[str, str]
    files: Mapping[str, bytes] = msgspec.field(default_factory=dict)
    key: str = ""

    def ahead(self, request: Request) -> Mapping[str, str]:
        """The environment with the shim directory first on PATH."""
        path = self.env.get("PATH", "")
        if path.split(":", 1)[0] == request.shim_inside:
            return self.env
        return {**self.env, "PATH": f"{request.shim_inside}:{path}"}


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """What one run left, all of it untrusted.

    Attributes:
        files: the evidence directory's regular files by name.
        output: of the command.
        key: of the run.
        root: the workspace's root inside.
    """

    files: Mapping[str, bytes]
    output: bytes
    key: str
    root: str


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One simple command of a check, its own or one behind a package script, a makefile or a shell.

    Attributes:
        words: without leading assignments and wrappers.
        line: the whole command line it stands in.
        place: the directory of the tree it runs in, ``""`` for the root.
    """

    words: Sequence[str]
    line: str
    place: str = ""


Find = Callable[[Call], tuple[str, ...] | None]
"""Details when this call is one of the runner's, else None."""


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """One family of runners.

    Attributes:
        name: a word.
        find: finds its calls.
        arrange: takes a command, environment and files already arranged and adds this family's.
        read: reads what the run left.
        digest: lines of output that explain a failure, errors first; empty for output that is not its own.
        foiled: text of package scripts or makefiles that its calls are not followed through: what it adds would be
            taken away there, and not be missing but break the run.
        settings: files of the tree, each with the text in it that what the family adds would override; its calls then
            count by their exit status.
    """

    name: str
    find: Find
    arrange: Callable[[Request, Arranged], Arranged]
    read: Callable[[Left], TestRun]
    digest: Callable[[list[str]], Iterator[str]]
    foiled: str = r"(?!)"
    settings: tuple[tuple[str, str], ...] = ()
