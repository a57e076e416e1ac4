"""What the scripted model does next, from the conversation alone. Pure.

No state is kept between requests: each call carries the number of its action in its id, and the results in the next
request say how far the script is. So a repeated request gets the same answer, and side requests change nothing.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from inspan.gateway.rehearsal.scenario import Scenario
from inspan.gateway.rehearsal.tools import Call, Tool, call, fill

_ID: Final = re.compile(r"call_(\d+)_(write|shell|patch|edit)_\d+")
DONE: Final = "Done."


class Result(msgspec.Struct, frozen=True):
    """The result of an earlier call, by the call's id."""

    id: str
    failed: bool = False


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """What a request holds, whatever its wire.

    Attributes:
        results: results of tool calls so far, in order.
        forced: the tool the client demands a call of.
        schema: the schema the client demands the answer to follow.
    """

    model: str
    stream: bool
    tools: tuple[Tool, ...] = ()
    results: tuple[Result, ...] = ()
    forced: str | None = None
    schema: dict[str, Any] | None = None


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """One answer: text, a call, both, or one of ``scenario.ENDS``."""

    text: str | None = None
    call: Call | None = None
    call_id: str = ""
    end: str | None = None


def next_act(scenario: Scenario, talk: Conversation, workspace: str | None) -> Act:
    """The scripted model's answer."""
    faulty = not scenario.actions and scenario.then is not None
    if not faulty and talk.schema is not None:
        return Act(text=msgspec.json.encode(fill(talk.schema)).decode())
    if not faulty and (not talk.tools or talk.forced is not None):
        return _aside(talk)
    done, shell = _progress(talk.results)
    count = len(scenario.actions)
    if scenario.then == "loop" and done >= count:
        done = count - 1
    if done >= count:
        return Act(end=scenario.then) if scenario.then else Act(text=scenario.said(count) or DONE)
    found = call(scenario.actions[done], talk.tools, workspace, shell=shell)
    if found is None:
        return Act(text=f"No tool is offered that could do step {done + 1} of the script.")
    return Act(text=scenario.said(done), call=found, call_id=f"call_{done}_{found.way}_{len(talk.results)}")


def _aside(talk: Conversation) -> Act:
    """A side request: a title, a summary, or a call of one named tool."""
    tool = next((t for t in talk.tools if t.name == talk.forced), None)
    if tool is None or tool.free:
        return Act(text=DONE)
    return Act(call=Call(tool=tool, way="edit", arguments=fill(tool.schema)), call_id=f"aside_{len(talk.results)}")


def _progress(results: tuple[Result, ...]) -> tuple[int, bool]:
    """How many actions are done, and whether the next one is a write to be repeated by shell.

    A harness may refuse to overwrite a file it has not read; the script does not care how a file gets written.
    """
    found = [(m, r) for r in results if (m := _ID.fullmatch(r.id))]
    if not found:
        return len(results), False
    last, result = found[-1]
    if result.failed and last[2] in ("write", "edit"):
        return int(last[1]), True
    return int(last[1]) + 1, False
