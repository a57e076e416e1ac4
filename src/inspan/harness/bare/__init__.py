"""Inspan's own minimal harness: the control in comparisons. See ``agent.py``, the program itself."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

from inspan.harness.contract import Installed, Launch, LaunchRequest, Reader, Wire
from inspan.harness.locate import interpreter
from inspan.harness.vocabulary import VocabularyReader


class Bare:
    """A tool loop in one standard-library file, run by the Python that Inspan runs on."""

    name = "bare"
    title = "Inspan's bare harness"
    wires: tuple[Wire, ...] = ("openai-chat", "anthropic")
    liveness: Literal["events", "wire", "both"] = "both"
    counters: Literal["per_turn", "cumulative", "none"] = "per_turn"
    terminal = True
    prompt_by: Literal["stdin", "file", "argument"] = "file"
    own_login_only = False
    retries = "none: the first failed model request ends the run"
    deciders: tuple[str, ...] = ()

    def locate(self, path: str, prefix: str) -> Installed | None:
        """Always found: it ships with Inspan."""
        from inspan import __version__

        python = interpreter()
        return Installed(argv=python.argv, version=__version__, binds=python.binds, source="builtin")

    def launch(self, request: LaunchRequest) -> Launch:
        """The program and the prompt travel as files, so that nothing of Inspan's own tree has to be shown inside."""
        here = request.files_inside
        argv = [
            *request.installed.argv,
            "-I",
            f"{here}/agent.py",
            *("--prompt-file", f"{here}/prompt.txt"),
            *("--model", request.model),
            *("--wire", request.wire),
        ]
        if request.read_only:
            argv.append("--read-only")
        return Launch(
            argv=tuple(argv),
            env={
                "INSPAN_BASE_URL": request.base_url,
                "INSPAN_API_KEY": request.token,
                "INSPAN_REPORT": request.report_inside,
            },
            files={"agent.py": program(), "prompt.txt": request.prompt.encode()},
        )

    def reader(self) -> Reader:
        """Reads the event vocabulary."""
        return VocabularyReader(counters=self.counters)


@cache
def program() -> bytes:
    """The program's text."""
    return files(__package__).joinpath("agent.py").read_bytes()
