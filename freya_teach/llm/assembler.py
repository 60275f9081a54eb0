"""Deltas to one complete reply. (chapter 4.2)

The problem: servers disagree about how the pieces of a tool call are labelled. Some leave the
index out, some send index 0 for every call, some repeat id and name in each piece, some send
the arguments before the name. One rule serves all of them: a piece belongs to the call with
its id, else to the call with its index, else to the latest call; and nothing is final before
the stream has ended, because arguments that parse may still be a prefix. The one exception:
another name, or another object, behind complete arguments is the next call, whatever its label.

It does not decide what is done with the reply, and it gives no ids: `transcript.assign_ids` does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import assert_never

from freya_teach.errors import BadResponse, ResponseCut
from freya_teach.llm.messages import (
    NO_DATA,
    AssistantMessage,
    AssistantPart,
    OpaquePart,
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
    OpaqueDelta,
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

    def may_have(self, index: int | None) -> bool:
        return index == self.index or None in (index, self.index)

    def has_all_of(self, arguments: str) -> bool:
        """Whether the whole arguments are sent once more, which some servers do at the end."""
        if not self.pieces:  # the first piece, which mostly is all there is
            return False
        is_object = arguments.startswith("{") and _is_json(arguments)
        return is_object and "".join(self.pieces) == arguments

    def is_over_before(self, delta: CallDelta) -> bool:
        """Whether this piece begins another call, though its label is ours."""
        if not self.name or not delta.name:
            return False
        goes_on = not delta.arguments.startswith("{") or self.has_all_of(delta.arguments)
        if delta.name == self.name and goes_on:
            return False
        return _is_json("".join(self.pieces))

    def add(self, delta: CallDelta, known_names: frozenset[str]) -> None:
        self.index = delta.index if self.index is None else self.index
        self.id = self.id or delta.id
        self.name = _joined_name(self.name, delta.name, known_names)
        if delta.arguments and not self.has_all_of(delta.arguments):
            self.pieces.append(delta.arguments)
        if delta.provider_data.data:
            self.provider_data = delta.provider_data


class Assembler:
    """Collects the deltas of one answer. `known_names` are the tools that were declared."""

    def __init__(self, known_names: frozenset[str] = frozenset()) -> None:
        self._known_names = known_names
        self._parts: list[_OpenText | _OpenCall | OpaquePart] = []
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
            case OpaqueDelta():
                self._parts.append(delta.part)
            case FinishDelta():
                self._finish = delta
            case UsageDelta():
                self._usage = delta.usage
            case _:
                assert_never(delta)

    def finish(self, *, complete: bool) -> Reply:
        """Close every part. `complete` says that the body itself claimed to be at its end.

        Raises `ResponseCut` when neither the body nor the provider said so: a call in such an
        answer may be half of what the model wanted, and is not run. Raises `BadResponse` for a
        complete body in which there is no answer, such as `{}`.
        """
        if self._finish is None and not complete:
            raise ResponseCut("the stream ended without saying why: the answer is cut off")
        if self._finish is None and not self._parts:
            raise BadResponse("what came holds no text, no tool call and no reason for its end")
        message = AssistantMessage(tuple(map(_closed, self._parts)))
        finish = self._finish or FinishDelta("unknown", "")
        reason = _final_reason(finish.reason, has_calls=bool(message.tool_calls))
        return Reply(message, reason, finish.raw, self._usage)

    def _add_text(
        self,
        kind: type[TextPart | ReasoningPart],
        text: str,
        provider_data: ProviderData,
    ) -> None:
        """A sealed piece stays a part of its own: it goes back exactly as it came."""
        last = self._parts[-1] if self._parts else None
        joins = isinstance(last, _OpenText) and (last.kind, last.provider_data) == (
            kind,
            provider_data,
        )
        if not joins or _is_sealed(provider_data):
            if not text and not provider_data.data:
                return
            last = _OpenText(kind, provider_data)
            self._parts.append(last)
        assert isinstance(last, _OpenText)
        last.pieces.append(text)

    def _call_for(self, delta: CallDelta) -> _OpenCall:
        calls = [part for part in self._parts if isinstance(part, _OpenCall)]
        found = None if delta.whole else _matching_call(calls, delta)
        if found is None or found.is_over_before(delta):
            found = _OpenCall(delta.index, delta.id)
            self._parts.append(found)
        return found


def _closed(part: _OpenText | _OpenCall | OpaquePart) -> AssistantPart:
    return part if isinstance(part, OpaquePart) else part.close()


def _matching_call(calls: list[_OpenCall], delta: CallDelta) -> _OpenCall | None:
    """By id, else by index, else the latest; a new id always starts a new call."""
    same_id = [call for call in calls if call.id == delta.id != "" and call.may_have(delta.index)]
    if same_id:
        return same_id[-1]
    same_index = [call for call in calls if delta.index in (None, call.index)]
    if not same_index:
        return None
    latest = same_index[-1]
    is_labelled = delta.index is not None or not latest.name  # else its arguments came first
    return None if delta.id and (latest.id or not is_labelled) else latest


def _joined_name(so_far: str, piece: str, known_names: frozenset[str]) -> str:
    """Some servers repeat the name in every piece, others cut it in two."""
    if not piece or piece == so_far or so_far in known_names:
        return so_far
    return so_far + piece


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_sealed(provider_data: ProviderData) -> bool:
    """Gemini's signature and OpenRouter's reasoning detail belong to one piece, not to its like."""
    return "signature" in provider_data.data or "detail" in provider_data.data


def _final_reason(reason: FinishReason, *, has_calls: bool) -> FinishReason:
    """What the answer holds outranks what the provider calls it."""
    if has_calls and reason in ("stop", "unknown"):
        return "tool_calls"
    if not has_calls and reason == "tool_calls":
        return "stop"
    return reason
