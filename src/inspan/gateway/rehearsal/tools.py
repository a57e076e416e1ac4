"""Maps an action onto whatever tools a harness offers. Pure.

A tool is recognised by its name, its arguments are filled by the schema it was offered with. For a write, a tool that
writes whole files is preferred, then a shell, then a patch tool, then an editor.
"""

from __future__ import annotations

import posixpath
import shlex
from typing import Any, Final, Literal

import msgspec

from inspan.gateway.rehearsal.scenario import Bash, Write

Way = Literal["write", "shell", "patch", "edit"]

_NAMES: Final[dict[Way, tuple[str, ...]]] = {
    "write": (
        "write_file", "write", "create_file", "write_to_file", "fs_write", "create", "save_file", "new_file",
        "str_replace_based_edit_tool", "str_replace_editor",
    ),
    "shell": (
        "bash", "exec_command", "shell", "shell_command", "run_shell_command", "execute_command", "execute_bash",
        "terminal", "run_command", "run_in_terminal", "run_terminal_cmd", "container.exec", "exec", "execute",
    ),
    "patch": ("apply_patch",),
    "edit": ("edit", "replace", "edit_file"),
}  # fmt: skip
_PATHS: Final = ("file_path", "filepath", "path", "filename", "absolute_path", "target_file", "file")
_CONTENTS: Final = ("content", "contents", "file_text", "text", "new_string", "new_str", "newstring", "code_edit")
_COMMANDS: Final = ("command", "cmd", "script", "commands", "input")
_OLD: Final = ("old_string", "old_str", "oldstring", "old_text")
_WHY: Final = ("description", "explanation", "reason", "justification")
_WHERE: Final = ("workdir", "cwd", "directory", "dir_path", "working_directory")


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool the harness offers. ``free``: it takes text instead of arguments."""

    name: str
    schema: dict[str, Any] = msgspec.field(default_factory=dict)
    free: bool = False


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool: ``arguments`` is a JSON object, or text for a tool that takes free text."""

    tool: Tool
    way: Way
    arguments: dict[str, Any] | str


def call(action: Write | Bash, tools: tuple[Tool, ...], workspace: str | None, *, shell: bool = False) -> Call | None:
    """The call that does the action, None when no offered tool can.

    Args:
        workspace: where relative paths are meant from; None leaves them relative.
        shell: do not use tools that write files; the first try with one failed.
    """
    ways: tuple[Way, ...] = ("shell",) if isinstance(action, Bash) or shell else ("write", "shell", "patch", "edit")
    offered = {_plain(t.name): t for t in reversed(tools)}
    for way in ways:
        for name in _NAMES[way]:
            if name in offered:
                tool = offered[name]
                text = _free(action, way, workspace)
                arguments = text if tool.free else _arguments(tool.schema, action, way, workspace)
                return Call(tool=tool, way=way, arguments=arguments)
    return None


def _plain(name: str) -> str:
    name = name.lower()
    return name.rpartition("__")[2] if "__" in name else name


def place(path: str, workspace: str | None) -> str:
    """The path as the tools get it. Deliberately not normalised: a script may mean ``..``."""
    return posixpath.join(workspace, path) if workspace is not None else path


def command(action: Write | Bash, workspace: str | None) -> str:
    """The action as a shell command."""
    if isinstance(action, Bash):
        return action.command
    target = place(action.path, workspace)
    folder = posixpath.dirname(target)
    make = f"mkdir -p -- {shlex.quote(folder)} && " if folder else ""
    return f"{make}printf %s {shlex.quote(action.content)} > {shlex.quote(target)}"


def _patch(action: Write) -> str:
    lines = action.content.removesuffix("\n").split("\n") if action.content else []
    added = "".join(f"+{line}\n" for line in lines)
    return f"*** Begin Patch\n*** Add File: {action.path}\n{added}*** End Patch\n"


def _free(action: Write | Bash, way: Way, workspace: str | None) -> str:
    return _patch(action) if way == "patch" and isinstance(action, Write) else command(action, workspace)


def _arguments(schema: dict[str, Any], action: Write | Bash, way: Way, workspace: str | None) -> dict[str, Any]:
    properties = schema.get("properties")
    required = schema.get("required") or []
    known = _shell_value if way == "shell" else _file_value
    arguments: dict[str, Any] = {}
    for key, sub in (properties if isinstance(properties, dict) else {}).items():
        rule = sub if isinstance(sub, dict) else {}
        value = known(key.lower(), rule, action, workspace)
        if value is not None:
            arguments[key] = value
        elif key in required:
            arguments[key] = _default(key.lower(), rule, workspace)
    return arguments


def _shell_value(key: str, rule: dict[str, Any], action: Write | Bash, workspace: str | None) -> Any:
    if key not in _COMMANDS or rule.get("enum"):
        return None
    text = command(action, workspace)
    if not _is_list(rule):
        return text
    return [text] if key == "commands" else ["bash", "-lc", text]


def _file_value(key: str, rule: dict[str, Any], action: Write | Bash, workspace: str | None) -> Any:
    if isinstance(action, Bash):
        return None
    if key in _PATHS:
        return place(action.path, workspace)
    if key in _CONTENTS:
        return action.content
    if key == "command" and isinstance(rule.get("enum"), list):
        return "create" if "create" in rule["enum"] else rule["enum"][0]
    return _patch(action) if key in ("input", "patch") else None


def _is_list(rule: dict[str, Any]) -> bool:
    kinds = rule.get("type")
    return "array" in (kinds if isinstance(kinds, list) else [kinds])


def _default(key: str, rule: dict[str, Any], workspace: str | None) -> Any:
    if key in _OLD:
        return ""
    if key in _WHY:
        return "a step of the rehearsal"
    if key in _WHERE:
        return workspace or "."
    return fill(rule)


def fill(schema: object, depth: int = 0) -> Any:
    """A small instance of a JSON schema."""
    if not isinstance(schema, dict) or depth > 8:
        return "done"
    if "const" in schema:
        return schema["const"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return fill(schema[key][0], depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object":
        properties = schema.get("properties") or {}
        return {k: fill(properties.get(k), depth + 1) for k in schema.get("required", list(properties))}
    if kind == "array":
        return [fill(schema.get("items"), depth + 1)] * int(schema.get("minItems") or 0)
    return {
        "boolean": False,
        "integer": schema.get("minimum", 1),
        "number": schema.get("minimum", 1),
        "null": None,
    }.get(str(kind), "done")
