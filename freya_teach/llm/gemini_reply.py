"""Chunks of generateContent to deltas. (chapter 4.2)

A call comes whole, one to a part, and each part may be signed. Usage is repeated in each chunk of
a stream, always for the answer so far: the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from freya_teach.llm.gemini_messages import NAME, opaque_from_wire
from freya_teach.llm.messages import NO_DATA, Json, ProviderData
from freya_teach.llm.protocol import (
    CallDelta,
    Delta,
    FinishDelta,
    FinishReason,
    OpaqueDelta,
    ReasoningDelta,
    TextDelta,
    Usage,
    UsageDelta,
)
from freya_teach.llm.refusal import raise_for_error
from freya_teach.llm.wirejson import as_dict, as_int, as_list, as_text, encode

Body = dict[str, Json]
UNDERSTOOD = {"text", "functionCall", "thought", "thoughtSignature", "thought_signature"}
"""What a part may hold that is read; with anything else it is a part of a kind of its own."""

FILTERED = (
    "SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII LANGUAGE ESCALATION MODEL_ARMOR JAILBREAK "
    "IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION IMAGE_OTHER"
)
FAILED = (
    "MALFORMED_FUNCTION_CALL MALFORMED_RESPONSE UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS "
    "MISSING_THOUGHT_SIGNATURE"
)
FINISH_REASONS: dict[str, FinishReason] = {
    "STOP": "stop",
    "1": "stop",  # the number of STOP, where a gateway sends enums as numbers
    "MAX_TOKENS": "length",
    "2": "length",
    "CONTINUATION": "length",
    **dict.fromkeys(FILTERED.split(), "content_filter"),
    **dict.fromkeys(FAILED.split(), "error"),
}
"""An open list: what is not in it is "unknown", and the provider's own word is kept beside it."""


def parse_chunk(chunk: Json) -> Iterator[Delta]:
    """What one chunk says. Raises `ProviderError` for an error inside a 200."""
    raise_for_error(NAME, 200, chunk)
    candidates = as_list(chunk.get("candidates"))
    if candidates:
        yield from _candidate(as_dict(candidates[0]))
    if blocked := as_text(as_dict(chunk.get("promptFeedback")).get("blockReason")):
        yield FinishDelta("content_filter", blocked)
    if usage := as_dict(chunk.get("usageMetadata")):
        yield UsageDelta(_usage(usage))


def _candidate(candidate: Body) -> Iterator[Delta]:
    for part in as_list(as_dict(candidate.get("content")).get("parts")):
        yield from _part(as_dict(part))
    reason = candidate.get("finishReason")
    if reason and isinstance(reason, str | int):
        raw = str(reason)
        yield FinishDelta(FINISH_REASONS.get(raw, "unknown"), raw)


def _part(part: Body) -> Iterator[Delta]:
    signature = as_text(part.get("thoughtSignature")) or as_text(part.get("thought_signature"))
    data = ProviderData(NAME, {"signature": signature}) if signature else NO_DATA
    if call := as_dict(part.get("functionCall")):
        arguments = encode(as_dict(call.get("args"))).decode()
        yield CallDelta(
            id=as_text(call.get("id")),
            name=as_text(call.get("name")),
            arguments=arguments,
            whole=True,
            provider_data=data,
        )
    elif isinstance(part.get("text"), str):
        kind = ReasoningDelta if part.get("thought") is True else TextDelta
        yield kind(part["text"], data)
    elif set(part) - UNDERSTOOD:
        yield OpaqueDelta(opaque_from_wire(part))


def _usage(usage: Body) -> Usage:
    thoughts = as_int(usage.get("thoughtsTokenCount"))
    input_tokens = as_int(usage.get("promptTokenCount")) + as_int(
        usage.get("toolUsePromptTokenCount")
    )
    output_tokens = as_int(usage.get("candidatesTokenCount")) + thoughts
    return Usage(
        input_tokens,
        output_tokens,
        as_int(usage.get("totalTokenCount")) or input_tokens + output_tokens,
        thoughts,
        as_int(usage.get("cachedContentTokenCount")),
    )
