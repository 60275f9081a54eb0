"""Deltas to one complete reply. (chapter 4.2)

The problem: servers disagree about how the pieces of a tool call are labelled. Some leave the
index out, some send index 0 for every call, some repeat id and name in each piece, some send
the arguments before the name. One rule serves all of them: a piece belongs to the call with
its id, else to the call with its index, else to the latest call; and nothing is final before
the stream has ended, because arguments that parse may still be a prefix.

It does not decide what is done with the reply, and it gives no ids: `transcript.assign_ids` does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import assert_never

from freya_teach.errors import ResponseCut
from freya_teach.llm.messages import (
    NO_DATA,
    AssistantMessage,
    AssistantPart,
    ProviderData,
    ReasoningPart,
    TextPart,
    ToolCall,
)
from freya_teach.llm.protocol import (
    CallDelta,
    Delta,
    FinishDelta,
    FinishReason,
    ReasoningDelta,
    Reply,
    TextDelta,
    Usage,
    UsageDelta,
)


@dataclass(slots=True)
class _OpenText:
    """Text or reasoning that more pieces may still join."""

    kind: type[TextPart | ReasoningPart]
    provider_data: ProviderData
    pieces: list[str] = field(default_factory=list)

    def close(self) -> AssistantPart:
        return self.kind("".join(self.pieces), self.provider_data)


@dataclass(slots=True)
class _OpenCall:
    """A call whose arguments are still coming."""

    index: int | None
    id: str
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    provider_data: ProviderData = NO_DATA

    def close(self) -> AssistantPart:
        return ToolCall(self.id, self.name, "".join(self.pieces), self.provider_data)

    def is_complete(self) -> bool:
        return _is_json("".join(self.pieces))

    def add(self, delta: CallDelta, known_names: frozenset[str]) -> None:
        self.name = _joined_name(self.name, delta.name, known_names)
        if delta.arguments and not _is_resent(self.pieces, delta.arguments):
            self.pieces.append(delta.arguments)
        if delta.provider_data.data:
            self.provider_data = delta.provider_data


class Assembler:
    """Collects the deltas of one answer. `known_names` are the tools that were declared."""

    def __init__(self, known_names: frozenset[str] = frozenset()) -> None:
        self._known_names = known_names
        self._parts: list[_OpenText | _OpenCall] = []
        self._finish: FinishDelta | None = None
        self._usage = Usage()

    def add(self, delta: Delta) -> None:
        """Take one delta, in the order of arrival."""
        match delta:
            case TextDelta():
                self._add_text(TextPart, delta.text, delta.provider_data)
            case ReasoningDelta():
                self._add_text(ReasoningPart, delta.text, delta.provider_data)
            case CallDelta():
                self._call_for(delta).add(delta, self._known_names)
            case FinishDelta():
                self._finish = delta
            case UsageDelta():
                self._usage = delta.usage
            case _:
                assert_never(delta)

    def finish(self, *, complete: bool) -> Reply:
        """Close every part. `complete` says that the body itself claimed to be at its end.

        Raises `ResponseCut` when neither the body nor the provider said so: a call in such an
        answer may be half of what the model wanted, and is not run.
        """
        if self._finish is None and not complete:
            raise ResponseCut("the stream ended without saying why: the answer is cut off")
        message = AssistantMessage(tuple(part.close() for part in self._parts))
        finish = self._finish or FinishDelta("unknown", "")
        reason = _final_reason(finish.reason, has_calls=bool(message.tool_calls))
        return Reply(message, reason, finish.raw, self._usage)

    def _add_text(
        self,
        kind: type[TextPart | ReasoningPart],
        text: str,
        provider_data: ProviderData,
    ) -> None:
        """A signed piece stays a part of its own: Gemini wants it back exactly as it was."""
        last = self._parts[-1] if self._parts else None
        joins = isinstance(last, _OpenText) and (last.kind, last.provider_data) == (
            kind,
            provider_data,
        )
        if not joins or _is_signed(provider_data):
            if not text and not provider_data.data:
                return
            last = _OpenText(kind, provider_data)
            self._parts.append(last)
        assert isinstance(last, _OpenText)
        last.pieces.append(text)

    def _call_for(self, delta: CallDelta) -> _OpenCall:
        calls = [part for part in self._parts if isinstance(part, _OpenCall)]
        found = None if delta.whole else _matching_call(calls, delta)
        if found is None:
            found = _OpenCall(delta.index, delta.id)
            self._parts.append(found)
        return found


def _matching_call(calls: list[_OpenCall], delta: CallDelta) -> _OpenCall | None:
    """By id, else by index, else the latest; a new id always starts a new call."""
    if delta.id:
        for call in calls:
            if call.id == delta.id and delta.index in (None, call.index):
                return call
    if delta.index is not None:
        same_index = [call for call in calls if call.index == delta.index]
        if not same_index:
            return None
        latest = same_index[-1]
        if delta.id and latest.id and latest.id != delta.id:
            return None
        latest.id = latest.id or delta.id
        return latest
    if delta.id or not calls or (delta.name and calls[-1].is_complete()):
        return None
    return calls[-1]


def _joined_name(so_far: str, piece: str, known_names: frozenset[str]) -> str:
    """Some servers repeat the name in every piece, others cut it in two."""
    if not piece or piece == so_far or so_far in known_names:
        return so_far
    return so_far + piece


def _is_resent(pieces: list[str], arguments: str) -> bool:
    """Some servers end by sending the whole arguments once more."""
    if not pieces or len(arguments) < 2 or not arguments.startswith("{"):
        return False
    return "".join(pieces) == arguments and _is_json(arguments)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_signed(provider_data: ProviderData) -> bool:
    return "signature" in provider_data.data


def _final_reason(reason: FinishReason, *, has_calls: bool) -> FinishReason:
    """What the answer holds outranks what the provider calls it."""
    if has_calls and reason in ("stop", "unknown"):
        return "tool_calls"
    if not has_calls and reason == "tool_calls":
        return "stop"
    return reason
