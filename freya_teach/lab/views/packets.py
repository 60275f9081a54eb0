"""A request as lines that a picture can hold: what is in it, and what is new in it. (chapter 2.2)

The messages stay in the wire's own words, each on one line and cut; what is cut can be read with
`lab.packet`. A line that begins with `+` was not in the packet before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import urlsplit

from freya_teach.lab.gateway import gemini_wire, openai_wire
from freya_teach.lab.gateway.question import Question
from freya_teach.lab.gateway.wire import Refused
from freya_teach.lab.views.words import cut
from freya_teach.llm.messages import Json

WIDTH = 112
MOST_MESSAGES = 10


def messages(body: Json) -> list[Json]:
    """The list that both wires have, under the name that each gives it."""
    found = body.get("messages") or body.get("contents") if isinstance(body, dict) else None
    return found if isinstance(found, list) else []


def understood(url: str, body: Json) -> Question | None:
    """What a provider makes of the packet; None where it makes nothing of it."""
    path = urlsplit(url).path
    wire = openai_wire if path.endswith("/chat/completions") else gemini_wire
    try:
        question: Question = wire.understand(body, path)
    except Refused:
        return None
    return question


def count_new(body: Json, before: Json) -> int:
    """How many messages follow those that the packet before had too."""
    now, earlier = messages(body), messages(before)
    same = 0
    while same < min(len(now), len(earlier)) and now[same] == earlier[same]:
        same += 1
    return len(now) - same


def lines(url: str, body: Json, before: Json = None) -> list[str]:
    """The packet, line by line; `before` is the body of the packet that was sent before it."""
    question = understood(url, body)
    tools = question.tools if question else ()
    told = [f"POST {urlsplit(url).path}"]
    told += _message_lines(body, before)
    told.append("tools: " + (", ".join(tool.name for tool in tools) or "none"))
    told += [f"{name}: {_json(value)}" for name, value in _others(body)]
    return [cut(line, WIDTH) for line in told]


def _message_lines(body: Json, before: Json) -> Iterator[str]:
    found = messages(body)
    old = len(found) - count_new(body, before)
    name = "contents" if isinstance(body, dict) and "contents" in body else "messages"
    news = "all new" if old == 0 else f"the last {len(found) - old} new"
    yield f"{name}: {len(found)}, {news} (+)"
    left_out = max(0, len(found) - MOST_MESSAGES)
    if left_out:
        yield f"    ({left_out} earlier ones)"
    for place, message in enumerate(found[left_out:], start=left_out):
        yield f"{' ' if place < old else '+'} {_json(message)}"


def _others(body: Json) -> Iterator[tuple[str, Json]]:
    for name, value in body.items() if isinstance(body, dict) else ():
        if name not in ("messages", "contents", "tools"):
            yield name, value


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
