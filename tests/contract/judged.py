"""A built request before the gateway's rules, which know nothing of how it was built."""

import json
from typing import Any

from freya_teach.lab.gateway import gemini_wire, openai_wire
from freya_teach.lab.gateway.gateway import RULES
from freya_teach.lab.gateway.generations import generation_of
from freya_teach.lab.gateway.request import Request
from freya_teach.lab.gateway.rule import judge, without
from freya_teach.lab.gateway.wire import Refused
from freya_teach.llm import gemini, openai
from freya_teach.llm.messages import Message
from freya_teach.llm.protocol import ModelRequest, Route

HOSTS = {"openai": "api.openai.com", "gemini": "generativelanguage.googleapis.com"}
BUILDERS: dict[str, Any] = {"openai": openai, "gemini": gemini}
OTHERS_SIGNATURES = ["signature.foreign"]
"""Which signatures a server gave is known to that server only; invented ones stand for its own."""


def route(wire: str, model: str) -> Route:
    """The provider's own server for this model."""
    return Route(wire, model, f"https://{HOSTS[wire]}")


def built(request: ModelRequest, to: Route, without_step: str = "") -> dict[str, Any]:
    """The body that the adapter builds, with all of its steps or all but one."""
    builder = BUILDERS[to.provider]
    steps = [step for step in builder.STEPS if step.name != without_step]
    return dict(json.loads(builder.build_request(request, to, steps).body))


def refusal(body: dict[str, Any], to: Route, leave_out: list[str] | None = None) -> str:
    """What the provider would say to this body; nothing when it takes it."""
    wire = gemini_wire if to.provider == "gemini" else openai_wire
    asked = Request(body, to.model, generation_of(to.model, to.provider), HOSTS[to.provider])  # type: ignore[arg-type]
    try:
        wire.understand(body, f"/v1beta/models/{to.model}:generateContent")
        judge(asked, without(RULES, *(OTHERS_SIGNATURES if leave_out is None else leave_out)))
    except Refused as refused:
        return str(refused.body["error"]["message"])
    return ""


def request(*messages: Message, **more: Any) -> ModelRequest:
    """A request with these messages."""
    return ModelRequest(tuple(messages), **more)
