"""What both providers say to a body, and which rule of theirs says it. (chapter 5.2)

The rules are the gateway's (`lab/gateway/openai_rules.py`, `gemini_rules.py`), asked directly.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from freya_teach.config import BASE_URLS
from freya_teach.errors import FreyaError
from freya_teach.lab.gateway import gemini_rules, gemini_wire, openai_rules, openai_wire
from freya_teach.lab.gateway.generations import generation_of
from freya_teach.lab.gateway.question import Wire
from freya_teach.lab.gateway.request import Request
from freya_teach.lab.gateway.rule import Rule, judge
from freya_teach.lab.gateway.wire import Refused, mapping, text_of
from freya_teach.lab.views.protocol_rows import Body, Rows, messages_of
from freya_teach.llm import gemini, openai
from freya_teach.llm.messages import Json
from freya_teach.llm.protocol import Adapter, ModelRequest, Route, ToolSpec

RULES: dict[Wire, tuple[Rule, ...]] = {"openai": openai_rules.RULES, "gemini": gemini_rules.RULES}
ADAPTERS: dict[Wire, Adapter] = {"openai": openai.ADAPTER, "gemini": gemini.ADAPTER}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Accepted, or refused: with which status, in which words, by which rule."""

    status: int
    words: str = ""
    code: str = ""
    """OpenAI's `code` or `type`, Gemini's `status`."""
    rule: Rule | None = None

    @property
    def accepted(self) -> bool:
        """Whether the provider would answer."""
        return self.status == 200

    @property
    def headline(self) -> str:
        """The verdict in a few words."""
        return "✓ 200 accepted" if self.accepted else f"✗ {self.status} {self.code}".rstrip()


def verdict(wire: Wire, model: str, body: Body) -> Verdict:
    """What this provider says to the body: its first refusal, or that it would answer."""
    sent: Body = json.loads(json.dumps(body))
    request = Request(sent, model, generation_of(model, wire))
    for rule in RULES[wire]:
        try:
            judge(request, [rule])
        except Refused as refused:
            return _refused(refused, rule)
    return _understood(wire, model, sent)


def _understood(wire: Wire, model: str, body: Body) -> Verdict:
    """A body that no rule refuses must still be readable."""
    try:
        if wire == "openai":
            openai_wire.understand(body)
        else:
            gemini_wire.understand(body, f"/v1beta/models/{model}:generateContent")
    except Refused as refused:
        return _refused(refused, None)
    return Verdict(200)


def _refused(refused: Refused, rule: Rule | None) -> Verdict:
    error: Json = mapping(mapping(refused.body).get("error"))
    names = (text_of(error.get(name)) for name in ("status", "code", "type"))
    words = text_of(error.get("message")).strip()
    return Verdict(refused.status, words, next(filter(None, names), ""), rule)


@dataclass(frozen=True, slots=True)
class KernelSays:
    """What the kernel makes of the rows: an error before anything is sent, or a body of its own."""

    error: str = ""
    verdict: Verdict | None = None
    changed: bool = False
    """Whether its body differs from the plain translation."""


def kernel_says(
    wire: Wire, model: str, rows: Rows, tools: tuple[ToolSpec, ...], plain: Body
) -> KernelSays:
    """Hand the rows to the kernel's adapter, and its body to the provider."""
    route = Route(wire, model, BASE_URLS[wire])
    try:
        request = ModelRequest(messages_of(rows), tools)
        body = json.loads(ADAPTERS[wire].build_request(request, route).body)
    except (FreyaError, ValueError) as problem:
        return KernelSays(f"{type(problem).__name__}: {problem}")
    return KernelSays("", verdict(wire, model, body), body != plain)
