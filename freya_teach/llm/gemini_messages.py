"""A neutral message in Gemini's form, and back. (chapter 5.2)

The way back reads what `gemini.build_request` writes and what others write: snake_case keys,
calls and results without ids (they are matched by name, in order, and get ids of ours), results
and words in one content, `parts` that is one object. Parts of other types are kept as opaque
ones; `OPAQUE_KINDS` lists them.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from freya_teach.errors import TranscriptError, UnsupportedContent
from freya_teach.llm import transcript
from freya_teach.llm.call_arguments import as_object
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
from freya_teach.llm.wirejson import as_dict, as_int, as_list, as_text, encode, legal_name

NAME = "gemini"
Body = dict[str, Json]

OPAQUE_KINDS = (
    "fileData",
    "inlineData",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)
"""The parts that are carried without being understood; `inlineData` when it is no image."""


# ---- there ---------------------------------------------------------------------------------


def message_to_wire(
    message: Message, names: Mapping[str, str], native_ids: Mapping[str, str]
) -> Body:
    """One neutral message as a content. `names` and `native_ids` go by our call id."""
    if isinstance(message, AssistantMessage):
        parts = [w for part in message.parts if (w := _assistant_part(part, native_ids))]
        return {"role": "model", "parts": parts}
    if isinstance(message, ToolMessage):
        return {"role": "user", "parts": [_result_part(message, names, native_ids)]}
    if isinstance(message, UserMessage):
        return {"role": "user", "parts": list(filter(None, map(_user_part, message.parts)))}
    if isinstance(message, SystemMessage):  # a late one: there is no place for it but the user's
        return {"role": "user", "parts": [{"text": message.text}] if message.text else []}
    assert_never(message)


def native_ids_of(calls: Sequence[ToolCall]) -> dict[str, str]:
    """Our call id → the id that Gemini itself gave, where it differs and is nobody else's."""
    natives = {
        call.id: call.provider_data.data["id"]
        for call in calls
        if call.provider_data.issuer == NAME and "id" in call.provider_data.data
    }
    if not natives:
        return {}
    times = Counter(natives.values())
    ours = {call.id for call in calls}
    return {
        id_: native
        for id_, native in natives.items()
        if native and native not in ours and times[native] == 1
    }


def _user_part(part: UserPart) -> Body | None:
    if isinstance(part, TextPart):
        return {"text": part.text} if part.text else None
    if isinstance(part, ImagePart):
        if part.url:
            raise UnsupportedContent(
                f"Gemini takes an image's bytes, not its address: {part.url[:80]}"
            )
        data = base64.b64encode(part.data).decode("ascii")
        return {"inlineData": {"mimeType": part.media_type, "data": data}}
    if isinstance(part, OpaquePart):
        return part.as_sent(NAME)
    assert_never(part)


def _assistant_part(part: AssistantPart, native_ids: Mapping[str, str]) -> Body | None:
    if isinstance(part, OpaquePart):
        return part.as_sent(NAME)
    issued = part.provider_data
    signature = issued.data.get("signature") if issued.issuer == NAME else None
    if isinstance(part, ToolCall):
        wire = _call_to_wire(part, native_ids)
    elif isinstance(part, TextPart):
        if not part.text and not signature:
            return None
        wire = {"text": part.text}
    elif isinstance(part, ReasoningPart):
        if not signature:  # a thought is not wanted back, unless it is signed
            return None
        wire = {"text": part.text, "thought": True}
    else:
        assert_never(part)
    if signature:
        wire["thoughtSignature"] = signature
    return wire


def _call_to_wire(call: ToolCall, native_ids: Mapping[str, str]) -> Body:
    id_ = native_ids.get(call.id, call.id)
    return {
        "functionCall": {
            "id": id_,
            "name": legal_name(call.name),
            "args": as_object(call.arguments),
        }
    }


def _result_part(
    message: ToolMessage, names: Mapping[str, str], native_ids: Mapping[str, str]
) -> Body:
    """`response` is an object with a text in it: an object with `$ref` would be a pointer."""
    id_ = native_ids.get(message.call_id, message.call_id)
    response = {"error" if message.is_error else "output": message.text}
    name = legal_name(names.get(message.call_id, ""))
    return {"functionResponse": {"id": id_, "name": name, "response": response}}


