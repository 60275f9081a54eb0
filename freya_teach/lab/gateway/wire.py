"""What both wires share on the server's side: an answer, its size, its pieces. (chapter 5.2)"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import httpx

from freya_teach.lab.gateway.question import Move, Question
from freya_teach.llm.messages import Json

CREATED = 1796040000
"""The gateway's clock stands still: 2026-11-30, noon, in seconds since 1970 (UTC)."""
PIECE_CHARS = 8
BYTES_PER_TOKEN = 4


class Refused(Exception):
    """The provider says no: a status, and the body that the real one sends."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.body = body


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer on its way: one JSON body, or the chunks of a stream and its last word."""

    body: Json = None
    chunks: tuple[Json, ...] = ()
    last_word: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    def response(self) -> httpx.Response:
        """The answer as HTTP; a stream comes in one piece per event."""
        if not self.chunks:
            text = json.dumps(self.body, ensure_ascii=False)
            headers = {"content-type": "application/json", **self.headers}
            return httpx.Response(self.status, headers=headers, content=text.encode())
        headers = {"content-type": "text/event-stream", **self.headers}
        return httpx.Response(self.status, headers=headers, stream=_Events(self))

    def events(self) -> Iterator[bytes]:
        """The events of a stream as bytes."""
        for chunk in self.chunks:
            yield f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()
        if self.last_word:
            yield f"data: {self.last_word}\n\n".encode()


class _Events(httpx.AsyncByteStream):
    def __init__(self, sent: Sent) -> None:
        self._sent = sent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for event in self._sent.events():
            yield event


def mapping(value: Json) -> dict[str, Json]:
    """The JSON object, or an empty one in the place of anything else."""
    return value if isinstance(value, dict) else {}


def mappings(value: Json) -> list[dict[str, Json]]:
    """The objects of a JSON list; none in anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(value: Json) -> str:
    """The JSON string, or an empty one in the place of anything else."""
    return value if isinstance(value, str) else ""


def count_tokens(value: Json) -> int:
    """A guess that is the same everywhere: a quarter of the bytes of the JSON."""
    size = len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_PER_TOKEN)


def pieces(text: str, words: int = 2) -> list[str]:
    """A text as a model sends it: a few words at a time; joined, they are the text.

    >>> pieces("It is sunny in Beijing.")
    ['It is ', 'sunny in ', 'Beijing.']
    """
    found = re.findall(r"\s*\S+\s*", text) or ([text] if text else [])
    return ["".join(found[i : i + words]) for i in range(0, len(found), words)]


def slices(text: str, size: int = PIECE_CHARS) -> list[str]:
    """Arguments as a model sends them: cut anywhere."""
    return [text[i : i + size] for i in range(0, len(text), size)]


def fresh_ids(question: Question, move: Move, form: str) -> list[str]:
    """An id for each call of the move, that no call of the conversation has."""
    used = {call.id for said in question.said for call in said.calls}
    number, ids = 0, []
    for call in move.calls:
        if call.id:
            ids.append(call.id)
            continue
        number += 1
        while form.format(number) in used:
            number += 1
        ids.append(form.format(number))
    return ids
