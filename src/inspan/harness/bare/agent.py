"""A coding agent in one file: a model, three tools, a loop. Standard library only.

It is the control in comparisons, so it does as little as possible: no retries, no planning, no memory. It prints one
JSON object a line (start, text, tool, tool_result, usage, error, end) and ends with ``end``; its exit status is 0
whenever that record was printed.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

SYSTEM = (
    "You are a coding agent. Working directory: {cwd} (a git repository). Use the tools to look at the code and to do"
    " what the user asks. There is nobody to ask: decide and go on. When you are finished, answer with a short summary"
    " and no tool call."
)
OUTPUT_LIMIT = 30_000
COMMAND_SECONDS = 600

Json = dict[str, Any]
Call = tuple[str, str, Any]  # id, name, arguments
Result = tuple[str, bool, str]  # id of the call, ok, text
Offered = dict[str, tuple[Callable[..., str], tuple[str, ...]]]


def failure(message: str, status: int | None = None) -> RuntimeError:
    """What ends a run: a model request without an answer, or no end in sight."""
    return RuntimeError(message, status)


def emit(type_: str, **facts: Any) -> None:
    """Print one record."""
    sys.stdout.write(json.dumps({"type": type_, **facts}) + "\n")
    sys.stdout.flush()


# ---- tools -----------------------------------------------------------------------------------------------------------


def write_file(path: str, content: str) -> str:
    """Create or overwrite a file."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(content)
    return f"wrote {path} ({len(content)} characters)"


def read_file(path: str) -> str:
    """Read a text file."""
    with open(path, encoding="utf-8", errors="replace", newline="") as f:
        text = f.read(OUTPUT_LIMIT)
        return text + "\n[cut]" if f.read(1) else text


def bash(command: str) -> str:
    """Run a shell command in the working directory and return its output and exit status."""
    shell = shutil.which("bash") or "sh"
    with tempfile.TemporaryFile() as output:  # not a pipe: a program left in the background would hold it open
        done = subprocess.run(
            [shell, "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=COMMAND_SECONDS,
        )
        output.seek(0)
        text = output.read(4 * OUTPUT_LIMIT).decode("utf-8", "replace")
    cut = text if len(text) <= OUTPUT_LIMIT else text[:OUTPUT_LIMIT] + "\n[cut]"
    return f"{cut}\n[exit status {done.returncode}]"


TOOLS: Offered = {
    "write_file": (write_file, ("path", "content")),
    "read_file": (read_file, ("path",)),
    "bash": (bash, ("command",)),
}


def schema(parameters: tuple[str, ...]) -> Json:
    """The JSON schema of a tool whose parameters are all required strings."""
    properties = {name: {"type": "string"} for name in parameters}
    return {"type": "object", "properties": properties, "required": list(parameters), "additionalProperties": False}


def call(name: str, arguments: Any, offered: Offered) -> tuple[bool, str]:
    """Run one tool call; the pair (ok, text for the model)."""
    if name not in offered:
        return False, "unknown tool {!r}; use one of {}".format(name, ", ".join(offered))
    function, parameters = TOOLS[name]
    if not isinstance(arguments, dict) or any(not isinstance(arguments.get(p), str) for p in parameters):
        return False, "arguments must be an object with the strings {}".format(", ".join(parameters))
    try:
        text = function(*(arguments[p] for p in parameters))
    except subprocess.TimeoutExpired:
        return False, f"the command took longer than {COMMAND_SECONDS} s and was ended"
    except (OSError, ValueError) as e:
        return False, f"{type(e).__name__}: {e}"
    return True, text


# ---- the model over two wires ----------------------------------------------------------------------------------------


def post(url: str, headers: dict[str, str], body: Json) -> Iterator[Json]:
    """Send one request; yields the JSON payload of each server-sent event, or the one document of a plain answer."""
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json", **headers})  # noqa: S310
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request) as answer:
            if "event-stream" not in (answer.headers.get("content-type") or ""):
                yield json.loads(answer.read())
                return
            for line in answer:
                if line.startswith(b"data:") and line[5:].strip() not in (b"", b"[DONE]"):
                    yield json.loads(line[5:])
    except urllib.error.HTTPError as e:
        raise failure(error_text(e.read(100_000)) or str(e), e.code) from None
    except (OSError, ValueError, http.client.HTTPException) as e:
        raise failure(f"the model's answer broke off: {type(e).__name__}: {e}") from None


