"""The wire diff: one history, and what both providers get to see of it. (chapter 5.2)

    lab.view.wires(history, tools=[get_current_weather])
    lab.view.wires(history, foreign="gemini-3.8-flash")     who takes the conversation over

Three columns: the harness's own messages, OpenAI's body, Gemini's body. The same thing has the
same label in all three. The steps go from message to message; the selected one is marked with ▶.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from freya_teach.config import BASE_URLS, MODELS
from freya_teach.lab.views.view import View
from freya_teach.lab.views.wire_fields import unit_of
from freya_teach.lab.views.wire_picture import Shown, draw
from freya_teach.lab.views.wire_pieces import Labels, Row, label, side_by_side
from freya_teach.lab.views.wire_units import gemini_units, neutral_units, openai_units
from freya_teach.llm.gemini import build_request as build_gemini
from freya_teach.llm.messages import Json, Message
from freya_teach.llm.openai import build_request as build_openai
from freya_teach.llm.protocol import ModelRequest, Route, ToolSpec, WireRequest
from freya_teach.llm.wirejson import as_list
from freya_teach.tools.registry import ToolRegistry
from freya_teach.tools.tool import Tool

Tools = Iterable[Tool | ToolSpec | Callable[..., Any]]


def wires(
    messages: Sequence[Message],
    tools: Tools = (),
    *,
    openai: Route | str = MODELS["openai"],
    gemini: Route | str = MODELS["gemini"],
    foreign: str = "",
) -> View[Shown]:
    """Lay a history beside the two bodies that the adapters make of it; step 1 is message 0.

    `foreign` names a model that takes the conversation over: the column of its wire is for it.
    Raises `TranscriptError` for a history that breaks the rule, and `UnsupportedContent`.
    """
    if foreign.lower().removeprefix("models/").startswith("gemini"):
        gemini = foreign
    elif foreign:
        openai = foreign
    request = ModelRequest(tuple(messages), specs(tools))
    sent = build_openai(request, _route("openai", openai))
    other = build_gemini(request, _route("gemini", gemini))
    rows = tuple(
        _rows(label(messages), json.loads(sent.body), json.loads(other.body), request.tools)
    )
    heads = "the harness keeps it", _address(sent), _address(other)
    roles = tuple(message.role for message in request.messages)
    first = Shown(heads, rows, roles, 0, foreign)
    return View([replace(first, selected=n) for n in range(max(1, len(roles)))], draw)


def specs(tools: Tools) -> tuple[ToolSpec, ...]:
    """What the model is told of these tools."""
    offered = list(tools)
    ready = [each for each in offered if isinstance(each, ToolSpec)]
    registry = ToolRegistry(each for each in offered if not isinstance(each, ToolSpec))
    return (*ready, *(tool.spec for tool in registry.active(registry.toolboxes).values()))


def _route(provider: str, model: Route | str) -> Route:
    return model if isinstance(model, Route) else Route(provider, model, BASE_URLS[provider])


def _rows(labels: Labels, body: Json, other: Json, tools: Sequence[ToolSpec]) -> Iterator[Row]:
    """The history row by row, then the tools, then what else is in the bodies."""
    yield from side_by_side(
        tuple(neutral_units(labels)),
        tuple(openai_units(body, labels)),
        tuple(gemini_units(other, labels)),
    )
    declared = [each for box in as_list(other.get("tools")) for each in box["functionDeclarations"]]
    offered = zip(tools, as_list(body.get("tools")), declared, strict=True)
    for place, (tool, here, there) in enumerate(offered):
        told = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        name = f"T{place}"
        yield Row((
            (unit_of("neutral", f"tool {place}", told, name),),
            (unit_of("openai", f"tools[{place}]", here, name),),
            (unit_of("gemini", f"functionDeclarations[{place}]", there, name),),
        ))  # fmt: skip
    rest = {name: each for name, each in body.items() if name not in ("messages", "tools")}
    mine = ("contents", "tools", "systemInstruction")
    more = {name: each for name, each in other.items() if name not in mine}
    there = (unit_of("gemini", "other fields", more),) if more else ()
    yield Row(((), (unit_of("openai", "other fields", rest),), there))


def _address(sent: WireRequest) -> str:
    return "POST /" + sent.url.partition("://")[2].partition("/")[2]
