"""The record of a run: every packet, every call, every token. (chapter 2.3)

A `RunResult` is the answer together with its trace, so that "why did it say that?" is always a
look away. The requests in it hold the key in their headers; `turn.packet` shows them without.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Literal

from freya_teach.errors import Attempt
from freya_teach.llm.messages import Json, ToolCall
from freya_teach.llm.protocol import Exchange, Reply, Usage
from freya_teach.llm.redaction import redacted_headers

ToolState = Literal["running", "completed", "failed", "refused"]
StopReason = Literal[
    "answer",
    "empty",
    "length",
    "content_filter",
    "error",
    "max_turns",
    "budget",
    "loop",
    "cancelled",
]


@dataclass(frozen=True, slots=True)
class CallTrace:
    """One tool call: what the model wrote, what it read afterwards, how long it took."""

    call: ToolCall
    observation: str
    state: ToolState
    seconds: float

    @property
    def is_error(self) -> bool:
        """Whether the observation tells of a failure."""
        return self.state != "completed"


@dataclass(frozen=True, slots=True)
class TurnTrace:
    """One model call and the tool calls it asked for; turns count from 1."""

    number: int
    exchange: Exchange
    calls: tuple[CallTrace, ...]

    @property
    def reply(self) -> Reply:
        """What was understood of the model's answer."""
        return self.exchange.reply

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Everything that was tried for the answer: which route, what failed, what was waited."""
        return self.exchange.attempts

    def without_packets(self) -> TurnTrace:
        """The turn without the bytes of its request and response."""
        wire = replace(self.exchange.request, body=b"")
        return replace(self, exchange=replace(self.exchange, request=wire, body=b""))

    @property
    def packet(self) -> dict[str, Json]:
        """The request as it went over the wire, without the key; `body` is None when not kept."""
        wire = self.exchange.request
        return {
            "method": wire.method,
            "url": wire.url,
            "headers": redacted_headers(wire.headers),
            "body": json.loads(wire.body) if wire.body else None,
        }

    @property
    def response_text(self) -> str:
        """The body that came back, as text: JSON, or an event stream."""
        return self.exchange.body.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Trace:
    """All turns of a run."""

    turns: tuple[TurnTrace, ...] = ()

    @property
    def calls(self) -> tuple[CallTrace, ...]:
        """All tool calls of the run, in order."""
        return tuple(call for turn in self.turns for call in turn.calls)

    @property
    def usage(self) -> Usage:
        """Tokens of all model calls added up: what the provider bills."""
        return reduce(add, (turn.reply.usage for turn in self.turns), Usage())


@dataclass(frozen=True, slots=True)
class RunResult:
    """The answer, why the run ended, and the trace. `detail` says more where a limit ended it."""

    text: str
    stop_reason: StopReason
    detail: str
    trace: Trace

    def __str__(self) -> str:
        return self.text
