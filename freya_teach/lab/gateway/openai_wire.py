"""OpenAI's Chat Completions, from the server's side. (chapter 5.2)

Source: OpenAI API reference, POST /v1/chat/completions; the error envelope of its OpenAPI file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from freya_teach.lab.gateway.question import Call, Move, Offered, Question, Role, Said
from freya_teach.lab.gateway.wire import (
    CREATED,
    Refused,
    Sent,
    count_tokens,
    fresh_ids,
    mapping,
    mappings,
    pieces,
    slices,
    text_of,
)
from freya_teach.llm.messages import Json

Body = dict[str, Json]
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",  # what tools were called before they were tools
}


def refusal(
    message: str, param: str | None = None, code: str | None = None, status: int = 400
) -> Refused:
    """A refusal in OpenAI's envelope."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return Refused(status, {"error": error})


def no_messages() -> Refused:
    """There is no list of messages."""
    return refusal("Missing required parameter: 'messages'.", "messages")


def bad_role(role: Json, number: int) -> Refused:
    """Nobody has this role."""
    supported = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'"
    message = f"Invalid value: '{role}'. Supported values are: {supported}."
    return refusal(message, f"messages[{number}].role", "invalid_value")


def missing(place: str) -> Refused:
    """A field that must be there."""
    message = f"Missing required parameter: '{place}'."
    return refusal(message, place, "missing_required_parameter")


def empty_array(place: str) -> Refused:
    """A list that must hold something."""
    message = (
        f"Invalid '{place}': empty array. Expected an array with minimum length 1, but got an "
        "empty array instead."
    )
    return refusal(message, place, "empty_array")


def too_long(place: str, text: str, limit: int) -> Refused:
    """A text with more characters than its place allows."""
    message = (
        f"Invalid '{place}': string too long. Expected a string with maximum length {limit}, but "
        f"got a string with length {len(text)} instead."
    )
    return refusal(message, place, "string_above_max_length")


def wrong_type(place: str, expected: str, value: Json) -> Refused:
    """A value of another JSON type than its place wants."""
    message = f"Invalid type for '{place}': expected {expected}, but got {_kind(value)} instead."
    return refusal(message, place, "invalid_type")


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    kinds = {dict: "an object", list: "an array", str: "a string", int: "an integer"}
    return kinds.get(type(value), "a decimal")


# ---- what is asked -------------------------------------------------------------------------


def understand(body: Json, _path: str = "") -> Question:
    """The question in a request's body. Raises `Refused` for one that holds none."""
    if not isinstance(body, dict):
        raise refusal("We could not parse the JSON body of your request.")
    if not isinstance(body.get("model"), str):
        raise refusal("you must provide a model parameter")
    if not isinstance(body.get("messages"), list):
        raise no_messages()
    said: list[Said] = []
    for number, message in enumerate(body["messages"]):
        said.append(_said(message, number, said))
    functions = [tool for tool in mappings(body.get("tools")) if mapping(tool.get("function"))]
    tools = tuple(map(_offered, functions))
    return Question("openai", body["model"], tuple(said), tools, body.get("stream") is True)


def _said(message: Json, number: int, before: list[Said]) -> Said:
    role = ROLES.get(str(message.get("role"))) if isinstance(message, dict) else None
    if role is None:
        raise bad_role(mapping(message).get("role"), number)
    calls = tuple(map(_call, mappings(message.get("tool_calls"))))
    call_id = text_of(message.get("tool_call_id"))
    names = {call.id: call.name for said in before for call in said.calls}
    text = _text(message.get("content"))
    return Said(role, text, calls, call_id, names.get(call_id, ""))


def _text(content: Json) -> str:
    if isinstance(content, list):
        return "".join(text_of(part.get("text")) for part in mappings(content))
    return text_of(content)


def _call(call: Body) -> Call:
    function = mapping(call.get("function"))
    raw = text_of(function.get("arguments"))
    try:
        arguments = json.loads(raw or "{}")
    except (ValueError, RecursionError):
        arguments = raw
    name, call_id = text_of(function.get("name")), text_of(call.get("id"))
    return Call(name, arguments if isinstance(arguments, dict) else raw, call_id)


def _offered(tool: Body) -> Offered:
    function = mapping(tool.get("function"))
    name, about = text_of(function.get("name")), text_of(function.get("description"))
    return Offered(name, about, mapping(function.get("parameters")))


# ---- what is answered ----------------------------------------------------------------------


def encode(move: Move, question: Question, body: Body) -> Sent:
    """The move as OpenAI would send it, in one body or as a stream."""
    calls = _calls_to_wire(move, question)
    usage = _usage(move, calls, body)
    if question.stream:
        wants_usage = mapping(body.get("stream_options")).get("include_usage") is True
        chunks = _chunks(move, calls, question.model, usage if wants_usage else None)
        return Sent(chunks=tuple(chunks), last_word="[DONE]")
    message: Body = {"role": "assistant", "content": move.text or None, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(move)}
    return Sent({**_head("chat.completion", question.model), "choices": [choice], "usage": usage})


def _calls_to_wire(move: Move, question: Question) -> list[Body]:
    ids = fresh_ids(question, move, "call_{}")
    return [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": _raw(call.arguments)},
        }
        for call_id, call in zip(ids, move.calls, strict=True)
    ]


def _raw(arguments: dict[str, Json] | str) -> str:
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False)


def _head(kind: str, model: str) -> Body:
    return {"id": "chatcmpl-gateway", "object": kind, "created": CREATED, "model": model}


def _reason(move: Move) -> str:
    return "tool_calls" if move.calls else "stop"


def _usage(move: Move, calls: list[Body], body: Body) -> Body:
    asked, said = count_tokens(body), count_tokens([move.text, calls])
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _chunks(move: Move, calls: list[Body], model: str, usage: Body | None) -> Iterator[Body]:
    head = _head("chat.completion.chunk", model)
    for delta, reason in _deltas(move, calls):
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    if usage:
        yield {**head, "choices": [], "usage": usage}


def _deltas(move: Move, calls: list[Body]) -> Iterator[tuple[Body, str | None]]:
    """The role first, then words, then each call: its name, and its arguments in slices."""
    yield {"role": "assistant", "content": None if calls else ""}, None
    for piece in pieces(move.text):
        yield {"content": piece}, None
    for index, call in enumerate(calls):
        function = call["function"]
        opened = {**call, "index": index, "function": {**function, "arguments": ""}}
        yield {"tool_calls": [opened]}, None
        for piece in slices(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None
    yield {}, _reason(move)
