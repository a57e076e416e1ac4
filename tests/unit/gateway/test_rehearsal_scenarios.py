"""Scenarios: what is accepted, what is refused and how, and how steps meet the tools on offer."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from inspan.errors import InspanError, InvalidSpec, UnknownName
from inspan.gateway.rehearsal.scenario import SCENARIOS, Bash, Say, Write, load_scenario
from inspan.gateway.rehearsal.script import Act, Conversation, Result, next_act
from inspan.gateway.rehearsal.tools import Tool, call, fill

GOOD = """\
schema: inspan.rehearsal/1
usage: {input: 5, cache_read: 7, output: 11, reasoning: 2}
steps:
  - say: first
  - bash: echo hi
  - write: {path: ../out.txt, content: "a\\n"}
  - say: last
"""
WRITE = Tool(
    name="Write",
    schema={
        "properties": {"file_path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["file_path", "content"],
    },
)
BASH = Tool(
    name="Bash",
    schema={
        "properties": {"command": {"type": "string"}, "description": {"type": "string"}, "timeout": {"type": "number"}},
        "required": ["command", "description"],
    },
)
EXEC = Tool(
    name="exec_command",
    schema={"properties": {"cmd": {"type": "string"}, "yield_time_ms": {"type": "number"}}, "required": ["cmd"]},
)
SHELL = Tool(
    name="shell",
    schema={"properties": {"command": {"type": "array", "items": {"type": "string"}}}, "required": ["command"]},
)
PATCH = Tool(name="apply_patch", free=True)
PATCH_FUNCTION = Tool(name="apply_patch", schema={"properties": {"input": {"type": "string"}}, "required": ["input"]})
EDIT = Tool(
    name="Edit",
    schema={
        "properties": {"file_path": {}, "old_string": {}, "new_string": {}},
        "required": ["file_path", "old_string", "new_string"],
    },
)
EDITOR = Tool(
    name="str_replace_based_edit_tool",
    schema={
        "properties": {"command": {"enum": ["view", "create"]}, "path": {}, "file_text": {}},
        "required": ["command", "path"],
    },
)
STEP = Write("a b/c.txt", "x\n'y'\n")


def test_a_scenario_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD)
    for scenario in (load_scenario(GOOD), load_scenario(str(path))):
        assert scenario.steps == (Say("first"), Bash("echo hi"), Write("../out.txt", "a\n"), Say("last"))
        assert (scenario.usage.input, scenario.usage.cache_read, scenario.usage.output, scenario.usage.reasoning) == (
            5,
            7,
            11,
            2,
        )
        assert (scenario.said(0), scenario.said(1), scenario.said(2)) == ("first", None, "last")
    assert load_scenario(str(path)).name == "mine"


def test_the_built_in_names_are_those_promised() -> None:
    promised = "write-file text-only error-401 error-429 error-429-quota error-400-context error-500 hang slow-stream drop loop"
    assert set(SCENARIOS) == set(promised.split())
    assert load_scenario("write-file").steps[0] == Write("hello.txt", "hello\n")


@pytest.mark.parametrize(
    ("text", "where", "do"),
    [
        (GOOD.replace("steps", "stepz"), "scenario", "'steps'"),
        (GOOD.replace("bash", "bahs"), "steps[1]", "'bash'"),
        (GOOD.replace("path:", "paht:"), "steps[2].write", "'path'"),
        (GOOD.replace("cache_read", "cached"), "usage", "cache"),
        (GOOD.replace("rehearsal/1", "rehearsal/2"), "scenario", "inspan.rehearsal/1"),
        (GOOD.replace("schema: inspan.rehearsal/1\n", ""), "scenario", "inspan.rehearsal/1"),
        (GOOD.replace("echo hi", "[1, 2]"), "steps[1].bash", "quotes"),
        (GOOD.replace("input: 5", "input: -5"), "usage.input", "natural"),
        (GOOD.replace("input: 5", "input: true"), "usage.input", "natural"),
        (GOOD.replace("reasoning: 2", "reasoning: 12"), "usage", "output"),
        (GOOD + "then: hagn\n", "then", "'hang'"),
        (GOOD + "then: hang\n", "steps[3]", "before an action"),
        (GOOD + "pace: -1\n", "pace", "0 to 3600"),
        ("schema: inspan.rehearsal/1\nthen: loop\n", "then", "add a"),
        ("schema: inspan.rehearsal/1\nsteps: {a: 1}\n", "steps", "item a step"),
        ("schema: inspan.rehearsal/1\nsteps: [{say: a, bash: b}]\n", "steps[0]", "one action"),
        ("schema: inspan.rehearsal/1\nsteps: [{write: {path: a}}]\n", "steps[0].write", "both"),
        ("schema: inspan.rehearsal/1\nsteps: [{write: {path: '', content: a}}]\n", "write.path", "file's path"),
        ("a: [\n", "scenario", "syntax"),
        ("- 1\n- 2\n", "scenario", "schema"),
    ],
)  # fmt: skip
def test_what_is_no_scenario_is_refused_with_the_place_and_a_way_out(text: str, where: str, do: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        load_scenario(text)
    assert where in (refused.value.where or "") and do in (refused.value.do or "")


def test_unknown_names_and_files(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="write-flie") as refused:
        load_scenario("write-flie")
    assert "write-file" in (refused.value.do or "")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe")
    (tmp_path / "large.yaml").write_bytes(b" " * (2 << 20))
    for name in ("missing.yaml", "binary.yaml", "large.yaml"):
        with pytest.raises(InspanError):
            load_scenario(str(tmp_path / name))


def test_a_scenario_can_be_read_without_the_server() -> None:
    code = "import sys; from inspan.gateway.rehearsal.scenario import load_scenario; load_scenario('loop'); print([m for m in ('aiohttp', 'yaml') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("tools", "name", "arguments"),
    [
        ((BASH, WRITE), "Write", {"file_path": "/w/a b/c.txt", "content": STEP.content}),
        ((EDIT, EDITOR, SHELL), "str_replace_based_edit_tool", {"command": "create", "path": "/w/a b/c.txt", "file_text": STEP.content}),
        ((EDIT,), "Edit", {"file_path": "/w/a b/c.txt", "old_string": "", "new_string": STEP.content}),
        ((PATCH,), "apply_patch", "*** Begin Patch\n*** Add File: a b/c.txt\n+x\n+'y'\n*** End Patch\n"),
        ((PATCH_FUNCTION,), "apply_patch", {"input": "*** Begin Patch\n*** Add File: a b/c.txt\n+x\n+'y'\n*** End Patch\n"}),
        ((Tool(name="mcp__files__write_file", schema=WRITE.schema),), "mcp__files__write_file", {"file_path": "/w/a b/c.txt", "content": STEP.content}),
    ],
)  # fmt: skip
def test_a_write_meets_the_tools_on_offer(tools: tuple[Tool, ...], name: str, arguments: object) -> None:
    found = call(STEP, tools, "/w")
    assert found is not None and (found.tool.name, found.arguments) == (name, arguments)


@pytest.mark.parametrize(("tool", "key"), [(BASH, "command"), (EXEC, "cmd"), (SHELL, "command")])
def test_a_write_by_shell_writes_exactly_the_content(tool: Tool, key: str, tmp_path: Path) -> None:
    content = "x\n'y' \\n $HOME `z` ünï\n\n"
    found = call(Write("a b/it's.txt", content), (tool, EDIT), str(tmp_path))
    assert found is not None and isinstance(found.arguments, dict)
    argv = found.arguments[key] if isinstance(found.arguments[key], list) else ["bash", "-c", found.arguments[key]]
    subprocess.run(argv, check=True, cwd="/")
    assert (tmp_path / "a b" / "it's.txt").read_text() == content
    assert "timeout" not in found.arguments and "yield_time_ms" not in found.arguments


def test_paths_outside_are_possible() -> None:
    for path, target in (("../x", "/w/../x"), ("/etc/x", "/etc/x")):
        found = call(Write(path, "a"), (WRITE,), "/w")
        assert found is not None and isinstance(found.arguments, dict) and found.arguments["file_path"] == target
        by_shell = call(Write(path, "a"), (BASH,), "/w")
        assert by_shell is not None and isinstance(by_shell.arguments, dict)
        assert shlex.quote(target) in by_shell.arguments["command"]
    relative = call(Write("x", "a"), (WRITE,), None)
    assert relative is not None and isinstance(relative.arguments, dict) and relative.arguments["file_path"] == "x"


def talk(*results: Result, tools: tuple[Tool, ...] = (WRITE, BASH), **more: object) -> Conversation:
    return Conversation(model="m", stream=True, tools=tools, results=results, **more)  # type: ignore[arg-type]


def play(name: str, tools: tuple[Tool, ...] = (WRITE, BASH), failing: frozenset[str] = frozenset()) -> list[Act]:
    """Follow a script to its end, with results as a harness would send them."""
    scenario, results, acts = load_scenario(name), [], []
    for _ in range(12):
        acts.append(next_act(scenario, talk(*results, tools=tools), "/w"))
        if acts[-1].call is None:
            return acts
        results.append(Result(acts[-1].call_id, acts[-1].call.tool.name in failing))
    return acts


def test_the_script_follows_the_results() -> None:
    acts = play(GOOD)
    assert [(a.text, a.call and a.call.tool.name) for a in acts] == [("first", "Bash"), (None, "Write"), ("last", None)]
    assert len({a.call_id for a in acts if a.call}) == 2
    again = next_act(load_scenario(GOOD), talk(Result(acts[0].call_id)), "/w")
    assert again == acts[1]  # a repeated request gets the same answer


def test_a_refused_write_is_done_by_shell() -> None:
    acts = play("write-file", failing=frozenset({"Write"}))
    assert [a.call and a.call.tool.name for a in acts] == ["Write", "Bash", None]
    # A shell that fails is not tried again.
    assert [a.call and a.call.tool.name for a in play("write-file", tools=(BASH,), failing=frozenset({"Bash"}))] == [
        "Bash",
        None,
    ]


def test_results_with_ids_of_the_harness_are_counted() -> None:
    act = next_act(load_scenario(GOOD), talk(Result("other-1")), "/w")
    assert act.call is not None and act.call.tool.name == "Write"


def test_ends() -> None:
    assert [a.end for a in play("hang")] == ["hang"]
    looped = play("loop")
    assert len(looped) == 12 and len({str(a.call and a.call.arguments) for a in looped}) == 1
    assert len({a.call_id for a in looped}) == 12
    hung = play(GOOD.replace("  - say: last\n", "") + "then: hang\n")
    assert [a.end for a in hung] == [None, None, "hang"]


def test_side_requests() -> None:
    scenario = load_scenario("write-file")
    assert next_act(scenario, talk(tools=()), "/w").text == "Done."
    named = next_act(scenario, talk(forced="Bash"), "/w")
    assert named.call is not None and named.call.arguments == {"command": "done", "description": "done"}
    schema = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "n": {"type": "integer", "minimum": 3}},
        "required": ["title", "n"],
    }
    assert next_act(scenario, talk(schema=schema), "/w").text == '{"title":"done","n":3}'
    assert next_act(scenario, talk(tools=(Tool(name="Unheard", schema={}),)), "/w").call is None
    assert next_act(load_scenario("error-401"), talk(tools=()), "/w").end == "error-401"


@pytest.mark.parametrize(
    ("schema", "instance"),
    [
        ({"const": 4}, 4), ({"enum": ["a", "b"]}, "a"), ({"anyOf": [{"type": "boolean"}]}, False), ({"type": ["array", "null"]}, []),
        ({"type": "array", "minItems": 2, "items": {"type": "null"}}, [None, None]), ({"properties": {"a": {}}}, {"a": "done"}), (7, "done"),
    ],
)  # fmt: skip
def test_schemas_are_filled(schema: object, instance: object) -> None:
    assert fill(schema) == instance
