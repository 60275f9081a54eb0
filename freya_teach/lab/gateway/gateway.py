"""The fake provider: understand, judge, decide, encode. (chapter 5.1)

    request ── understand ──▶ Question ── rules ──▶ policy ──▶ Move ── encode ──▶ response

The rules are where the provider says no; the policy is where it thinks. Nothing here knows how
the kernel builds a request: it reads the bytes that arrive, as a provider does.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import ModuleType

import httpx

from freya_teach.lab.gateway import gemini_wire, openai_wire
from freya_teach.lab.gateway.question import Move, Policy, Question
from freya_teach.lab.gateway.wire import Refused, Sent
from freya_teach.llm.messages import Json

Rule = Callable[[Question, Json], None]
"""Looks at what was asked, and at the body as it came. Raises `Refused` where it is not allowed."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """Both providers in one: which wire is spoken, tells the address."""

    policy: Policy
    rules: tuple[Rule, ...] = ()
    asked: list[Question] = field(default_factory=list)
    """Every question that was put to it, oldest first."""

    def client(self) -> httpx.AsyncClient:
        """A client whose other end is this gateway."""
        return httpx.AsyncClient(transport=httpx.MockTransport(self.answer))

    async def answer(self, request: httpx.Request) -> httpx.Response:
        """One request → the provider's response, or its refusal."""
        try:
            return (await self._answer(request)).response()
        except Refused as refused:
            return Sent(refused.body, status=refused.status).response()

    async def _answer(self, request: httpx.Request) -> Sent:
        path = request.url.path
        wire = _wire(request.method, path)
        body = _json(await request.aread())
        question = wire.understand(body, path)
        for rule in self.rules:
            rule(question, body)
        self.asked.append(question)
        move = self.policy(question)
        if inspect.isawaitable(move):
            move = await move
        return wire.encode(_checked(move), question, body)  # type: ignore[no-any-return]


def gateway(policy: Policy, rules: Iterable[Rule] = ()) -> Gateway:
    """A gateway with this policy behind it."""
    return Gateway(policy, tuple(rules))


def _wire(method: str, path: str) -> ModuleType:
    if method == "POST" and path.endswith("/chat/completions"):
        return openai_wire
    if method == "POST" and path.endswith((":generateContent", ":streamGenerateContent")):
        return gemini_wire
    message = f"Invalid URL ({method} {path})"
    raise Refused(404, openai_wire.refusal(message).body)


def _json(content: bytes) -> Json:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _checked(move: object) -> Move:
    if not isinstance(move, Move):
        raise TypeError(
            f"a policy returns a Move (see answer() and call()), this one returned {move!r:.80}"
        )
    return move
