"""A model client without a wire: it plays given replies. (chapter 2.3)

For a cell or a test that is about the loop and not about packets.

    client = ScriptedClient(call("calculate", expression="6 * 7"), answer("42."))
    result = await client.agent([calculate]).run("How much is six times seven?")
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from freya_teach.agent.executor import Agent
from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.errors import ConfigError
from freya_teach.lab.gateway.question import Move
from freya_teach.llm.messages import AssistantMessage, TextPart, ToolCall
from freya_teach.llm.protocol import (
    Delta,
    Exchange,
    ModelRequest,
    Reply,
    TextDelta,
    Usage,
    WireRequest,
)
from freya_teach.tools.registry import ToolRegistry
from freya_teach.tools.tool import Tool


class ScriptedClient:
    """Answers each request with the next of its moves, and keeps the requests."""

    def __init__(self, *moves: Move) -> None:
        self.requests: list[ModelRequest] = []
        self._moves = moves

    async def complete(self, request: ModelRequest, on_delta: Callable[[Delta], None]) -> Exchange:
        """The next reply. Raises `ConfigError` when the script has no further move."""
        if len(self.requests) == len(self._moves):
            raise ConfigError(f"the script has {len(self._moves)} moves, and another was asked for")
        move = self._moves[len(self.requests)]
        self.requests.append(request)
        if move.text:
            on_delta(TextDelta(move.text))
        reply = Reply(_message(move), "tool_calls" if move.calls else "stop", "scripted", Usage())
        return Exchange(WireRequest("", {}, b""), 200, b"", reply, 0.0)

    def agent(
        self,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        ambient: Ambient | None = None,
        **settings: Any,
    ) -> Agent:
        """An agent that has this script for a model."""
        return Agent(
            client=self,
            issuer="script",
            registry=ToolRegistry(tools),
            settings=Settings.model_validate(settings),
            ambient=ambient or Ambient(),
        )


def _message(move: Move) -> AssistantMessage:
    words = (TextPart(move.text),) if move.text else ()
    calls = (ToolCall(call.id, call.name, _raw(call.arguments)) for call in move.calls)
    return AssistantMessage((*words, *calls))


def _raw(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
