"""Postcard: a third wire, invented for this course, and a server that speaks it. (chapter 9.1)

No provider speaks it, so no answer can be looked up; each of its ways is one that a real wire has.

    POST /v1/cards, the key in the header x-api-key
    {"model": "postcard-1", "brief": "Be brief.", "room": 500,
     "cards": [{"from": "guest", "lines": [{"text": "How much is 6 * 7?"}]}],
     "tools": [{"name": "calculate", "about": "Work out …", "takes": {a JSON Schema}}]}

    {"card": {"from": "host", "lines": [
        {"call": {"ticket": "t1", "name": "calculate", "with": {"expression": "6 * 7"}}}]},
     "end": "calls", "count": {"in": 61, "out": 21}}

What it refuses stands in `postcard_rules.py`. With `"stream": true` the lines come in pieces, as
events; a call's `with` then comes as text, and the piece with `end` is the last one.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx

from freya_teach.lab.gateway import Call, Gateway, Move, Offered, Policy, Question, Refused, Said
from freya_teach.lab.gateway.wire import (
    BYTES_PER_TOKEN,
    Sent,
    count_tokens,
    fresh_ids,
    mapping,
    mappings,
    pieces,
    slices,
)
from freya_teach.lab.postcard_rules import Body, check_body, refusal
from freya_teach.llm.messages import Json

HOST = "postcard.example"
ADDRESS = f"https://{HOST}"
MODEL = "postcard-1"


@dataclass(slots=True)
class PostOffice:
    """The server: refuses what breaks its rules, else lets a policy answer."""

    policy: Policy
    closed: bool = False
    """While it is, every request is answered with a 503."""
    bodies: list[Body] = field(default_factory=list)
    """Every body that kept the rules, oldest first."""
    asked: list[Question] = field(default_factory=list)
    """The same, as the policy saw it."""

    def client(self, other: Gateway | None = None) -> httpx.AsyncClient:
        """A client whose other end this is; `other` answers what goes to any other host."""

        async def answer(request: httpx.Request) -> httpx.Response:
            if other is None or request.url.host == HOST:
                return await self.answer(request)
            return await other.answer(request)

        return httpx.AsyncClient(transport=httpx.MockTransport(answer))

    async def answer(self, request: httpx.Request) -> httpx.Response:
        """One request → the answer, or a refusal in words."""
        try:
            return (await self._answer(request)).response()
        except Refused as refused:
            return Sent(refused.body, status=refused.status).response()

    async def _answer(self, request: httpx.Request) -> Sent:
        if self.closed:
            raise refusal("the post office is closed", "closed", status=503)
        body = check_body(request, await request.aread())
        question = understand(body)
        self.bodies.append(body)
        self.asked.append(question)
        move = self.policy(question)
        if inspect.isawaitable(move):
            move = await move
        return encode(move, question, body)


# ---- from the wire to what a policy is asked --------------------------------------------------


def understand(body: Body) -> Question:
    """A body that keeps the rules → the question in it."""
    said = [Said("system", body["brief"])] if "brief" in body else []
    names: dict[str, str] = {}
    for card in body["cards"]:
        said += _said(card, names)
    tools = tuple(
        Offered(tool["name"], tool["about"], mapping(tool["takes"]))
        for tool in mappings(body.get("tools"))
    )
    return Question("postcard", body["model"], tuple(said), tools, body.get("stream") is True)


def _said(card: Body, names: dict[str, str]) -> Iterator[Said]:
    """A host's card is one message; on a guest's card each result is one, and the words another."""
    lines = card["lines"]
    text = "".join(line["text"] for line in lines if "text" in line)
    if card["from"] == "host":
        made = [line["call"] for line in lines if "call" in line]
        names |= {call["ticket"]: call["name"] for call in made}
        calls = tuple(Call(call["name"], call["with"], call["ticket"]) for call in made)
        yield Said("assistant", text, calls)
        return
    for result in (line["result"] for line in lines if "result" in line):
        yield Said("tool", result["text"], (), result["ticket"], names[result["ticket"]])
    if text:
        yield Said("user", text)


# ---- from a move to the wire ------------------------------------------------------------------


def encode(move: Move, question: Question, body: Body) -> Sent:
    """The answer: whole, or in pieces."""
    text, end = move.text, "calls" if move.calls else "said"
    if not move.calls and count_tokens(text) > body["room"]:
        text, end = text[: body["room"] * BYTES_PER_TOKEN], "full"
    lines: list[Body] = [{"text": text}] if text else []
    for call, ticket in zip(move.calls, fresh_ids(question, move, "t{}"), strict=True):
        lines.append({"call": {"ticket": ticket, "name": call.name, "with": _object(call)}})
    count = {"in": count_tokens(body), "out": count_tokens(lines)}
    if not question.stream:
        return Sent({"card": {"from": "host", "lines": lines}, "end": end, "count": count})
    chunks = [piece for number, line in enumerate(lines) for piece in _in_pieces(number, line)]
    return Sent(chunks=(*chunks, {"end": end, "count": count}))


def _object(call: Call) -> Json:
    """This server hands out objects only: a model's text that is no JSON becomes an empty one."""
    if not isinstance(call.arguments, str):
        return call.arguments
    try:
        return mapping(json.loads(call.arguments))
    except (ValueError, RecursionError):
        return {}


def _in_pieces(number: int, line: Body) -> Iterator[Body]:
    """One line as events: each says which line it belongs to."""
    if "text" in line:
        for piece in pieces(line["text"]):
            yield {"line": number, "text": piece}
        return
    call = line["call"]
    yield {"line": number, "call": {"ticket": call["ticket"], "name": call["name"]}}
    for piece in slices(json.dumps(call["with"], ensure_ascii=False)):
        yield {"line": number, "with": piece}
