"""The bench's rows, and the plainest translation of them to both wires. (chapter 5.2)

Nothing is repaired here. A row can be wrong in ways that the kernel's messages cannot be, such
as a result without an id, and it goes out as it is: `None` is a field that is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

from freya_teach.lab.views.wire_pieces import letter_of
from freya_teach.llm.messages import (
    AssistantMessage,
    Json,
    Message,
    ProviderData,
    TextPart,
    ToolCall,
    ToolMessage,
    assistant,
    system,
    user,
)
from freya_teach.llm.protocol import ToolSpec

Body = dict[str, Json]
Role = Literal["system", "user", "assistant", "tool", "function"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call in a row. `letter` is its name on the bench, whatever happens to its id."""

    letter: str
    id: str | None
    name: str
    arguments: Json
    """The text that the model wrote; an object if somebody has unpacked it too early."""
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One message on the bench. `letter` is that of the call whose result it was at first."""

    role: Role
    text: str | None
    calls: tuple[Call, ...] = ()
    call_id: str | None = None
    name: str = ""
    letter: str = ""
    apart: bool = False
    """Gemini: not in one content with the result before it."""


Rows = tuple[Row, ...]
RESULTS = ("tool", "function")
GEMINI_ROLES = {"assistant": "model", "tool": "user"}


def rows_of(messages: Iterable[Message]) -> Rows:
    """The history as rows: text, calls and results; what else a message holds is left out."""
    rows: list[Row] = []
    called: dict[str, Call] = {}
    letters = map(letter_of, count())
    for message in messages:
        if isinstance(message, AssistantMessage):
            calls = tuple(_call(next(letters), call) for call in message.tool_calls)
            called |= {call.id or "": call for call in calls}
            rows.append(Row("assistant", message.text, calls))
        elif isinstance(message, ToolMessage):
            call = called.get(message.call_id, Call("", None, "unknown", ""))
            rows.append(Row("tool", message.text, (), message.call_id, call.name, call.letter))
        else:
            rows.append(Row(message.role, message.text))
    return tuple(rows)


def _call(letter: str, call: ToolCall) -> Call:
    signature = call.provider_data.for_issuer("gemini").get("signature", "")
    return Call(letter, call.id, call.name, call.arguments, signature)


def messages_of(rows: Rows) -> tuple[Message, ...]:
    """The rows as the kernel would hold them. Raises `ValueError` for a row that it cannot."""
    return tuple(_message(row) for row in rows)


def _message(row: Row) -> Message:
    text = row.text or ""
    match row.role:
        case "system":
            return system(text)
        case "user":
            return user(*([text] if text else []))
        case "assistant":
            return assistant(*([TextPart(text)] if text else []), *map(_tool_call, row.calls))
        case _:
            return ToolMessage(row.call_id or "", text)


def _tool_call(call: Call) -> ToolCall:
    data = ProviderData("gemini", {"signature": call.signature} if call.signature else {})
    arguments = call.arguments
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(call.id or "", call.name, text, data)


# ---- to OpenAI -----------------------------------------------------------------------------


def openai_body(rows: Rows, model: str, tools: Sequence[ToolSpec] = ()) -> Body:
    """A message for each row."""
    body: Body = {"model": model, "messages": [_openai_message(row) for row in rows]}
    if tools:
        body["tools"] = [
            {"type": "function", "function": _told(tool, "parameters")} for tool in tools
        ]
    return body


def _openai_message(row: Row) -> Body:
    if row.role == "function":
        return {"role": "function", "name": row.name, "content": row.text}
    if row.role == "tool":
        return _whole({"role": "tool", "tool_call_id": row.call_id}) | {"content": row.text}
    message: Body = {"role": row.role, "content": row.text}
    if row.calls:
        message["content"] = row.text or None
        message["tool_calls"] = [_openai_call(call) for call in row.calls]
    return message


def _openai_call(call: Call) -> Body:
    function = {"name": call.name, "arguments": call.arguments}
    return _whole({"id": call.id, "type": "function"}) | {"function": function}


def _whole(fields: Body) -> Body:
    return {name: value for name, value in fields.items() if value is not None}


# ---- to Gemini -----------------------------------------------------------------------------


def gemini_body(rows: Rows, tools: Sequence[ToolSpec] = ()) -> Body:
    """A content for each row, but one for results that stand together; a first system outside."""
    body: Body = {}
    if rows and rows[0].role == "system":
        body["systemInstruction"] = {"parts": _words(rows[0])}
        rows = rows[1:]
    body["contents"] = list(_contents(rows))
    if tools:
        declared = [_told(tool, "parametersJsonSchema") for tool in tools]
        body["tools"] = [{"functionDeclarations": declared}]
    return body


def _contents(rows: Rows) -> Iterator[Body]:
    content: Body = {}
    before = ""
    for row in rows:
        parts = _gemini_parts(row)
        if row.role == before and row.role in RESULTS and not row.apart:
            content["parts"] += parts
            continue
        if content:
            yield content
        before = row.role
        content = {"role": GEMINI_ROLES.get(row.role, row.role), "parts": parts}
    if content:
        yield content


def _gemini_parts(row: Row) -> list[Body]:
    if row.role in RESULTS:
        response = _whole({"id": row.call_id, "name": row.name})
        value = {} if row.text is None else {"output": row.text}
        return [{"functionResponse": {**response, "response": value}}]
    return [*_words(row), *map(_gemini_call, row.calls)]


def _words(row: Row) -> list[Body]:
    return [{"text": row.text}] if row.text else []


def _gemini_call(call: Call) -> Body:
    function = _whole({"id": call.id, "name": call.name}) | {"args": _unpacked(call.arguments)}
    signature = {"thoughtSignature": call.signature} if call.signature else {}
    return {"functionCall": function, **signature}


def _unpacked(arguments: Json) -> Json:
    """The object in the text; where there is none, the text, as a hasty translator would do."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _told(tool: ToolSpec, parameters: str) -> Body:
    described = {"name": tool.name, "description": tool.description or tool.name}
    return {**described, parameters: tool.parameters}


# ---- rows with a change --------------------------------------------------------------------


def with_row(rows: Rows, place: int, **changes: object) -> Rows:
    """The rows, one of them changed."""
    return (*rows[:place], replace(rows[place], **changes), *rows[place + 1 :])  # type: ignore[arg-type]
