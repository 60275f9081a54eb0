"""Any recorded exchange, and what the kernel understands of it. (chapter 4.2)

Hold your own traffic against the kernel: the request's history as neutral messages, the answer's
text, reasoning, calls, finish reason and usage, or the typed error that it is. Nothing is guessed
from the file's name; which wire it is tells the address, else the shape of the bodies.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from freya_teach.errors import FreyaError, LLMError
from freya_teach.llm import gemini, gemini_messages, openai, openai_messages
from freya_teach.llm.assembler import Assembler
from freya_teach.llm.messages import (
    AssistantMessage,
    ImagePart,
    Json,
    Message,
    OpaquePart,
    ReasoningPart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from freya_teach.llm.protocol import Adapter, ModelRequest, Reply, Usage
from freya_teach.llm.refusal import raise_for_error
from freya_teach.llm.sse import ChunkDecoder, parse_json
from freya_teach.llm.wirejson import as_dict, as_int

READERS = {"openai": openai_messages.read_request, "gemini": gemini_messages.read_request}
ADAPTERS = {"openai": openai.ADAPTER, "gemini": gemini.ADAPTER}


@dataclass(frozen=True, slots=True)
class HttpExchange:
    """One request and its response, wherever they were kept."""

    name: str
    url: str
    request: Json
    status: int
    headers: Mapping[str, str]
    response: bytes


@dataclass(frozen=True, slots=True)
class Understood:
    """What the kernel makes of an exchange; `note` says so when it is no question to a model."""

    name: str
    wire: str
    request: ModelRequest = field(default_factory=lambda: ModelRequest(()))
    reply: Reply | None = None
    usage: Usage = field(default_factory=Usage)
    error: FreyaError | None = None
    note: str = ""


def understand(exchange: HttpExchange) -> Understood:
    """Read both halves. An error of ours is part of the result; nothing is raised."""
    wire = wire_of(exchange)
    if not wire:
        return Understood(exchange.name, "", note="neither OpenAI's wire nor Gemini's")
    try:
        request, unread = READERS[wire](exchange.request), None
    except FreyaError as problem:
        request, unread = ModelRequest(()), problem
    try:
        _raise_refusal(wire, exchange)
        if unread:
            raise unread
        if note := _other_question(exchange):
            usage = Usage(input_tokens=_counted(exchange), total_tokens=_counted(exchange))
            return Understood(exchange.name, wire, request, usage=usage, note=note)
        reply = read_reply(ADAPTERS[wire], [exchange.response], known=_names(request))
    except FreyaError as problem:
        return Understood(exchange.name, wire, request, error=problem)
    return Understood(exchange.name, wire, request, reply, reply.usage)


def read_reply(adapter: Adapter, pieces: list[bytes], known: frozenset[str] = frozenset()) -> Reply:
    """The reply in a body, in whatever pieces it came. Raises `LLMError`."""
    decoder, assembler = ChunkDecoder(), Assembler(known)
    for piece in pieces:
        for chunk in decoder.feed(piece):
            for delta in adapter.parse_chunk(chunk):
                assembler.add(delta)
    for chunk in decoder.end():
        for delta in adapter.parse_chunk(chunk):
            assembler.add(delta)
    return assembler.finish(complete=decoder.finished)


def wire_of(exchange: HttpExchange) -> str:
    """`openai`, `gemini`, or nothing: by the address, else by what the bodies hold."""
    if "/chat/completions" in exchange.url:
        return "openai"
    if ":generateContent" in exchange.url or ":streamGenerateContent" in exchange.url:
        return "gemini"
    request = as_dict(exchange.request)
    if "messages" in request or b'"choices"' in exchange.response[:2000]:
        return "openai"
    if "contents" in request or "generateContentRequest" in request:
        return "gemini"
    if "googleapis.com" in exchange.url:
        return "gemini"
    return "openai" if exchange.url.rstrip("/").partition("/v1/")[1] else ""


def _raise_refusal(wire: str, exchange: HttpExchange) -> None:
    if exchange.status < 400:
        return
    try:
        body = parse_json(exchange.response)
    except LLMError:
        body = {"error": {"message": exchange.response[:300].decode("utf-8", "replace")}}
    raise_for_error(wire, exchange.status, body, exchange.headers)


def _other_question(exchange: HttpExchange) -> str:
    """Not every request asks a model: what it is instead, in words."""
    if ":countTokens" in exchange.url:
        return f"a count of tokens: {_counted(exchange)}"
    if exchange.request is None:
        return "no request to a model: it has no body"
    return ""


def _counted(exchange: HttpExchange) -> int:
    try:
        return as_int(as_dict(parse_json(exchange.response)).get("totalTokens"))
    except LLMError:
        return 0


def _names(request: ModelRequest) -> frozenset[str]:
    return frozenset(tool.name for tool in request.tools)


# ---- as plain values -----------------------------------------------------------------------


def as_json(understood: Understood) -> dict[str, Json]:
    """The result as one JSON object, for other programs."""
    reply = understood.reply
    message = reply.message if reply else AssistantMessage(())
    usage = understood.usage
    return {
        "file": understood.name,
        "wire": understood.wire,
        "messages": [message_as_json(m) for m in understood.request.messages],
        "text": message.text,
        "reasoning": message.reasoning,
        "tool_calls": [_call_as_json(call) for call in message.tool_calls],
        "finish_reason": reply.finish_reason if reply else None,
        "raw_finish_reason": reply.raw_finish_reason if reply else None,
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "total_tokens": usage.total_tokens,
        },
        "error": _error_as_json(understood.error),
        "note": understood.note,
    }


def message_as_json(message: Message) -> dict[str, Json]:
    """A neutral message; of an image only its type, its size in bytes and its hash."""
    match message:
        case SystemMessage():
            return {"role": "system", "text": message.text}
        case UserMessage() | AssistantMessage():
            return {"role": message.role, "parts": [_part_as_json(p) for p in message.parts]}
        case ToolMessage():
            return {
                "role": "tool",
                "call_id": message.call_id,
                "text": message.text,
                "is_error": message.is_error,
            }
        case _:
            assert_never(message)


def _part_as_json(
    part: TextPart | ReasoningPart | ToolCall | ImagePart | OpaquePart,
) -> dict[str, Json]:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case ReasoningPart():
            return {"type": "reasoning", "text": part.text}
        case ToolCall():
            return {"type": "tool_call", **_call_as_json(part)}
        case ImagePart():
            if part.url:
                return {"type": "image", "url": part.url}
            digest = hashlib.sha256(part.data).hexdigest()
            size = len(part.data)
            return {"type": "image", "media_type": part.media_type, "bytes": size, "sha256": digest}
        case OpaquePart():
            return {"type": "opaque", "kind": part.kind}
        case _:
            assert_never(part)


def _call_as_json(call: ToolCall) -> dict[str, Json]:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


def _error_as_json(error: FreyaError | None) -> dict[str, Json] | None:
    if error is None:
        return None
    status = error.status if isinstance(error, LLMError) else None
    text = error.provider_text if isinstance(error, LLMError) else ""
    return {"kind": error.kind, "status": status, "provider_text": text, "message": str(error)}


def exchange_from_recording(name: str, data: Json) -> HttpExchange:
    """From the format of the course's recordings. Raises `KeyError` or `TypeError`."""
    body = data["response"]["body"]
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return HttpExchange(
        name,
        data["request"]["url"],
        data["request"]["body"],
        data["response"]["status"],
        data["response"].get("headers", {}),
        text.encode("utf-8", "backslashreplace"),
    )
