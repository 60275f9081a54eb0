"""A neutral message in OpenAI's form, and back. (chapter 5.2)

The way back reads what `openai.build_request` writes and what others write: a history that was
stored in OpenAI's form can be carried on here, over either wire. What is meant is kept: texts,
images, calls, results, reasoning, and any other content part as an opaque one. What only steers
a server is not: `name`, `cache_control`, `detail`, `prefix`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import assert_never

from freya_teach.errors import TranscriptError, UnsupportedContent
from freya_teach.llm import call_arguments
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
    UserPart,
)
from freya_teach.llm.protocol import ModelRequest, Route, ToolSpec
from freya_teach.llm.wirejson import as_dict, as_int, as_list, as_text, encode, legal_name

NAME = "openai"
Body = dict[str, Json]

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Not OpenAI's own: DeepSeek and others use the first name, OpenRouter and Groq the second."""


LEGACY_ID = "function_call_{}"
"""Before tools there were functions, which had no ids; their calls get one of this form."""


# ---- there ---------------------------------------------------------------------------------


def message_to_wire(message: Message, route: Route) -> Body:
    """One neutral message in the form that this route's server takes."""
    if isinstance(message, AssistantMessage):
        return _assistant_to_wire(message, route)
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
    if isinstance(message, UserMessage):
        return {"role": "user", "content": _user_content(message.parts)}
    if isinstance(message, SystemMessage):
        return {"role": route.facts.system_role, "content": message.text}
    assert_never(message)


def _user_content(parts: tuple[UserPart, ...]) -> Json:
    if not parts:  # an empty list is refused, an empty text is not
        return ""
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return [_content_to_wire(part) for part in parts]


def _content_to_wire(part: UserPart) -> Body:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    if isinstance(part, ImagePart):
        data = base64.b64encode(part.data).decode("ascii")
        url = part.url or f"data:{part.media_type};base64,{data}"
        return {"type": "image_url", "image_url": {"url": url}}
    if isinstance(part, OpaquePart):
        return part.as_sent(NAME)
    assert_never(part)


def _assistant_to_wire(message: AssistantMessage, route: Route) -> Body:
    """`content` may be null only beside tool calls, and at some servers not even there."""
    said: list[TextPart | OpaquePart] = []
    thought: list[ReasoningPart] = []
    calls: list[Body] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            calls.append(_call_to_wire(part))
        elif isinstance(part, ReasoningPart):
            thought.append(part)
        else:
            said.append(part)
    content = _said_content(said) or (route.facts.content_with_calls if calls else "")
    wire: Body = {"role": "assistant", "content": content}
    if calls:
        wire["tool_calls"] = calls
    for part in thought:
        if _is_of(part.provider_data, route):
            _give_reasoning_back(wire, part.text, part.provider_data.data)
    return wire


def _said_content(parts: Sequence[TextPart | OpaquePart]) -> Json:
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    if len(texts) == len(parts):
        return "".join(texts)
    return [_content_to_wire(part) for part in parts]


def _is_of(data: ProviderData, route: Route) -> bool:
    """Whether this server may see it: it is its own, or was read from a stored conversation.

    What another server has sealed is nothing that this one could open. The public endpoint, whose
    issuer is the wire's bare name too, shows no reasoning on this wire.
    """
    return data.issuer == NAME or (data.wire == NAME and data.issuer == route.issuer)


