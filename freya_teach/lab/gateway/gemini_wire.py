"""Gemini's generateContent, from the server's side. (chapter 5.2)

Source: google/ai/generativelanguage/v1beta/content.proto; the thought signature page of the
Gemini API documentation.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from functools import lru_cache

from freya_teach.lab.gateway.generations import generation_of
from freya_teach.lab.gateway.question import Call, Move, Offered, Question, Said
from freya_teach.lab.gateway.wire import (
    Refused,
    Sent,
    count_tokens,
    fresh_ids,
    mapping,
    mappings,
    pieces,
    text_of,
)
from freya_teach.llm.messages import Json

Body = dict[str, Json]
SIGNED = "Signed by the gateway: "
"""A signature is the base64 of this and of the id of the call that it was given to."""


def refusal(
    message: str,
    status: int = 400,
    word: str = "INVALID_ARGUMENT",
    details: list[Json] | None = None,
) -> Refused:
    """A refusal in Google's envelope."""
    error = {"code": status, "message": message, "status": word}
    return Refused(status, {"error": {**error, "details": details} if details else error})


def no_contents() -> Refused:
    """There is nothing to answer."""
    return refusal("* GenerateContentRequest.contents: contents is not specified\n")


def field(value: Body, name: str) -> Json:
    """A field under its name, or under the name in the protobuf file: both are accepted.

    >>> field({"function_call": {}}, "functionCall")
    {}
    """
    return value[name] if name in value else value.get(snake(name))


@lru_cache(maxsize=256)
def snake(name: str) -> str:
    """A name as the protobuf file has it: functionCall → function_call."""
    return re.sub("([A-Z])", r"_\1", name).lower()


# ---- what is asked -------------------------------------------------------------------------


def understand(body: Json, path: str) -> Question:
    """The question in a request's body. Raises `Refused` for one that holds none."""
    if not isinstance(body, dict):
        raise refusal("Invalid JSON payload received.")
    if not isinstance(body.get("contents"), list) or not body["contents"]:
        raise no_contents()
    model = path.rpartition("/models/")[2].partition(":")[0]
    said: list[Said] = []
    if instructions := field(body, "systemInstruction"):
        said.append(Said("system", _text(_parts(instructions))))
    for content in body["contents"]:
        said.extend(_content(content, said))
    offered = body.get("tools")
    boxes = mappings([offered] if isinstance(offered, dict) else offered)  # both are accepted
    declared = [function for box in boxes for function in _functions(box)]
    tools = tuple(map(_offered, declared))
    return Question("gemini", model, tuple(said), tools, ":streamGenerateContent" in path)


def _content(content: Json, before: list[Said]) -> Iterator[Said]:
    """One content: a turn of the model, or the user's words and the results of tools."""
    parts = _parts(content)
    if mapping(content).get("role") == "model":
        calls = [mapping(field(part, "functionCall")) for part in parts]
        yield Said("assistant", _text(parts), tuple(_call(call) for call in calls if call))
        return
    responses = [mapping(field(part, "functionResponse")) for part in parts]
    for number, response in enumerate(filter(None, responses)):
        yield _result(response, before, responses[:number])
    if any("text" in part for part in parts):
        yield Said("user", _text(parts))


def _parts(content: Json) -> list[Body]:
    return mappings(mapping(content).get("parts"))


def _text(parts: list[Body]) -> str:
    return "".join(text_of(part.get("text")) for part in parts if not part.get("thought"))


def _call(call: Body) -> Call:
    return Call(text_of(call.get("name")), mapping(call.get("args")), text_of(call.get("id")))


def _result(response: Body, before: list[Said], earlier: list[Body]) -> Said:
    """A result. Without an id it belongs to the next call of its name in the model's turn."""
    name = text_of(response.get("name"))
    value = mapping(response.get("response"))
    told = next((value[key] for key in ("result", "output", "error") if key in value), value)
    text = told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
    turn = next((said.calls for said in reversed(before) if said.calls), ())
    ids = [call.id for call in turn if call.name == name]
    place = sum(1 for each in earlier if each.get("name") == name)
    call_id = text_of(response.get("id")) or (ids[place] if place < len(ids) else "")
    return Said("tool", text, call_id=call_id, name=name)


def _functions(tool: Body) -> list[Body]:
    return mappings(field(tool, "functionDeclarations"))


def _offered(function: Body) -> Offered:
    schema = mapping(field(function, "parametersJsonSchema") or function.get("parameters"))
    name, about = text_of(function.get("name")), text_of(function.get("description"))
    return Offered(name, about, schema)


# ---- what is answered ----------------------------------------------------------------------


def encode(move: Move, question: Question, body: Body) -> Sent:
    """The move as Gemini would send it, in one body or as a stream.

    Arguments that are no object have no place on this wire: the model's turn is then reported
    as malformed, as the real server does.
    """
    if any(isinstance(call.arguments, str) for call in move.calls):
        return _send([[]], question, body, "MALFORMED_FUNCTION_CALL")
    calls = _calls_to_wire(move, question)
    if question.stream:
        steps = [[{"text": piece}] for piece in pieces(move.text)] + [[call] for call in calls]
        return _send(steps or [[{"text": ""}]], question, body, "STOP")
    words: list[Body] = [{"text": move.text}] if move.text or not calls else []
    return _send([words + calls], question, body, "STOP")


def _calls_to_wire(move: Move, question: Question) -> list[Body]:
    """One part per call. From the third generation on, calls have ids, and the first is signed."""
    signing = generation_of(question.model, "gemini").signs
    ids = fresh_ids(question, move, "gw{}")
    parts: list[Body] = []
    for call_id, call in zip(ids, move.calls, strict=True):
        function: Body = {"name": call.name, "args": call.arguments}
        part: Body = {"functionCall": {"id": call_id, **function} if signing else function}
        if signing and not parts:
            part["thoughtSignature"] = signature(call_id)
        parts.append(part)
    return parts


def signature(call_id: str) -> str:
    """What the gateway signs a call with. (The real one is opaque; nobody but Google reads it.)

    >>> base64.b64decode(signature("gw1"))
    b'Signed by the gateway: gw1'
    """
    return base64.b64encode(f"{SIGNED}{call_id}".encode()).decode()


def _send(steps: list[list[Body]], question: Question, body: Body, reason: str) -> Sent:
    chunks = [_chunk(parts, question.model) for parts in steps]
    chunks[-1]["candidates"][0]["finishReason"] = reason
    asked, said = count_tokens(body), count_tokens(steps)
    chunks[-1]["usageMetadata"] = {
        "promptTokenCount": asked,
        "candidatesTokenCount": said,
        "totalTokenCount": asked + said,
    }
    return Sent(chunks=tuple(chunks)) if question.stream else Sent(chunks[0])


def _chunk(parts: list[Body], model: str) -> Body:
    content: Body = {"parts": parts, "role": "model"} if parts else {}
    candidate: Body = {"content": content, "index": 0}
    return {"candidates": [candidate], "modelVersion": model, "responseId": "gateway"}
