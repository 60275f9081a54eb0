"""The refusals that are mended and sent once more. (chapter 5.3)

A refused request is a fault of ours and is told, not hidden. Some are no fault of the history,
though, but of where it has been: a signature that the server does not accept (it was sealed by
another generation, or lost on its way through a store), and a call id that this server does not
take. They are replaced, for this one sending; the history stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from freya_teach.errors import RequestRefused
from freya_teach.llm import transcript
from freya_teach.llm.messages import NO_DATA, AssistantMessage, Message, ToolCall, ToolMessage
from freya_teach.llm.protocol import ModelRequest, Route

Mended = tuple[ModelRequest, Route]


def mended(problem: RequestRefused, request: ModelRequest, route: Route) -> Mended | None:
    """What to send instead, or None where there is nothing to mend."""
    for words, mend in MENDINGS:
        if words.search(problem.provider_text):
            new = mend(request, route)
            return None if new == (request, route) else new
    return None


def with_stand_ins(request: ModelRequest, route: Route) -> Mended:
    """What is signed stays so; where a signature is missing, the adapter puts its stand-in."""
    return request, replace(route, facts=replace(route.facts, needs_signature=True))


def without_signatures(request: ModelRequest, route: Route) -> Mended:
    """No part is signed any more, so that the adapter puts its stand-in where one has to be."""
    messages = tuple(_unsigned(message) for message in request.messages)
    return with_stand_ins(replace(request, messages=messages), route)


def with_new_ids(request: ModelRequest, route: Route) -> Mended:
    """Calls are numbered from 1, and their results with them."""
    calls = transcript.calls_in(request.messages)
    ids = {call.id: f"call_{number}" for number, call in enumerate(calls, 1)}
    return replace(request, messages=tuple(_renamed(m, ids) for m in request.messages)), route


MENDINGS: tuple[tuple[re.Pattern[str], Callable[[ModelRequest, Route], Mended]], ...] = (
    (re.compile(r"missing a `?thought_signature"), with_stand_ins),
    (re.compile(r"thought[_ ]signature", re.IGNORECASE), without_signatures),
    (re.compile(r"messages\[\d+\]\.tool_calls\[\d+\]\.id"), with_new_ids),
    (re.compile(r"messages\[\d+\]\.tool_call_id"), with_new_ids),
)
"""What a refusal says → what is done. Source of the texts: gemini-cli#13467, llumiverse#470,
zafiro#100; vercel/ai#5171."""


def _unsigned(message: Message) -> Message:
    if not isinstance(message, AssistantMessage):
        return message
    return AssistantMessage(
        tuple(
            replace(part, provider_data=NO_DATA) if "signature" in part.provider_data.data else part
            for part in message.parts
        )
    )


def _renamed(message: Message, ids: dict[str, str]) -> Message:
    if isinstance(message, ToolMessage):
        return replace(message, call_id=ids[message.call_id])
    if not isinstance(message, AssistantMessage):
        return message
    return AssistantMessage(
        tuple(
            replace(part, id=ids[part.id]) if isinstance(part, ToolCall) else part
            for part in message.parts
        )
    )
