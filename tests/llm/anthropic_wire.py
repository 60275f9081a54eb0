"""A third wire, as an adapter of one's own would speak it: Anthropic's Messages.

Two pure functions. It does no more than the course's two-tool task needs: no images, no stream.
What differs from both other wires: the system prompt is a field; calls and results are blocks of
a message's content; a result says itself whether it is an error; the limit of the answer is
demanded. Source: Anthropic API reference, POST /v1/messages.
"""

from collections.abc import Iterator
from typing import Any

from freya_teach.llm import transcript
from freya_teach.llm.call_arguments import as_object
from freya_teach.llm.messages import AssistantMessage, Message, SystemMessage, ToolMessage
from freya_teach.llm.protocol import (
    Adapter,
    CallDelta,
    Delta,
    FinishDelta,
    FinishReason,
    ModelRequest,
    Route,
    TextDelta,
    Usage,
    UsageDelta,
    WireRequest,
)
from freya_teach.llm.refusal import raise_for_error
from freya_teach.llm.wirejson import encode, legal_name

NAME = "anthropic"
FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}


def build_request(request: ModelRequest, route: Route) -> WireRequest:
    """The request for this model. Raises `TranscriptError` for a broken history."""
    transcript.check(request.messages)
    body = {
        "model": route.model,
        "max_tokens": request.max_output_tokens or route.facts.max_output,
        "system": "\n\n".join(m.text for m in request.messages if isinstance(m, SystemMessage)),
        "messages": list(_turns(request.messages)),
        "tools": [
            {"name": t.name, "description": t.description, "input_schema": t.parameters}
            for t in request.tools
        ],
    }
    headers = {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": route.api_key,
    }
    return WireRequest(f"{route.endpoint}/v1/messages", headers, encode(body))


def _turns(messages: tuple[Message, ...]) -> Iterator[dict[str, Any]]:
    """Neighbours of one role are one message: the results of a turn, above all."""
    turn: dict[str, Any] = {}
    for message in messages:
        if isinstance(message, SystemMessage):
            continue
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        if turn and turn["role"] != role:
            yield turn
            turn = {}
        turn = turn or {"role": role, "content": []}
        turn["content"] += _blocks(message)
    if turn:
        yield turn


def _blocks(message: Message) -> list[dict[str, Any]]:
    if isinstance(message, ToolMessage):
        block = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
        return [{**block, "is_error": message.is_error}]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
    if isinstance(message, AssistantMessage):
        blocks += [
            {
                "type": "tool_use",
                "id": call.id,
                "name": legal_name(call.name),
                "input": as_object(call.arguments),
            }
            for call in message.tool_calls
        ]
    return blocks


def parse_chunk(chunk: Any) -> Iterator[Delta]:
    """What an answer says. Raises `ProviderError` for an error inside a 200."""
    raise_for_error(NAME, 200, chunk)
    for block in chunk["content"]:
        if block["type"] == "text":
            yield TextDelta(block["text"])
        elif block["type"] == "tool_use":
            arguments = encode(block["input"]).decode()
            yield CallDelta(id=block["id"], name=block["name"], arguments=arguments, whole=True)
    raw = chunk["stop_reason"]
    yield FinishDelta(FINISH.get(raw, "unknown"), raw)
    used, written = chunk["usage"]["input_tokens"], chunk["usage"]["output_tokens"]
    yield UsageDelta(Usage(used, written, used + written))


ADAPTER = Adapter(NAME, build_request, parse_chunk)