# ---- back ----------------------------------------------------------------------------------


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
        parts = [_camel(as_dict(part)) for part in _as_parts(content.get("parts"))]
        if role == "model":
            self._read_model(parts)
        elif role in ("user", "function"):
            self._read_user(parts)
        else:
            raise UnsupportedContent(f"a content has the role {role!r}")

    def _read_model(self, parts: list[Body]) -> None:
        """A turn whose calls are still open goes on: some clients write it as two contents."""
        message = AssistantMessage(tuple(_read_model_part(part) for part in parts))
        message = transcript.assign_ids(message, self.used_ids, NAME)
        last = self.messages[-1] if self.messages else None
        if self.waiting and isinstance(last, AssistantMessage):
            self.messages[-1] = AssistantMessage(last.parts + message.parts)
        else:
            self.messages.append(message)
        self.waiting += message.tool_calls

    def _read_user(self, parts: list[Body]) -> None:
        """Results come first and words after them, whatever the order inside the content."""
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        said = tuple(_read_user_part(part) for part in parts if "functionResponse" not in part)
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


def _read_model_part(part: Body) -> AssistantPart | OpaquePart:
    signature = as_text(part.get("thoughtSignature"))
    data = ProviderData(NAME, {"signature": signature}) if signature else NO_DATA
    if "functionCall" in part:
        call = _camel(as_dict(part["functionCall"]))
        arguments = encode(as_dict(call.get("args"))).decode()
        return ToolCall(as_text(call.get("id")), as_text(call.get("name")), arguments, data)
    if isinstance(part.get("text"), str):
        kind = ReasoningPart if part.get("thought") is True else TextPart
        return kind(part["text"], data)
    return opaque_from_wire(part)


def _read_user_part(part: Body) -> UserPart | OpaquePart:
    if isinstance(part.get("text"), str):
        return TextPart(part["text"])
    inline = _camel(as_dict(part.get("inlineData")))
    if as_text(inline.get("mimeType")).startswith("image/"):
        try:
            data = base64.b64decode(as_text(inline.get("data")), validate=True)
        except ValueError:  # `binascii.Error` is one; another comes for what is not ASCII
            raise UnsupportedContent("an image whose inlineData is not base64") from None
        return ImagePart(inline["mimeType"], data)
    return opaque_from_wire(part)


def opaque_from_wire(part: Body) -> OpaquePart:
    """A part that is carried without being understood. Raises `UnsupportedContent` for others."""
    for kind in OPAQUE_KINDS:
        if isinstance(part.get(kind), dict):
            kept = {key: part[key] for key in (kind, "thought", "thoughtSignature") if key in part}
            return OpaquePart(kind, ProviderData(NAME, kept))
    raise UnsupportedContent(f"a part with the fields {', '.join(sorted(part)) or '(none)'}")


def _system_texts(body: Body) -> Iterator[str]:
    instruction = body.get("systemInstruction")
    if isinstance(instruction, str):
        yield instruction
    for part in _as_parts(as_dict(instruction).get("parts")):
        if text := as_text(as_dict(part).get("text")):
            yield text


def _tools(body: Body) -> Iterator[ToolSpec]:
    for tool in _as_parts(body.get("tools")):
        for entry in as_list(_camel(as_dict(tool)).get("functionDeclarations")):
            declared = _camel(as_dict(entry))
            schema = declared.get("parametersJsonSchema") or declared.get("parameters")
            yield ToolSpec(
                as_text(declared.get("name")),
                as_text(declared.get("description")),
                as_dict(schema),
            )


def _as_parts(value: Json) -> list[Json]:
    """A repeated field of proto3 JSON, which some clients write as its one element."""
    return [value] if isinstance(value, dict) else as_list(value)


def _camel(body: Body) -> Body:
    """proto3 JSON takes `function_call` for `functionCall`; requests in the wild use both."""
    return {re.sub(r"_([a-z])", lambda m: m[1].upper(), key): value for key, value in body.items()}
