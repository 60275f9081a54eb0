"""A generateContent request, read back into neutral messages. (chapter 5.2)

The way back from what `gemini.build_request` writes, and from what others write: snake_case keys,
calls and results without ids (they are matched by name, in order, and get ids of ours), results
and words in one content, `parts` that is one object.

Parts of other types are kept as opaque ones: `fileData`, `executableCode`, `codeExecutionResult`,
`toolCall`, `toolResponse`, and `inlineData` that is no image.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from freya_teach.errors import TranscriptError, UnsupportedContent
from freya_teach.llm import transcript
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
from freya_teach.llm.protocol import ModelRequest, ToolSpec
from freya_teach.llm.wirejson import as_dict, as_int, as_list, as_text, encode

NAME = "gemini"
OPAQUE_KINDS = (
    "fileData",
    "inlineData",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)
Body = dict[str, Json]


def read_request(body: Json) -> ModelRequest:
    """The request's meaning.

    Raises `UnsupportedContent` for a role or a part that the wire does not have, and
    `TranscriptError` for a result whose call cannot be found.
    """
    body = _camel(as_dict(body))
    reader = _Reader()
    for text in _system_texts(body):
        reader.messages.append(SystemMessage(text))
    for content in map(as_dict, as_list(body.get("contents"))):
        reader.read(content)
    config = _camel(as_dict(body.get("generationConfig")))
    limit = as_int(config.get("maxOutputTokens")) or None
    return ModelRequest(tuple(reader.messages), tuple(_tools(body)), max_output_tokens=limit)


@dataclass(slots=True)
class _Reader:
    """Reads the contents in order, and knows which calls are still waiting for their result."""

    messages: list[Message] = field(default_factory=list)
    used_ids: set[str] = field(default_factory=set)
    waiting: list[ToolCall] = field(default_factory=list)

    def read(self, content: Body) -> None:
        role = content.get("role", "user")
        parts = content.get("parts")
        parts = [_camel(as_dict(part)) for part in ([parts] if isinstance(parts, dict) else parts)]
        if role == "model":
            self._read_model(parts)
        elif role in ("user", "function"):
            self._read_user(parts)
        else:
            raise UnsupportedContent(f"a content has the role {role!r}")

    def _read_model(self, parts: list[Body]) -> None:
        message = AssistantMessage(tuple(_model_part(part) for part in parts))
        message = transcript.assign_ids(message, self.used_ids, NAME)
        self.waiting += message.tool_calls
        self.messages.append(message)

    def _read_user(self, parts: list[Body]) -> None:
        """Results come first and words after them, whatever the order inside the content."""
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        said = tuple(_user_part(part) for part in parts if "functionResponse" not in part)
        self.messages += [self._result(as_dict(result)) for result in results]
        if said:
            self.messages.append(UserMessage(said))

    def _result(self, result: Body) -> ToolMessage:
        call = self._call_of(as_text(result.get("id")), as_text(result.get("name")))
        self.waiting.remove(call)
        response = as_dict(result.get("response"))
        if result.get("parts"):
            raise UnsupportedContent("a functionResponse with parts of its own")
        key = "error" if "error" in response and "output" not in response else "output"
        value = response.get(key, response)
        text = value if isinstance(value, str) else encode(value).decode()
        return ToolMessage(call.id, text, is_error=key == "error")

    def _call_of(self, native_id: str, name: str) -> ToolCall:
        for call in self.waiting:
            if native_id and native_id in (call.id, call.provider_data.data.get("id")):
                return call
        for call in self.waiting:
            if call.name == name:
                return call
        raise TranscriptError(f"a result for {name!r} ({native_id!r}), which was not called")


def _model_part(part: Body) -> AssistantPart | OpaquePart:
    signature = as_text(part.get("thoughtSignature"))
    data = ProviderData(NAME, {"signature": signature}) if signature else NO_DATA
    if "functionCall" in part:
        call = _camel(as_dict(part["functionCall"]))
        arguments = encode(as_dict(call.get("args"))).decode()
        return ToolCall(as_text(call.get("id")), as_text(call.get("name")), arguments, data)
    if isinstance(part.get("text"), str):
        kind = ReasoningPart if part.get("thought") is True else TextPart
        return kind(part["text"], data)
    return _opaque(part)


def _user_part(part: Body) -> UserPart | OpaquePart:
    if isinstance(part.get("text"), str):
        return TextPart(part["text"])
    inline = _camel(as_dict(part.get("inlineData")))
    if as_text(inline.get("mimeType")).startswith("image/"):
        try:
            data = base64.b64decode(as_text(inline.get("data")), validate=True)
        except binascii.Error:
            raise UnsupportedContent("an image whose inlineData is not base64") from None
        return ImagePart(inline["mimeType"], data)
    return _opaque(part)


def _opaque(part: Body) -> OpaquePart:
    for kind in OPAQUE_KINDS:
        if kind in part:
            return OpaquePart(kind, ProviderData(NAME, part))
    raise UnsupportedContent(f"a part with the fields {', '.join(sorted(part)) or '(none)'}")


def _system_texts(body: Body) -> Iterator[str]:
    instruction = body.get("systemInstruction")
    if isinstance(instruction, str):
        yield instruction
    parts = as_dict(instruction).get("parts")
    for part in [parts] if isinstance(parts, dict) else as_list(parts):
        if text := as_text(as_dict(part).get("text")):
            yield text


def _tools(body: Body) -> Iterator[ToolSpec]:
    tools = body.get("tools")
    for tool in [tools] if isinstance(tools, dict) else as_list(tools):
        for entry in as_list(_camel(as_dict(tool)).get("functionDeclarations")):
            declared = _camel(as_dict(entry))
            schema = declared.get("parametersJsonSchema") or declared.get("parameters")
            yield ToolSpec(
                as_text(declared.get("name")),
                as_text(declared.get("description")),
                as_dict(schema),
            )


def _camel(body: Body) -> Body:
    """proto3 JSON takes `function_call` for `functionCall`; requests in the wild use both."""
    return {re.sub(r"_([a-z])", lambda m: m[1].upper(), key): value for key, value in body.items()}
