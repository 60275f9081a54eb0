"""A Chat Completions request, read back into neutral messages. (chapter 5.2)

The way back from what `openai.build_request` writes, and from what others write: a history that
was stored in OpenAI's form can be carried on here, over either wire.

What is meant is kept: texts, images, calls, results, reasoning, and any other content part as an
opaque one. What only steers a server is not: `name`, `cache_control`, `detail`, `prefix`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from freya_teach.errors import UnsupportedContent
from freya_teach.llm.messages import (
    AssistantMessage,
    AssistantPart,
    ImagePart,
    Json,
    Message,
    OpaquePart,
    ProviderData,
    ReasoningPart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from freya_teach.llm.protocol import ModelRequest, ToolSpec
from freya_teach.llm.wirejson import as_dict, as_int, as_list, as_text, encode

NAME = "openai"
LEGACY_ID = "function_call_{}"
"""Before tools there were functions, which had no ids; their calls get one of this form."""


def read_request(body: Json) -> ModelRequest:
    """The request's meaning. Raises `UnsupportedContent` for a role that the wire does not have."""
    body = as_dict(body)
    messages: list[Message] = []
    for entry in map(as_dict, as_list(body.get("messages"))):
        messages.append(_message(entry, len(messages)))
    limit = as_int(body.get("max_completion_tokens")) or as_int(body.get("max_tokens"))
    return ModelRequest(
        tuple(messages), tuple(_tools(body)), body.get("stream") is True, limit or None
    )


def _message(entry: dict[str, Json], number: int) -> Message:
    match entry.get("role"):
        case "system" | "developer":
            return SystemMessage(_text(entry.get("content")))
        case "user":
            return UserMessage(tuple(_content(entry.get("content"))))
        case "assistant":
            return AssistantMessage(tuple(_assistant_parts(entry, number)))
        case "tool":
            return ToolMessage(as_text(entry.get("tool_call_id")), _text(entry.get("content")))
        case "function":
            return ToolMessage(LEGACY_ID.format(number - 1), _text(entry.get("content")))
        case role:
            raise UnsupportedContent(f"message {number} has the role {role!r}")


def _assistant_parts(entry: dict[str, Json], number: int) -> Iterator[AssistantPart]:
    yield from _reasoning(entry)
    for part in _content(entry.get("content")):
        if isinstance(part, ImagePart):
            raise UnsupportedContent(f"message {number}: an image from the assistant")
        yield part
    if refusal := as_text(entry.get("refusal")):
        yield TextPart(refusal)
    for call in map(as_dict, as_list(entry.get("tool_calls"))):
        if "function" not in call:
            raise UnsupportedContent(f"message {number}: a tool call of type {call.get('type')!r}")
        yield _call(as_text(call.get("id")), as_dict(call["function"]))
    if function := as_dict(entry.get("function_call")):
        yield _call(LEGACY_ID.format(number), function)


def _call(id_: str, function: dict[str, Json]) -> ToolCall:
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else encode(arguments).decode()
    return ToolCall(id_, as_text(function.get("name")), arguments)


def _reasoning(entry: dict[str, Json]) -> Iterator[ReasoningPart]:
    """As `openai.parse_chunk` stores it, so that it goes back under the field it came in."""
    details = [as_dict(detail) for detail in as_list(entry.get("reasoning_details"))]
    for detail in details:
        text = as_text(detail.get("text")) or as_text(detail.get("summary"))
        yield ReasoningPart(text, ProviderData(NAME, {"detail": detail}))
    if details:
        return
    for name in ("reasoning_content", "reasoning"):
        if text := as_text(entry.get(name)):
            yield ReasoningPart(text, ProviderData(NAME, {"field": name}))
            return


def _content(content: Json) -> Iterator[TextPart | ImagePart | OpaquePart]:
    if isinstance(content, str) and content:
        yield TextPart(content)
    for part in map(as_dict, as_list(content)):
        yield _content_part(part)


def _content_part(part: dict[str, Json]) -> TextPart | ImagePart | OpaquePart:
    kind = as_text(part.get("type"))
    if kind in ("text", "refusal") and isinstance(part.get(kind), str):
        return TextPart(part[kind])
    if kind == "image_url":
        image = part.get("image_url")
        return _image(image if isinstance(image, str) else as_text(as_dict(image).get("url")))
    return OpaquePart(kind, ProviderData(NAME, part))


def _image(url: str) -> ImagePart:
    """A data URL's bytes, or the address as it is. Source: RFC 2397."""
    head, _, data = url.partition(";base64,")
    if not head.startswith("data:"):
        return ImagePart("", url=url)
    try:
        return ImagePart(head.removeprefix("data:"), base64.b64decode(data, validate=True))
    except binascii.Error:
        raise UnsupportedContent("an image whose data URL is not base64") from None


def _text(content: Json) -> str:
    """Text, or the texts of a list of parts; another part has no place in these messages."""
    parts = list(_content(content))
    for part in parts:
        if not isinstance(part, TextPart):
            kind = part.kind if isinstance(part, OpaquePart) else "image_url"
            raise UnsupportedContent(f"a part of type {kind!r} outside a user's message")
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def _tools(body: dict[str, Json]) -> Iterator[ToolSpec]:
    functions = [as_dict(tool).get("function") for tool in as_list(body.get("tools"))]
    for function in map(as_dict, [*functions, *as_list(body.get("functions"))]):
        if function:
            yield ToolSpec(
                as_text(function.get("name")),
                as_text(function.get("description")),
                as_dict(function.get("parameters")),
            )
