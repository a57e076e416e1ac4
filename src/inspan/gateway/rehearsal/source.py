"""The scripted provider as a source of answers: same seam as a real endpoint, no socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any, Final

import msgspec

from inspan.errors import ProviderError
from inspan.gateway.contract import Upstream
from inspan.gateway.rehearsal import anthropic, chat, responses
from inspan.gateway.rehearsal.scenario import Scenario, load_scenario
from inspan.gateway.rehearsal.script import Act, Conversation, next_act
from inspan.gateway.upstream import Answer, Ask
from inspan.gateway.wire.reading import document

_DIALECTS: Final[dict[str, ModuleType]] = {
    "anthropic": anthropic,
    "openai-chat": chat,
    "openai-responses": responses,
}


class RehearsalSource:
    """Plays one scenario on one wire.

    Raises:
        UnknownName, InvalidSpec: when the scenario cannot be had.
    """

    def __init__(self, upstream: Upstream) -> None:
        self.scenario: Scenario = load_scenario(upstream.scenario or "write-file")
        self._dialect: Any = _DIALECTS[upstream.wire]
        self._workspace = upstream.workspace_inside

    @asynccontextmanager
    async def ask(self, ask: Ask) -> AsyncIterator[Answer]:
        """Answer one request."""
        fields = document(ask.body)
        if ask.target.partition("?")[0].endswith("/count_tokens"):
            yield _json(200, {"input_tokens": self.scenario.usage.input})
            return
        talk: Conversation = self._dialect.listen(fields)
        act = next_act(self.scenario, talk, self._workspace)
        if act.end == "hang":
            await asyncio.Event().wait()
        if self.scenario.prefill:
            await asyncio.sleep(self.scenario.prefill)
        if act.end is not None and act.end.startswith("error-"):
            status, body = self._dialect.error(act.end, talk.model)
            yield _json(status, body)
        elif talk.stream:
            yield Answer(200, [("content-type", "text/event-stream; charset=utf-8")], self._stream(talk, act))
        elif act.end == "drop":
            raise _dropped()
        else:
            yield _json(200, self._dialect.whole(act, talk.model, self.scenario.usage))

    async def close(self) -> None:
        """Nothing is held."""

    async def _stream(self, talk: Conversation, act: Act) -> AsyncIterator[bytes]:
        drop = act.end == "drop"
        played = Act(text="I was about to say") if drop else act
        frames: list[bytes] = list(self._dialect.stream(played, talk.model, self.scenario.usage))
        for number, frame in enumerate(frames[: len(frames) // 2] if drop else frames):
            if number and self.scenario.pace:
                await asyncio.sleep(self.scenario.pace)
            yield frame
        if drop:
            yield frames[-1][:12]
            raise _dropped()


def _json(status: int, body: Any) -> Answer:
    async def chunks() -> AsyncIterator[bytes]:
        yield msgspec.json.encode(body)

    return Answer(status, [("content-type", "application/json")], chunks())


def _dropped() -> ProviderError:
    return ProviderError("the rehearsal dropped the connection", where="rehearsal", do="try again", reason="network")
