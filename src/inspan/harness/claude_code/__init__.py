"""Claude Code: Anthropic Messages, prompt on standard input, ``stream-json`` out. Measured with 2.1.332."""

from __future__ import annotations

from typing import Literal

from inspan.harness.claude_code.reader import ASKING_TOOLS, ClaudeReader
from inspan.harness.contract import Installed, Launch, LaunchRequest, Reader, Wire
from inspan.harness.packages import located

OFF_SWITCHES = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "DISABLE_BUG_COMMAND",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
)
MAX_RETRIES = 2
REQUEST_TIMEOUT_MS = 1_800_000
"""As long as the runner lets a model request be in flight; the program's own limit of six minutes is too short for a
slow endpoint's prefill."""
OUTLIVING_TOOLS = ("CronCreate", "EnterWorktree", "ScheduleWakeup")
"""Tools that would move the work elsewhere or beyond the end of the run."""
WRITING_TOOLS = ("Edit", "MultiEdit", "NotebookEdit", "Write")


class ClaudeCode:
    """Anthropic's ``claude``."""

    name = "claude-code"
    title = "Claude Code"
    wires: tuple[Wire, ...] = ("anthropic",)
    liveness: Literal["events", "wire", "both"] = "both"
    counters: Literal["per_turn", "cumulative", "none"] = "cumulative"
    terminal = True
    prompt_by: Literal["stdin", "file", "argument"] = "stdin"
    own_login_only = False
    retries = f"at most {MAX_RETRIES} a request (CLAUDE_CODE_MAX_RETRIES), a second or two apart"
    deciders: tuple[str, ...] = ("**/.claude/**", "**/.mcp.json")

    def locate(self, path: str, prefix: str) -> Installed | None:
        """Inspan's own prefix, then ``claude`` on ``path``."""
        return located(self.name, path, prefix)

    def launch(self, request: LaunchRequest) -> Launch:
        """The call. The repository's own settings, hooks and tool servers are not loaded; its instructions are.

        Leaving out the project's settings leaves out CLAUDE.md as well, so the user's CLAUDE.md imports it from there.
        """
        refused = (*ASKING_TOOLS, *OUTLIVING_TOOLS, *(WRITING_TOOLS if request.read_only else ()))
        argv = [
            *request.installed.argv,
            "-p",
            *("--output-format", "stream-json", "--verbose"),
            *("--model", request.model),
            "--dangerously-skip-permissions",
            *("--setting-sources", "user"),
            "--strict-mcp-config",
            *("--disallowedTools", ",".join(refused)),
        ]
        if request.session:
            argv += ["--resume", request.session]
        files = {"CLAUDE.md": _instructions(request)}
        return Launch(argv=tuple(argv), env=_environment(request), stdin=request.prompt.encode(), files=files)

    def reader(self) -> Reader:
        """Reads ``stream-json`` and the single document of ``json``."""
        return ClaudeReader()


def _instructions(request: LaunchRequest) -> bytes:
    workspace = request.workspace_inside.replace(" ", "\\ ")
    return f"@{workspace}/CLAUDE.md\n@{workspace}/AGENTS.md\n".encode()


def _environment(request: LaunchRequest) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": request.base_url,
        "ANTHROPIC_API_KEY": request.token,
        "API_TIMEOUT_MS": str(REQUEST_TIMEOUT_MS),
        "CLAUDE_CODE_MAX_RETRIES": str(MAX_RETRIES),
        "CLAUDE_CONFIG_DIR": request.files_inside,
        "INSPAN_REPORT": request.report_inside,
        "IS_SANDBOX": "1",  # without it the program refuses to skip permissions as root
        **dict.fromkeys(OFF_SWITCHES, "1"),
    }
