"""Chunks of Chat Completions to deltas. (chapter 4.2)

A whole answer and a piece of a streamed one are read alike: one has `message`, the other `delta`.
Many servers speak this wire; what they do differently is noted where it matters.
"""

from __future__ import annotations

from collections.abc import Iterator

from freya_teach.llm.messages import Json
from freya_teach.llm.openai_messages import NAME, call_from_wire, reasoning_from_wire
from freya_teach.llm.protocol import (
    CallDelta,
    Delta,
    FinishDelta,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    Usage,
    UsageDelta,
)
from freya_teach.llm.refusal import raise_for_error
from freya_teach.llm.wirejson import as_dict, as_int, as_list, as_text

Body = dict[str, Json]

FINISH_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
    "error": "error",
}


def parse_chunk(chunk: Json) -> Iterator[Delta]:
    """What one chunk says. Raises `ProviderError` for an error inside a 200."""
    raise_for_error(NAME, 200, chunk)
    for choice in as_list(chunk.get("choices")):
        if as_int(as_dict(choice).get("index")) == 0:  # other candidates were not asked for
            yield from _choice(as_dict(choice))
            break
    usage = as_dict(chunk.get("usage")) or as_dict(as_dict(chunk.get("x_groq")).get("usage"))
    if usage:
        yield UsageDelta(_usage(usage))


def _choice(choice: Body) -> Iterator[Delta]:
    whole = isinstance(choice.get("message"), dict)
    said = as_dict(choice.get("message") if whole else choice.get("delta"))
    for part in reasoning_from_wire(said):
        yield ReasoningDelta(part.text, part.provider_data)
    yield from _content(said.get("content"))
    if refusal := as_text(said.get("refusal")):
        yield TextDelta(refusal)
    for call in as_list(said.get("tool_calls")):
        yield _call(as_dict(call), whole=whole)
    function = as_dict(said.get("function_call"))  # the form before tools, still answered
    if function.get("name") or function.get("arguments"):  # Snowflake sends an empty one always
        yield _call({"index": 0, "function": function}, whole=whole)
    if raw := as_text(choice.get("finish_reason")):
        yield FinishDelta(FINISH_REASONS.get(raw, "unknown"), raw)


def _content(content: Json) -> Iterator[Delta]:
    """Text, or a list of parts (Mistral's reasoning models)."""
    if isinstance(content, str) and content:
        yield TextDelta(content)
    for part in map(as_dict, as_list(content)):
        if thinking := as_list(part.get("thinking")):
            yield ReasoningDelta("".join(as_text(as_dict(t).get("text")) for t in thinking))
        elif text := as_text(part.get("text")):
            yield TextDelta(text)


def _call(call: Body, *, whole: bool) -> CallDelta:
    read = call_from_wire(call)
    index = call.get("index")
    return CallDelta(
        index=index if isinstance(index, int) else None,
        id=read.id,
        name=read.name,
        arguments=read.arguments,
        whole=whole,
        provider_data=read.provider_data,
    )


def _usage(usage: Body) -> Usage:
    input_tokens = as_int(usage.get("prompt_tokens"))
    output_tokens = as_int(usage.get("completion_tokens"))
    reasoning = as_int(as_dict(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    total = as_int(usage.get("total_tokens")) or input_tokens + output_tokens
    if total == input_tokens + output_tokens + reasoning:
        output_tokens += reasoning  # xAI counts reasoning beside the completion, others within
    cached = as_int(as_dict(usage.get("prompt_tokens_details")).get("cached_tokens"))
    return Usage(input_tokens, output_tokens, total, reasoning, cached)
