"""Every tool call has exactly one result: the rule, and its only home. (chapter 5.1)

Both providers refuse a history that breaks it, each with a text that names a symptom and not
the cause. `check` finds the cause before anything is sent; `assign_ids` gives a new answer's
calls ids that are unique in the history; `close_open_calls` is the one repair, for results that
a crash or a cancelled run has lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from freya_teach.errors import TranscriptError
from freya_teach.llm.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    ProviderData,
    ToolCall,
    ToolMessage,
)

MAX_ID_CHARS = 40
"""Characters that OpenAI allows in a call id (HTTP 400 `string_above_max_length` beyond)."""

LOST_RESULT = (
    "error: the result of this call was lost, because the run was interrupted before it came. "
    "The tool may or may not have run. Where running it twice would do harm, find out first; else "
    "call it again if you still need the result."
)


@dataclass(slots=True)
class Checked:
    """The beginning of a conversation that was found in order: 400 results take 3 µs, not 65."""

    messages: tuple[Message, ...] = ()
    ids: set[str] = field(default_factory=set)
    """The ids of all calls in it."""

    def begin(self, messages: Sequence[Message]) -> int:
        """How many of these messages need no second look. All is forgotten until `messages` are."""
        known, self.messages = self.messages, ()
        if known and messages[: len(known)] == known:  # compares by identity first
            return len(known)
        self.ids.clear()
        return 0


def check(messages: Sequence[Message], so_far: Checked | None = None) -> None:
    """Raise `TranscriptError` at the first message that breaks the rule.

    The results of an assistant message's calls follow it at once, in any order, each exactly
    once, before anything else is said. Source: OpenAI API reference, "tool messages".
    `so_far` remembers what was in order, for the next time.
    """
    so_far = so_far or Checked()
    start, seen = so_far.begin(messages), so_far.ids
    open_calls: dict[str, str] = {}
    for number, message in enumerate(messages[start:], start):
        if isinstance(message, ToolMessage):
            if open_calls.pop(message.call_id, None) is None:
                raise TranscriptError(_no_such_call(number, message.call_id, seen))
            continue
        if open_calls:
            missing = ", ".join(f"{name} ({id_})" for id_, name in open_calls.items())
            raise TranscriptError(
                f"message {number} ({message.role}) comes before the result of {missing}"
            )
        if isinstance(message, AssistantMessage):
            for call in message.parts:
                if not isinstance(call, ToolCall):
                    continue
                if not call.id or call.id in seen:
                    raise TranscriptError(
                        f"message {number}: the id {call.id!r} of {call.name} is not unique"
                    )
                seen.add(call.id)
                open_calls[call.id] = call.name
    if open_calls:
        missing = ", ".join(f"{name} ({id_})" for id_, name in open_calls.items())
        last = len(messages) - 1
        raise TranscriptError(
            f"message {last} is the last: the history ends without the result of {missing}"
        )
    so_far.messages = tuple(messages)


def _no_such_call(number: int, call_id: str, seen: set[str]) -> str:
    why = "was answered already or too late" if call_id in seen else "was never made"
    return f"message {number} is the result of call {call_id!r}, which {why}"


def call_names(messages: Iterable[Message]) -> dict[str, str]:
    """Call id → tool name, in one pass: OpenAI's tool messages have no name, Gemini wants one."""
    return {call.id: call.name for call in calls_in(messages)}


def calls_in(messages: Iterable[Message]) -> list[ToolCall]:
    """All tool calls of a history, in order."""
    return [
        part
        for message in messages
        if isinstance(message, AssistantMessage)
        for part in message.parts
        if isinstance(part, ToolCall)
    ]


def assign_ids(message: AssistantMessage, used_ids: set[str], issuer: str) -> AssistantMessage:
    """Give each call an id that is unique in the history and at most 40 characters long.

    A provider's own id is kept where it serves; where it does not (missing, repeated, too long)
    it moves into the call's `provider_data`, and the new id is the first free `call_<n>`.
    The same history gives the same ids. `used_ids` is extended.
    """
    if not message.tool_calls:
        return message
    parts: list[AssistantPart] = []
    for part in message.parts:
        new = _with_id(part, used_ids, issuer) if isinstance(part, ToolCall) else part
        if isinstance(new, ToolCall):
            used_ids.add(new.id)
        parts.append(new)
    return message if tuple(parts) == message.parts else replace(message, parts=tuple(parts))


def _with_id(call: ToolCall, used_ids: set[str], issuer: str) -> ToolCall:
    if call.id and call.id not in used_ids and len(call.id) <= MAX_ID_CHARS:
        return call
    number = len(used_ids) + 1
    while f"call_{number}" in used_ids:
        number += 1
    data = dict(call.provider_data.for_issuer(issuer))
    if call.id:
        data["id"] = call.id
    new = ProviderData(issuer, data) if data else call.provider_data
    return replace(call, id=f"call_{number}", provider_data=new)


def close_open_calls(messages: Sequence[Message], text: str = LOST_RESULT) -> list[ToolMessage]:
    """The results that are missing at the end of the history, as errors that say so.

    Append them and the history is valid again.
    """
    return [ToolMessage(call.id, text, is_error=True) for call in open_calls(messages)]


def open_calls(messages: Sequence[Message]) -> list[ToolCall]:
    """The calls at the end of the history that have no result yet, in call order.

    Only the last assistant message can have open calls: nothing is ever appended behind one.
    """
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            return [call for call in message.tool_calls if call.id not in answered]
        if not isinstance(message, ToolMessage):
            return []
        answered.add(message.call_id)
    return []
