"""Trouble stands between the client and the gateway and spoils what passes. (chapter 5.3)

    request ──▶ trouble ──▶ trouble ──▶ gateway
    spoiled ◀── trouble ◀── trouble ◀── answer

A trouble gets the request and the way on. It may answer in the gateway's place, raise what a
broken network raises, or let the gateway answer and then change what comes back.

    gateway(assistant, troubles=[rate_limited(retry_after=2).on(1), cut_stream().on(wire="gemini")])
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import httpx

from freya_teach.lab.gateway.catalogue import is_gemini
from freya_teach.lab.gateway.question import Wire
from freya_teach.lab.gateway.wire import mapping, text_of

Answer = Callable[[httpx.Request], Awaitable[httpx.Response]]
"""One request → its response; the gateway is one, and so is the gateway behind a trouble."""
Spoil = Callable[[httpx.Request, Answer], Awaitable[httpx.Response]]
"""A request and the way on → what the client gets. Raises an `httpx.TransportError` for a
network that breaks."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request as far as a trouble looks at it: which wire it speaks, which model it wants."""

    wire: Wire
    model: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that goes wrong, and the requests to which it happens (without `on`: to all)."""

    name: str
    spoil: Spoil
    requests: frozenset[int] = frozenset()
    wire: str = ""
    model: str = ""

    def on(self, *requests: int, wire: str = "", model: str = "") -> Trouble:
        """The same trouble for these requests only, or for one wire or one model.

        Numbers start at 1 and count the requests of that wire and that model:

        >>> server_error().on(1, 2, wire="gemini")      # the first two that Gemini gets
        """
        return replace(self, requests=frozenset(requests), wire=wire, model=model)

    def concerns(self, arrived: Arrived) -> bool:
        """Whether this request is of the wire and the model that the trouble is about."""
        return self.wire in ("", arrived.wire) and self.model in ("", arrived.model)

    def happens(self, arrived: Sequence[Arrived]) -> bool:
        """Whether it strikes the newest of these requests."""
        number = sum(1 for each in arrived if self.concerns(each))
        return self.concerns(arrived[-1]) and (not self.requests or number in self.requests)


def troubled(answer: Answer, troubles: Sequence[Trouble], arrived: Sequence[Arrived]) -> Answer:
    """The way to an answer through every trouble that strikes the newest request.

    The first of the list is nearest to the client: it sees what the others left.
    """
    for trouble in reversed(troubles):
        if trouble.happens(arrived):
            answer = _through(trouble.spoil, answer)
    return answer


def _through(spoil: Spoil, answer: Answer) -> Answer:
    async def spoiled(request: httpx.Request) -> httpx.Response:
        return await spoil(request, answer)

    return spoiled


async def arrival(request: httpx.Request) -> Arrived:
    """Which wire a request speaks and which model it wants; what is neither, counts as OpenAI's."""
    path = request.url.path
    if is_gemini(path) or ":" in path:
        return Arrived("gemini", path.partition("/models/")[2].partition(":")[0])
    try:
        body = json.loads(await request.aread())
    except (ValueError, RecursionError):
        body = None
    return Arrived("openai", text_of(mapping(body).get("model")))
