"""Any recorded exchange, and what the kernel understands of it. (chapter 4.2)

Hold your own traffic against the kernel: the request's history as neutral messages, the answer's
text, reasoning, calls, finish reason and usage, or the typed error that it is. Nothing is guessed
from the file's name; which wire it is tells the address, else the shape of the bodies.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never
from urllib.parse import unquote

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
from freya_teach.llm.redaction import REDACTED, SECRET_IN_URL, redact_all
from freya_teach.llm.refusal import raise_for_error
from freya_teach.llm.sse import ChunkDecoder, parse_json
from freya_teach.llm.wirejson import as_dict, as_int, as_list, as_text, encode

READERS = {"openai": openai_messages.read_request, "gemini": gemini_messages.read_request}
NEITHER = "neither OpenAI's Chat Completions nor Gemini's generateContent"
NO_ANSWER = "no answer came, or none was kept"
OTHER_WIRES = ("/messages", "/responses")
"""How the addresses of Anthropic's wire and of OpenAI's other one end: we do not speak them."""
ADAPTERS = {"openai": openai.ADAPTER, "gemini": gemini.ADAPTER}

SECRET_NAME = re.compile(r"key|token|secret|auth|cookie|session|password|signature", re.IGNORECASE)
SHORTEST_SECRET = 8
"""Shorter values are no keys ("EMPTY", "ollama"), and may stand anywhere in a text."""


@dataclass(frozen=True, slots=True)
class HttpExchange:
    """One request and its response, wherever they were kept.

    `headers` are the answer's. Of the request's headers and address only the `secrets` are kept,
    so that they are told nowhere, even where the other end quoted them back.
    """

    name: str
    url: str = field(repr=False)
    request: Json
    status: int
    headers: Mapping[str, str]
    response: bytes
    secrets: tuple[str, ...] = field(default=(), repr=False)


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
    secrets: tuple[str, ...] = field(default=(), repr=False)


def understand(exchange: HttpExchange) -> Understood:
    """Read both halves. An error of ours is part of the result; nothing is raised."""
    return replace(_understand(exchange), secrets=exchange.secrets)


def _understand(exchange: HttpExchange) -> Understood:
    wire = wire_of(exchange)
    if not wire:
        return Understood(exchange.name, "", note=NEITHER)
    try:
        request, unread = READERS[wire](exchange.request), None
    except FreyaError as problem:
        request, unread = ModelRequest(()), problem
    if not exchange.status and not exchange.response:
        return Understood(exchange.name, wire, request, error=unread, note=NO_ANSWER)
    try:
        _raise_refusal(wire, exchange)
        if note := _other_question(exchange):
            usage = Usage(input_tokens=_counted(exchange), total_tokens=_counted(exchange))
            return Understood(exchange.name, wire, request, usage=usage, note=note)
        reply = read_reply(ADAPTERS[wire], [exchange.response], known=_names(request))
    except FreyaError as problem:
        return Understood(exchange.name, wire, request, error=problem)
    return Understood(exchange.name, wire, request, reply, reply.usage, error=unread)


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
    if exchange.url.partition("?")[0].endswith(OTHER_WIRES):
        return ""
    return _wire_by_shape(exchange)


def _wire_by_shape(exchange: HttpExchange) -> str:
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
    if exchange.request is not None:
        return ""
    answer = as_dict(parse_json(exchange.response))
    if models := as_list(answer.get("data")) or as_list(answer.get("models")):
        return f"a list of {len(models)} models"
    if answer.get("object") == "model":
        return "the description of one model"
    return "no question to a model: the request has no body"


def _counted(exchange: HttpExchange) -> int:
    try:
        return as_int(as_dict(parse_json(exchange.response)).get("totalTokens"))
    except LLMError:
        return 0


def _names(request: ModelRequest) -> frozenset[str]:
    return frozenset(tool.name for tool in request.tools)


# ---- as plain values -----------------------------------------------------------------------


def as_json(understood: Understood) -> dict[str, Json]:
    """The result as one JSON object, for other programs, without the exchange's secrets."""
    reply = understood.reply
    message = reply.message if reply else AssistantMessage(())
    usage = understood.usage
    told: dict[str, Json] = {
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
    return as_dict(redact_all(told, understood.secrets))


def answer_as_json(understood: Understood) -> dict[str, Json] | None:
    """The answer as one message, its parts in their order, without the exchange's secrets."""
    if understood.reply is None:
        return None
    return as_dict(redact_all(message_as_json(understood.reply.message), understood.secrets))


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
                return {"type": "image", "url": SECRET_IN_URL.sub(rf"\1{REDACTED}", part.url)}
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


def exchange_from_recording(name: str, data: Json) -> HttpExchange | None:
    """From the format of the course's recordings, or nothing when it is of another kind."""
    request, response = (
        as_dict(as_dict(data).get("request")),
        as_dict(as_dict(data).get("response")),
    )
    status, body = response.get("status"), response.get("body")
    if not isinstance(status, int) or not isinstance(request.get("url"), str):
        return None
    return HttpExchange(
        name,
        request["url"],
        request.get("body"),
        status,
        header_fields(response.get("headers")),
        body.encode("utf-8", "backslashreplace") if isinstance(body, str) else encode(body),
        secrets_in(request["url"], header_fields(request.get("headers"))),
    )


def exchange_from_log(name: str, entry: dict[str, Json]) -> HttpExchange:
    """From an exchange of `request_log.read_log`, which has no keys; status 0 is no answer."""
    sent, reply = as_dict(entry["request"]), as_dict(entry["reply"])
    return HttpExchange(
        name,
        url=str(sent.get("url", "")),
        request=sent.get("body", {}),
        status=as_int(reply.get("status")),
        headers={},
        response=str(reply.get("body", "")).encode(),
    )


def header_fields(headers: Json) -> dict[str, str]:
    """The headers by their names in lower case."""
    return {name.lower(): as_text(value) for name, value in as_dict(headers).items()}


def secrets_in(url: str, headers: Mapping[str, str]) -> tuple[str, ...]:
    """What may not be told again: the values of all headers and parameters that name a secret.

    >>> secrets_in("https://host.invalid/v1?key=not-a-key", {"api-key": "no-key-needed"})
    ('no-key-needed', 'not-a-key')
    """
    parameters = re.findall(r"[?&]([^=&#]+)=([^&#]*)", url)
    named = [*headers.items(), *parameters, *((n, unquote(value)) for n, value in parameters)]
    values = [v for name, v in named if SECRET_NAME.search(name) and not name.startswith(":")]
    values += re.findall(r"//([^/@]+)@", url)
    pieces = {piece for value in values for piece in (value, *re.split(r"[\s;:=,]+", value))}
    return tuple(sorted((p for p in pieces if len(p) >= SHORTEST_SECRET), key=len, reverse=True))