def _call_to_wire(call: ToolCall) -> Body:
    if call.provider_data.wire == NAME and call.provider_data.data.get("custom"):
        custom = {"name": call.name, "input": call.arguments}
        return {"id": call.id, "type": "custom", "custom": custom}
    function = {"name": legal_name(call.name), "arguments": call_arguments.as_text(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _give_reasoning_back(wire: Body, text: str, data: Json) -> None:
    """Under the field it came in: DeepSeek and OpenRouter want it in the middle of a tool turn."""
    if "detail" in data:
        wire.setdefault("reasoning_details", []).append(data["detail"])
    elif "field" in data:
        wire[data["field"]] = wire.get(data["field"], "") + text


# ---- back ----------------------------------------------------------------------------------


def read_request(body: Json) -> ModelRequest:
    """The request's meaning.

    Raises `UnsupportedContent` for a role or a part that the wire does not have, and
    `TranscriptError` for a result that does not name its call.
    """
    body = as_dict(body)
    messages: list[Message] = []
    for entry in map(as_dict, as_list(body.get("messages"))):
        messages.append(message_from_wire(entry, len(messages)))
    limit = as_int(body.get("max_completion_tokens")) or as_int(body.get("max_tokens"))
    return ModelRequest(
        tuple(messages), tuple(_tools(body)), body.get("stream") is True, limit or None
    )


def message_from_wire(entry: Body, number: int) -> Message:
    """One message in OpenAI's form as a neutral one; `number` is its place in the history."""
    match entry.get("role"):
        case "system" | "developer":
            return SystemMessage(_text(entry.get("content")))
        case "user":
            return UserMessage(tuple(_content(entry.get("content"))))
        case "assistant":
            return AssistantMessage(tuple(_assistant_parts(entry, number)))
        case "tool":
            call_id = as_text(entry.get("tool_call_id"))
            if not call_id:
                raise TranscriptError(f"message {number} is the result of no call: it has no id")
            return ToolMessage(call_id, _text(entry.get("content")))
        case "function":
            return ToolMessage(LEGACY_ID.format(number - 1), _text(entry.get("content")))
        case role:
            raise UnsupportedContent(f"message {number} has the role {role!r}")


def _assistant_parts(entry: Body, number: int) -> Iterator[AssistantPart]:
    yield from reasoning_from_wire(entry)
    for part in _content(entry.get("content")):
        if isinstance(part, ImagePart):
            raise UnsupportedContent(f"message {number}: an image from the assistant")
        yield part
    if refusal := as_text(entry.get("refusal")):
        yield TextPart(refusal)
    for call in map(as_dict, as_list(entry.get("tool_calls"))):
        yield call_from_wire(call)
    if function := as_dict(entry.get("function_call")):
        yield call_from_wire({"id": LEGACY_ID.format(number), "function": function})


def call_from_wire(call: Body) -> ToolCall:
    """A call, or a piece of one: its arguments as the text they are, or as GLM's bare object."""
    if custom := as_dict(call.get("custom")):
        data = ProviderData(NAME, {"custom": True})
        return ToolCall(
            as_text(call.get("id")), as_text(custom.get("name")), as_text(custom.get("input")), data
        )
    function = as_dict(call.get("function"))
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else encode(arguments).decode()
    return ToolCall(as_text(call.get("id")), as_text(function.get("name")), arguments)


def reasoning_from_wire(entry: Body) -> Iterator[ReasoningPart]:
    """The thinking in a message or a piece of one, marked with the field it has to go back in."""
    details = [as_dict(detail) for detail in as_list(entry.get("reasoning_details"))]
    texts = [as_text(d.get("text")) or as_text(d.get("summary")) for d in details]
    for detail, text in zip(details, texts, strict=True):
        yield ReasoningPart(text, ProviderData(NAME, {"detail": detail}))
    if any(texts):  # the plain fields repeat the same words; beside sealed details they do not
        return
    for name in REASONING_FIELDS:
        if text := as_text(entry.get(name)):
            yield ReasoningPart(text, ProviderData(NAME, {"field": name}))
            return


def _content(content: Json) -> Iterator[TextPart | ImagePart | OpaquePart]:
    if isinstance(content, str) and content:
        yield TextPart(content)
    for part in map(as_dict, as_list(content)):
        yield _content_part(part)


def _content_part(part: Body) -> TextPart | ImagePart | OpaquePart:
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
    except ValueError:  # `binascii.Error` is one; another comes for a character that is not ASCII
        raise UnsupportedContent("an image whose data URL is not base64") from None


def _text(content: Json) -> str:
    """Text, or the texts of a list of parts; another part has no place in these messages."""
    parts = list(_content(content))
    for part in parts:
        if not isinstance(part, TextPart):
            kind = part.kind if isinstance(part, OpaquePart) else "image_url"
            raise UnsupportedContent(f"a part of type {kind!r} outside a user's message")
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def _tools(body: Body) -> Iterator[ToolSpec]:
    functions = [as_dict(tool).get("function") for tool in as_list(body.get("tools"))]
    for function in map(as_dict, [*functions, *as_list(body.get("functions"))]):
        if function:
            yield ToolSpec(
                as_text(function.get("name")),
                as_text(function.get("description")),
                as_dict(function.get("parameters")),
                function.get("strict") is True,
            )
