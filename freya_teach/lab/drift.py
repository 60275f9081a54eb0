"""What a server answers differently today from its recording. (chapter 8.1)

    heard = await ask_again(recording, settings)
    compare(recording, heard).verdict        # "same", "words differ" or "shape differs"

The recorded request is sent once more, byte for byte the same body, so that a difference is the
server's and not ours; the second question of a loop holds the tool results of that day. The
**shape** is what code relies on: status, media type, keys and types, the wire's own words such as
a finish reason, which tools are called with which arguments, and what the kernel reads in it.
The **words** are the rest: text, the arguments' values, token counts. In how many pieces a stream
came is neither, and what is new in every answer (ids, times, speeds) is not looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

import httpx

from freya_teach.config import Settings
from freya_teach.errors import FreyaError
from freya_teach.lab.difference import ABSENT, Difference, differences
from freya_teach.lab.record import Heard, Listening
from freya_teach.lab.recording import Recording
from freya_teach.lab.understand import (
    HttpExchange,
    Understood,
    exchange_from_recording,
    message_as_json,
    understand,
)
from freya_teach.llm.messages import Json, ToolCall
from freya_teach.llm.redaction import SHORTEST, redact_all
from freya_teach.llm.sse import ChunkDecoder
from freya_teach.llm.wirejson import as_dict, encode

Verdict = Literal["same", "words differ", "shape differs"]

NEW_EACH_TIME = {
    "id",
    "created",
    "createTime",
    "responseId",
    "system_fingerprint",
    "thoughtSignature",
}
"""Keys whose value is new in every answer: that they are there counts, and their type."""
BY_CHANCE = {"timings", "cached_tokens", "cachedContentTokenCount"}
"""Keys that depend on how busy the server was, and what it was asked before: not looked at."""
WIRE_WORDS = {"finish_reason", "finishReason", "object", "role", "type", "status", "code"}
"""Keys whose value is one of a few words that programs compare with: it belongs to the shape."""
ASK_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Drift:
    """Where today's answer differs from the recorded one; `words` only when the shape is the same.

    `today` is what the kernel reads in today's answer, in a few words.
    """

    shape: tuple[Difference, ...] = ()
    words: tuple[Difference, ...] = ()
    today: str = ""

    @property
    def verdict(self) -> Verdict:
        """The difference in two words."""
        if self.shape:
            return "shape differs"
        return "words differ" if self.words else "same"


async def ask_again(
    recording: Recording, settings: Settings, transport: httpx.AsyncBaseTransport
) -> Heard:
    """Send a recorded request to the server that the settings name.

    Its answer comes without the key in use, which a server may quote back. Raises
    `httpx.HTTPError` when none comes, and `RecordingRefused` for one that is not UTF-8.
    """
    url = str(recording.request["url"])
    path = url[max(url.find("/v1"), 0) :]  # behind the address of that day: /v1/… or /v1beta/…
    key = settings.api_key.get_secret_value()
    method, body = str(recording.request["method"]), encode(recording.request["body"])
    listening = Listening(transport)
    async with httpx.AsyncClient(transport=listening, timeout=ASK_SECONDS) as http:
        await http.request(
            method, settings.endpoint + path, content=body, headers=_headers(settings.provider, key)
        )
    heard = listening.exchanges[-1]
    return Heard(heard.request, as_dict(redact_all(heard.response, key_forms(key))))


def _headers(provider: str, key: str) -> dict[str, str]:
    headers = {"content-type": "application/json"}
    if key and provider == "gemini":
        headers["x-goog-api-key"] = key
    elif key:
        headers["authorization"] = f"Bearer {key}"
    return headers


def key_forms(key: str) -> tuple[str, ...]:
    """A key as a text may hold it, plain and inside JSON; a short one is part of many words."""
    return (key, json.dumps(key)[1:-1]) if len(key) >= SHORTEST else ()


def compare(recording: Recording, heard: Heard) -> Drift:
    """Hold today's answer against the recorded one."""
    then = _exchange(recording.request, recording.response)
    today = _exchange(recording.request, heard.response)
    read = understand(today)
    shapes = differences(_shape(then, understand(then)), _shape(today, read))
    shape = tuple(map(_without_numbers, shapes))
    words = () if shape else tuple(differences(_words(then), _words(today)))
    return Drift(shape, words, _in_short(read))


def _without_numbers(difference: Difference) -> Difference:
    """In a body's shape a list has one item, which stands for all of them: `choices[]`."""
    place = difference.place
    return (
        difference._replace(place=place.replace("[0]", "[]")) if place[:4] == "body" else difference
    )


