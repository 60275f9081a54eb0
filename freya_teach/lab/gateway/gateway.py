"""The fake provider: understand, judge, decide, encode. (chapter 5.1)

    request ── understand ──▶ Question ── rules ──▶ policy ──▶ Move ── encode ──▶ response

The rules are where the provider says no (`print(table(RULES))` lists them); the policy is where
it thinks. Nothing here knows how the kernel builds a request: it reads the bytes that arrive, as
a provider does.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import ModuleType

import httpx

from freya_teach.lab.gateway import catalogue, gemini_rules, gemini_wire, openai_rules, openai_wire
from freya_teach.lab.gateway.generations import generation_of
from freya_teach.lab.gateway.question import Move, Policy, Question
from freya_teach.lab.gateway.request import Request
from freya_teach.lab.gateway.rule import Rule, judge, without
from freya_teach.lab.gateway.trouble import Arrived, Trouble, arrival, troubled
from freya_teach.lab.gateway.wire import Refused, Sent, mapping
from freya_teach.llm.messages import Json

RULES: tuple[Rule, ...] = openai_rules.RULES + gemini_rules.RULES
"""What the two providers refuse."""

OwnRule = Callable[[Question, Json], None]
"""Looks at what was asked, and at the body as it came. Raises `Refused` where it is not allowed."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """Both providers in one: which wire is spoken, tells the address."""

    policy: Policy
    rules: tuple[OwnRule, ...] = ()
    """What is refused besides."""
    troubles: tuple[Trouble, ...] = ()
    """What goes wrong on purpose (`trouble.py`)."""
    provider_rules: tuple[Rule, ...] = RULES
    keys: frozenset[str] = frozenset()
    """The keys that are accepted; with none, every key is, and no key at all."""
    arrived: list[Arrived] = field(default_factory=list)
    """Every request that came, answered or not, oldest first."""
    asked: list[Question] = field(default_factory=list)
    """Every question that was put to it, oldest first."""

    def client(self) -> httpx.AsyncClient:
        """A client whose other end is this gateway."""
        return httpx.AsyncClient(transport=httpx.MockTransport(self.answer))

    async def answer(self, request: httpx.Request) -> httpx.Response:
        """One request → the provider's response, or its refusal, or the trouble it gets into."""
        self.arrived.append(await arrival(request))
        return await troubled(self._respond, self.troubles, self.arrived)(request)

    async def _respond(self, request: httpx.Request) -> httpx.Response:
        try:
            return (await self._answer(request)).response()
        except Refused as refused:
            return Sent(refused.body, status=refused.status).response()

    async def _answer(self, request: httpx.Request) -> Sent:
        path, body = request.url.path, _json(await request.aread())
        self._judge(request, body, only="auth")  # before anything is read, as servers do
        if request.method == "GET" and (about := catalogue.listing(path)):
            return about
        if request.method == "POST" and path.endswith(":countTokens"):
            return catalogue.counted(body, path)
        wire = _wire(request.method, path)
        question = wire.understand(body, path)
        self._judge(request, body, question.model)
        for rule in self.rules:
            rule(question, body)
        self.asked.append(question)
        move = self.policy(question)
        if inspect.isawaitable(move):
            move = await move
        return wire.encode(_checked(move), question, body)  # type: ignore[no-any-return]

    def _judge(self, request: httpx.Request, body: Json, model: str = "", only: str = "") -> None:
        """Hold a request against the provider's rules, or only against the one of this name."""
        gemini = catalogue.is_gemini(request.url.path)
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        if gemini:
            key = request.headers.get("x-goog-api-key") or request.url.params.get("key", "")
        generation = generation_of(model, "gemini" if gemini else "openai")
        asked = Request(mapping(body), model, generation, request.url.host, key, self.keys)
        judge(asked, [rule for rule in self.provider_rules if only in ("", rule.name)])


def gateway(
    policy: Policy,
    rules: Iterable[OwnRule] = (),
    troubles: Iterable[Trouble] = (),
    *,
    leave_out: Iterable[str] = (),
    keys: Iterable[str] = (),
) -> Gateway:
    """A gateway with this policy behind it, and with these troubles in front of it.

    `leave_out` names rules of the providers that it does not have. Raises ValueError for a name
    that none has.
    """
    kept = without(RULES, *leave_out)
    return Gateway(policy, tuple(rules), tuple(troubles), kept, frozenset(keys))


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
