"""What the tests of the views share: runs to look at, and pictures taken apart."""

import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

from freya_teach.lab import Lesson, lesson
from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.lab.views.view import Picture
from freya_teach.llm.messages import ToolCall, assistant
from freya_teach.llm.protocol import Exchange, Reply, Usage, WireRequest
from freya_teach.trace import CallTrace, RunResult, StopReason, Trace, TurnTrace

QUESTION = "What is the weather in Beijing today, and how much is 15 * 8?"
TOOLS = [get_current_weather, calculate]
URL = "https://api.openai.com/v1/chat/completions"
SVG = "{http://www.w3.org/2000/svg}"


def lab() -> Lesson:
    return lesson("2.3")


async def recorded(scenario: str, **settings: Any) -> RunResult:
    """Run the question on a scenario of section 2.3."""
    kernel = lab().kernel(scenario, **settings)
    async with kernel.http:
        return await kernel.agent(TOOLS).run(QUESTION)


def turn(
    number: int, *calls: tuple[str, str, str], text: str = "", asked: str = "Hi?", tokens: int = 10
) -> TurnTrace:
    """Make up a turn; a call is its name, its arguments and its observation."""
    made = [ToolCall(f"c{n}", name, arguments) for n, (name, arguments, _) in enumerate(calls)]
    reply = Reply(
        assistant(*([text] if text else []), *made), "stop", "stop", Usage(tokens, 0, tokens)
    )
    body = {"model": "m", "messages": [{"role": "user", "content": asked}] * number}
    exchange = Exchange(WireRequest(URL, {}, json.dumps(body).encode()), 200, b"{}", reply, 0.0)
    traces = [
        CallTrace(call, observation, "completed", 0.0)
        for call, (_, _, observation) in zip(made, calls, strict=True)
    ]
    return TurnTrace(number, exchange, tuple(traces))


def run_of(
    turns: Sequence[TurnTrace], reason: StopReason = "answer", detail: str = ""
) -> RunResult:
    text = turns[-1].reply.message.text if turns else ""
    return RunResult(text, reason, detail, Trace(tuple(turns)))


def parsed(svg: str) -> list[ET.Element]:
    """Read the SVGs of a picture; raises where one is not well-formed."""
    return list(ET.fromstring(f"<all>{svg}</all>"))  # noqa: S314 - it is our own


def words_in(svg: str) -> list[str]:
    """List every piece of text that the picture shows."""
    return ["".join(each.itertext()) for root in parsed(svg) for each in root.iter(f"{SVG}text")]


def squeezed(text: str) -> str:
    return "".join(text.replace("\u00a0", " ").split())


def assert_told(picture: Picture) -> None:
    """Check that the text names all that the picture shows, and that both are sound."""
    told = squeezed(picture.text)
    for words in words_in(picture.svg):
        shown = squeezed(words)
        pieces = [shown.removesuffix("…"), *shown.removesuffix("…").split("…")]
        assert any(piece in told for piece in pieces), f"{words!r} is not told"
    for root in parsed(picture.svg):
        assert root.get("role") == "img"
        assert root.findtext(f"{SVG}title")
        assert root.findtext(f"{SVG}desc")
