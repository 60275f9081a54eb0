"""A run cut into the steps that a person would tell it in. (chapter 2.2)

question → ( packet → the model calls tools → they run ) again and again → packet → answer
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from freya_teach.lab.views import packets
from freya_teach.lab.views.words import cut, wrap
from freya_teach.llm.messages import Json
from freya_teach.trace import CallTrace, RunResult, TurnTrace

Lane = Literal["model", "harness", "tools"]
DETAIL_COLUMNS = 112
DETAIL_LINES = 14
SIGNS = {"completed": "✓", "failed": "✗", "refused": "⊘", "running": "…"}
NOT_KEPT = "(This packet was not kept: only those of the latest turns are, see trace_packets.)"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened: where, what, in a few words, and in many."""

    lane: Lane
    name: str
    summary: tuple[str, ...]
    detail: tuple[str, ...]


NOTHING = Step("harness", "no run", ("no turns",), ("The run has no turns: nothing happened.",))


def steps_of(result: RunResult) -> tuple[Step, ...]:
    """All steps of a run, in order; the first one is the user's question."""
    return tuple(_steps(result)) or (NOTHING,)


def _steps(result: RunResult) -> Iterator[Step]:
    before: Json = None
    for turn in result.trace.turns:
        if turn.number == 1:
            yield _question(turn)
        yield _packet(turn, before)
        yield _reply(turn)
        if turn.calls:
            yield _tools(turn.calls)
        before = turn.packet["body"]
    if result.stop_reason != "answer":
        yield _stopped(result)


def _question(turn: TurnTrace) -> Step:
    packet = turn.packet
    question = packets.understood(packet["url"], packet["body"]) if packet["body"] else None
    asked = question.asked if question else NOT_KEPT
    return Step("harness", "question", (asked,), _long(f"The user asks:\n{asked}"))


def _packet(turn: TurnTrace, before: Json) -> Step:
    name, packet = f"packet {turn.number}", turn.packet
    if packet["body"] is None:
        return Step("harness", name, ("not kept",), (NOT_KEPT,))
    size = f"{len(turn.exchange.request.body):,} bytes"
    sent, new = len(packets.messages(packet["body"])), packets.count_new(packet["body"], before)
    told = packets.lines(packet["url"], packet["body"], before)
    told[0] += f", {size}"
    return Step("harness", name, (_messages(sent), f"{new} new", size), tuple(told))


def _messages(number: int) -> str:
    return "1 message" if number == 1 else f"{number} messages"


def _reply(turn: TurnTrace) -> Step:
    reply = turn.reply
    said, calls = reply.message.text, reply.message.tool_calls
    told = [f"words: {said}" if said else "words: none"]
    told += [f"call: {call.name}({call.arguments})" for call in calls]
    usage = reply.usage
    told.append(
        f"finish reason: {reply.raw_finish_reason}; "
        f"tokens: {usage.input_tokens:,} in, {usage.output_tokens:,} out"
    )
    detail = _long("\n".join(told))
    if calls:
        return Step("model", "calls", tuple(call.name for call in calls), detail)
    return Step("model", "answers", (said or "nothing",), detail)


def _tools(calls: tuple[CallTrace, ...]) -> Step:
    short = tuple(f"{SIGNS[trace.state]} {trace.observation}" for trace in calls)
    told = [
        f"{SIGNS[trace.state]} {trace.call.name} {trace.state}:\n    {trace.observation}"
        for trace in calls
    ]
    return Step("tools", "tools run", short, _long("\n".join(told)))


def _stopped(result: RunResult) -> Step:
    detail = result.detail or "The provider ended the answer."
    return Step("harness", "run ends", (f"■ {result.stop_reason}",), _long(f"{detail}"))


def _long(text: str) -> tuple[str, ...]:
    """The lines of a detail; what does not fit is counted."""
    lines = wrap(text, DETAIL_COLUMNS)
    if len(lines) <= DETAIL_LINES:
        return tuple(lines)
    left_out = len(lines) - DETAIL_LINES + 1
    return (*lines[: DETAIL_LINES - 1], f"({left_out} more lines)")


def in_one_line(step: Step, width: int = 66) -> str:
    """The step's summary on one line; each of its parts gets its share of it."""
    share = max(20, width // len(step.summary))
    return " · ".join(cut(part, share) for part in step.summary)
