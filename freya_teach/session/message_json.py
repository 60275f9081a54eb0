"""The four messages as JSON and back, so that nothing is lost on the way. (chapter 6.3)

>>> message_to_json(ToolMessage("call_1", "12 °C"))
{'role': 'tool', 'call_id': 'call_1', 'text': '12 °C', 'is_error': False}

This is our own form, and no provider's: what only one provider understands is kept as it came.
"""

from __future__ import annotations

import base64

from freya_teach.llm.messages import (
    NO_DATA,
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

Part = UserPart | AssistantPart


def message_to_json(message: Message) -> dict[str, Json]:
    """A message as JSON; images become base64. Raises `TypeError` for anything else."""
    match message:
        case SystemMessage():
            return {"role": "system", "text": message.text}
        case ToolMessage():
            return {
                "role": "tool",
                "call_id": message.call_id,
                "text": message.text,
                "is_error": message.is_error,
            }
        case UserMessage() | AssistantMessage():
            return {"role": message.role, "parts": [_part_to_json(p) for p in message.parts]}
    raise TypeError(f"{message!r} is no message: make one of it, for example with user(…)")


def message_from_json(stored: Json) -> Message:
    """The message that `message_to_json` was given.

    Raises `ValueError`, `KeyError` or `TypeError` for anything else.
    """
    match stored["role"]:
        case "system":
            return SystemMessage(stored["text"])
        case "tool":
            return ToolMessage(stored["call_id"], stored["text"], stored["is_error"])
        case "user":
            return UserMessage(tuple(_part_from_json(part) for part in stored["parts"]))
        case "assistant":
            return AssistantMessage(tuple(_part_from_json(part) for part in stored["parts"]))
        case role:
            raise ValueError(f"no message has the role {role!r}")


def _part_to_json(part: Part) -> dict[str, Json]:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text, **_attached(part.provider_data)}
        case ReasoningPart():
            return {"type": "reasoning", "text": part.text, **_attached(part.provider_data)}
        case ToolCall():
            asked = {"id": part.id, "name": part.name, "arguments": part.arguments}
            return {"type": "call", **asked, **_attached(part.provider_data)}
        case ImagePart():
            data = base64.b64encode(part.data).decode("ascii")
            return {"type": "image", "media_type": part.media_type, "data": data, "url": part.url}
        case OpaquePart():
            return {"type": "opaque", "kind": part.kind, **_attached(part.provider_data)}
    raise TypeError(f"{part!r} is no part of a message")


def _part_from_json(stored: Json) -> Json:
    """Any part: which ones a message may hold was checked when it was built."""
    match stored["type"]:
        case "text":
            return TextPart(stored["text"], _detached(stored))
        case "reasoning":
            return ReasoningPart(stored["text"], _detached(stored))
        case "call":
            return ToolCall(stored["id"], stored["name"], stored["arguments"], _detached(stored))
        case "image":
            data = base64.b64decode(stored["data"], validate=True)
            return ImagePart(stored["media_type"], data, stored["url"])
        case "opaque":
            return OpaquePart(stored["kind"], _detached(stored))
        case type_:
            raise ValueError(f"no part has the type {type_!r}")


def _attached(data: ProviderData) -> dict[str, Json]:
    if data == NO_DATA:
        return {}
    return {"provider_data": {"issuer": data.issuer, "data": dict(data.data)}}


def _detached(stored: Json) -> ProviderData:
    if "provider_data" not in stored:
        return NO_DATA
    return ProviderData(stored["provider_data"]["issuer"], stored["provider_data"]["data"])