def error_text(body: bytes) -> str:
    """The message in an error body."""
    try:
        error = json.loads(body).get("error")
    except (ValueError, AttributeError):
        return body.decode("utf-8", "replace")[:500]
    return str(error.get("message") or error) if isinstance(error, dict) else str(error)


def arguments_of(text: str) -> Any:
    """The arguments of a tool call; None when the model wrote something that is not JSON."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return None


class Chat:
    """OpenAI Chat Completions."""

    def __init__(self, base: str, key: str, model: str, system: str, prompt: str, offered: Offered) -> None:
        self.url, self.headers = base + "/v1/chat/completions", {"authorization": "Bearer " + key}
        self.messages: list[Json] = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        tools = [
            {"type": "function", "function": {"name": n, "description": f.__doc__, "parameters": schema(p)}}
            for n, (f, p) in offered.items()
        ]
        options = {"include_usage": True}
        self.fixed = {"model": model, "tools": tools, "stream": True, "stream_options": options}

    def ask(self) -> tuple[str, list[Call], Json]:
        """One model request: (text, [(id, name, arguments)], usage)."""
        text, finished = "", False
        calls: dict[int, Json] = {}
        usage: Json = {}
        for part in post(self.url, self.headers, {**self.fixed, "messages": self.messages}):
            if part.get("error"):
                raise failure(error_text(json.dumps(part).encode()))
            usage = part.get("usage") or usage
            for choice in (part.get("choices") or [])[:1]:
                delta = choice.get("delta") or choice.get("message") or {}
                text += delta.get("content") or ""
                finished = finished or bool(choice.get("finish_reason"))
                for position, piece in enumerate(delta.get("tool_calls") or []):
                    known = calls.setdefault(piece.get("index", position), {"id": "", "name": "", "arguments": ""})
                    function = piece.get("function") or {}
                    known["id"] = piece.get("id") or known["id"]
                    known["name"] += function.get("name") or ""
                    known["arguments"] += function.get("arguments") or ""
        if not finished:
            raise failure("the model's answer broke off before its end")
        ordered = [calls[i] for i in sorted(calls)]
        turn: Json = {"role": "assistant", "content": text or None}
        if ordered:
            turn["tool_calls"] = [
                {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}}
                for c in ordered
            ]
        self.messages.append(turn)
        return text, [(c["id"], c["name"], arguments_of(c["arguments"])) for c in ordered], self.normal(usage)

    def normal(self, usage: Json) -> Json:
        """Usage without the cached part of the input."""
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        return {
            "input": (usage.get("prompt_tokens") or 0) - cached,
            "cache_read": cached,
            "output": usage.get("completion_tokens") or 0,
            "reasoning": (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0,
        }

    def answer(self, results: list[Result]) -> None:
        """Hand the results of the tool calls back: [(id, ok, text)]."""
        self.messages += [{"role": "tool", "tool_call_id": i, "content": text} for i, _, text in results]


class Messages:
    """Anthropic Messages."""

    def __init__(self, base: str, key: str, model: str, system: str, prompt: str, offered: Offered) -> None:
        self.url = base + "/v1/messages"
        self.headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
        self.messages: list[Json] = [{"role": "user", "content": prompt}]
        tools = [{"name": n, "description": f.__doc__, "input_schema": schema(p)} for n, (f, p) in offered.items()]
        self.fixed = {"model": model, "system": system, "tools": tools, "max_tokens": 16_000, "stream": True}

    def ask(self) -> tuple[str, list[Call], Json]:
        """One model request: (text, [(id, name, arguments)], usage)."""
        finished = False
        blocks: dict[int, Json] = {}
        usage: Json = {}
        for part in post(self.url, self.headers, {**self.fixed, "messages": self.messages}):
            kind = part.get("type")
            if kind == "error":
                raise failure(error_text(json.dumps(part).encode()))
            if kind == "message":
                blocks, finished = dict(enumerate(part.get("content") or [])), True
                usage.update(part.get("usage") or {})
            elif kind == "message_start":
                usage.update((part.get("message") or {}).get("usage") or {})
            elif kind == "content_block_start":
                blocks[part["index"]] = {**part["content_block"], "json": ""}
            elif kind == "content_block_delta":
                self.grow(blocks.get(part["index"], {}), part.get("delta") or {})
            elif kind == "message_delta":
                usage.update({k: v for k, v in (part.get("usage") or {}).items() if v is not None})
            finished = finished or kind == "message_stop"
        if not finished:
            raise failure("the model's answer broke off before its end")
        text = ""
        calls: list[Call] = []
        content: list[Json] = []
        for _, block in sorted(blocks.items()):
            if block.get("type") == "text" and block.get("text"):
                text += block["text"]
                content.append({"type": "text", "text": block["text"]})
            elif block.get("type") == "tool_use":
                given = arguments_of(block["json"]) if block.get("json") else block.get("input")
                calls.append((block["id"], block["name"], given))
                content.append({**{k: block[k] for k in ("type", "id", "name")}, "input": given or {}})
        self.messages.append({"role": "assistant", "content": content or "(no answer)"})
        return text, calls, self.normal(usage)

    def grow(self, block: Json, delta: Json) -> None:
        """Add a delta to its block."""
        block["text"] = block.get("text", "") + (delta.get("text") or "")
        block["json"] = block.get("json", "") + (delta.get("partial_json") or "")

    def normal(self, usage: Json) -> Json:
        """Usage; this wire leaves cached tokens out of the input already."""
        fields = {
            "input": "input_tokens",
            "cache_read": "cache_read_input_tokens",
            "cache_write": "cache_creation_input_tokens",
            "output": "output_tokens",
        }
        return {field: usage.get(name) or 0 for field, name in fields.items()}

    def answer(self, results: list[Result]) -> None:
        """Hand the results of the tool calls back: [(id, ok, text)]."""
        content = [{"type": "tool_result", "tool_use_id": i, "content": t, "is_error": not ok} for i, ok, t in results]
        self.messages.append({"role": "user", "content": content})


WIRES: dict[str, Any] = {"openai-chat": Chat, "anthropic": Messages}


# ---- the loop --------------------------------------------------------------------------------------------------------


def converse(model: Chat | Messages, offered: Offered, turns: int) -> str:
    """Ask, run the tools, answer, until the model calls no tool; the model's last text."""
    for _ in range(turns):
        text, calls, usage = model.ask()
        emit("usage", **usage)
        if text:
            emit("text", text=text)
        if not calls:
            return text
        results: list[Result] = []
        for identity, name, arguments in calls:
            emit("tool", name=name, text=json.dumps(arguments)[:200])
            ok, output = call(name, arguments, offered)
            emit("tool_result", name=name, ok=ok, text=output[:200])
            results.append((identity, ok, output))
        model.answer(results)
    raise failure(f"no end after {turns} turns")


def main() -> None:
    """Run one task from the command line."""
    parser = argparse.ArgumentParser(description="Inspan's bare harness")
    parser.add_argument("--prompt-file", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--wire", choices=sorted(WIRES), default="openai-chat")
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--read-only", action="store_true", help="do not offer write_file")
    options = parser.parse_args()
    with open(options.prompt_file, encoding="utf-8", newline="") as f:
        prompt = f.read()
    offered = {n: t for n, t in TOOLS.items() if not (options.read_only and n == "write_file")}
    base, key = os.environ["INSPAN_BASE_URL"].rstrip("/"), os.environ.get("INSPAN_API_KEY", "none")
    emit("start", text="bare on " + options.model)
    try:
        system = SYSTEM.format(cwd=os.getcwd())
        final = converse(WIRES[options.wire](base, key, options.model, system, prompt, offered), offered, options.turns)
    except RuntimeError as e:
        message, status = (*e.args, None, None)[:2]
        emit("error", message=message, status=status)
        emit("end", ok=False, message=message, status=status)
        return
    emit("end", ok=True, message=final)


if __name__ == "__main__":
    main()