def _exchange(request: dict[str, Json], response: dict[str, Json]) -> HttpExchange:
    exchange = exchange_from_recording("", {"request": request, "response": response})
    assert exchange is not None, "load_recording and Listening see to status and url"
    return exchange


# ---- the shape -----------------------------------------------------------------------------


def _shape(exchange: HttpExchange, read: Understood) -> dict[str, Json]:
    """All that code relies on, as JSON that can be compared place by place."""
    chunks, complete = _chunks(exchange.response)
    return {
        "status": exchange.status,
        "content-type": exchange.headers.get("content-type", "").partition(";")[0].lower(),
        "retry-after": "there" if "retry-after" in exchange.headers else "not there",
        "read as": type(read.error).__name__ if read.error else "an answer",
        "calls": [_call(part) for part in _parts(read) if isinstance(part, ToolCall)],
        "complete": complete,
        "body": shape_of("body", chunks),
    }


def shape_of(key: str, values: Iterable[Json]) -> Json:
    """The shape of one place, from all values that stand there: of a stream, in all its chunks.

    >>> shape_of("", [{"text": "a", "n": [1, 2]}, {"text": None, "type": "x"}])
    {'text': 'null or text', 'n': ['number'], 'type': 'x'}
    """
    values = list(values)
    inner = [value for value in values if isinstance(value, dict | list)]
    if key == "args":  # Gemini's arguments: their names stand in `calls`
        return "object"
    if inner and all(isinstance(value, dict) for value in inner):
        keys = dict.fromkeys(k for value in inner for k in value if k not in BY_CHANCE)
        return {k: shape_of(k, [value[k] for value in inner if k in value]) for k in keys}
    if inner and all(isinstance(value, list) for value in inner):
        items = [item for value in inner for item in value]
        return [shape_of(key, items)] if items else []
    return " or ".join(sorted({_kind(key, value) for value in values}))


def _kind(key: str, value: Json) -> str:
    if key in WIRE_WORDS and isinstance(value, str | int):
        return str(value)
    names = {bool: "boolean", int: "number", float: "number", str: "text", list: "list"}
    return "null" if value is None else names.get(type(value), "object")


def _call(call: ToolCall) -> str:
    """A call with the names of its arguments: `calculate(expression)`."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return f"{call.name}(no JSON)"
    names = ", ".join(arguments) if isinstance(arguments, dict) else "no object"
    return f"{call.name}({names})"


def _chunks(body: bytes) -> tuple[list[Json], bool]:
    """The JSON of a body, and whether it said that it was complete; of no JSON, nothing."""
    decoder, chunks = ChunkDecoder(), list[Json]()
    try:
        chunks += decoder.feed(body)
        chunks += decoder.end()
    except FreyaError:
        return chunks, False
    return chunks, decoder.finished


# ---- the words -----------------------------------------------------------------------------


def _words(exchange: HttpExchange) -> Json:
    """The values that mean something: of a stream those of its joined answer."""
    read = understand(exchange)
    if exchange.response.lstrip()[:1] in (b"{", b"["):
        return {"body": _without_chance(json.loads(exchange.response))}
    if read.reply is None:
        return {"body": exchange.response.decode("utf-8", "replace")}
    answer = {**message_as_json(read.reply.message), "usage": asdict(read.usage)}
    return {"answer": _without_chance(answer)}


def _without_chance(value: Json) -> Json:
    """The value without what is another one in each answer."""
    if isinstance(value, dict):
        ignored = NEW_EACH_TIME | BY_CHANCE
        return {k: _without_chance(inner) for k, inner in value.items() if k not in ignored}
    return [_without_chance(inner) for inner in value] if isinstance(value, list) else value


def _parts(read: Understood) -> tuple[object, ...]:
    return tuple(read.reply.message.parts) if read.reply else ()


def _in_short(read: Understood) -> str:
    """What the kernel reads in an answer: its error, or its text and its calls."""
    if read.reply is None:
        return str(read.error or read.note)
    calls = [f"{p.name}({p.arguments})" for p in _parts(read) if isinstance(p, ToolCall)]
    text = read.reply.message.text
    return "; ".join([*([json.dumps(text, ensure_ascii=False)] if text else []), *calls])


def as_json(drift: Drift) -> dict[str, Json]:
    """For `--json`; a value that one of the two answers does not have is left out."""
    return {
        "verdict": drift.verdict,
        "today": drift.today,
        "shape": [_place(difference) for difference in drift.shape],
        "words": [_place(difference) for difference in drift.words],
    }


def _place(difference: Difference) -> dict[str, Json]:
    values = {"recorded": difference.first, "today": difference.second}
    there = {name: value for name, value in values.items() if value is not ABSENT}
    return {"place": difference.place, **as_dict(there)}
