"""Codex: OpenAI Responses, prompt on standard input, JSON lines out. Measured with 0.171.0."""

from __future__ import annotations

from typing import Literal

from inspan.harness.codex.reader import CodexReader
from inspan.harness.contract import Installed, Launch, LaunchRequest, Reader, Wire
from inspan.harness.packages import located

REQUEST_RETRIES = 1
STREAM_RETRIES = 2
STREAM_IDLE_MS = 1_800_000
"""As long as the runner lets a model request be in flight."""
KEY_VARIABLE = "INSPAN_API_KEY"
OFF = ("plugins", "apps", "remote_plugin")
"""Features that would ask the network for something at every start."""


class Codex:
    """OpenAI's ``codex``."""

    name = "codex"
    title = "Codex"
    wires: tuple[Wire, ...] = ("openai-responses",)
    liveness: Literal["events", "wire", "both"] = "both"
    counters: Literal["per_turn", "cumulative", "none"] = "cumulative"
    terminal = True
    prompt_by: Literal["stdin", "file", "argument"] = "stdin"
    own_login_only = False
    retries = f"at most {REQUEST_RETRIES} a request and {STREAM_RETRIES} a broken stream, a few seconds in all"
    deciders: tuple[str, ...] = ("**/.codex/**",)

    def locate(self, path: str, prefix: str) -> Installed | None:
        """Inspan's own prefix, then ``codex`` on ``path``."""
        return located(self.name, path, prefix)

    def launch(self, request: LaunchRequest) -> Launch:
        """The call. Codex's own sandbox is off, for ours holds it.

        The repository is not declared trusted, so its ``.codex`` settings, hooks and tool servers are not loaded; its
        AGENTS.md is. (Declared untrusted, it would lose AGENTS.md as well.)
        """
        argv = [
            *request.installed.argv,
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            "--ignore-rules",
            *(word for feature in OFF for word in ("--disable", feature)),
        ]
        if request.session:
            argv += ["resume", request.session]
        argv.append("-")
        files = {"config.toml": _config(request)}
        env = {"CODEX_HOME": request.files_inside, KEY_VARIABLE: request.token, "INSPAN_REPORT": request.report_inside}
        if request.files_inside.startswith("/tmp/"):  # Codex refuses helper links below the temporary directory
            env["TMPDIR"] = f"{request.files_inside}/tmp"
            files["tmp/.keep"] = b""
        return Launch(argv=tuple(argv), env=env, stdin=request.prompt.encode(), files=files)

    def reader(self) -> Reader:
        """Reads ``--json`` lines."""
        return CodexReader()


def _config(request: LaunchRequest) -> bytes:
    import tomlkit

    provider = {
        "name": "Inspan gateway",
        "base_url": f"{request.base_url}/v1",
        "env_key": KEY_VARIABLE,
        "wire_api": "responses",
        "request_max_retries": REQUEST_RETRIES,
        "stream_max_retries": STREAM_RETRIES,
        "stream_idle_timeout_ms": STREAM_IDLE_MS,
    }
    settings = {
        "model": request.model,
        "model_provider": "inspan",
        "check_for_update_on_startup": False,
        "web_search": "disabled",
        "analytics": {"enabled": False},
        "feedback": {"enabled": False},
        "model_providers": {"inspan": provider},
    }
    return tomlkit.dumps(settings).encode()
