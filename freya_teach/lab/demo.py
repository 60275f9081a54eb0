"""The course's first question over either wire, and what a good run is. (chapter 2.3)

Two tools, both needed, neither depending on the other: a good run makes exactly two model calls,
calls each tool once and both in the first turn, and answers with both results.
"""

from __future__ import annotations

from dataclasses import dataclass

from freya_teach.lab.lesson import Lesson, frozen_ambient, is_live
from freya_teach.lab.network import open_network, shut_network
from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.trace import RunResult

QUESTION = "What is the weather in Beijing today, and how much is 15 * 8?"
SECTION = "2.3"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that has to be true of the run."""

    text: str
    holds: bool


def scenario_name(wire: str, *, stream: bool) -> str:
    """The folder of recordings for this way of asking."""
    return f"weather-{wire}-stream" if stream else f"weather-{wire}"


async def ask(lab: Lesson, wire: str, *, stream: bool) -> RunResult:
    """Ask the question over one wire. Raises `LLMError` or `ReplayMismatch`."""
    kernel = lab.kernel(scenario_name(wire, stream=stream), provider=wire, stream=stream)
    agent = kernel.agent([get_current_weather, calculate])
    async with kernel.http:
        return await agent.run(QUESTION)


def demo_lab() -> Lesson:
    """A lesson for the command line: the same recordings, no line printed."""
    live = is_live()
    if live:
        open_network()
    else:
        shut_network()
    return Lesson(SECTION, frozen_ambient(), live)


def checks(result: RunResult) -> list[Check]:
    """What has to be true; the run is a good one when all of it holds."""
    turns = result.trace.turns
    first = [trace.call.name for trace in turns[0].calls] if turns else []
    all_calls = [trace.call.name for trace in result.trace.calls]
    keys = [(trace.call.name, trace.call.arguments) for trace in result.trace.calls]
    said = result.text.lower()
    return [
        Check("exactly two model calls", len(turns) == 2),
        Check("each tool called once", sorted(all_calls) == ["calculate", "get_current_weather"]),
        Check("both in the first turn", len(first) == 2),
        Check("no call repeated", len(keys) == len(set(keys))),
        Check("every call succeeded", not any(trace.is_error for trace in result.trace.calls)),
        Check(
            "the answer holds both results",
            # not "15": the degrees of the day are a number of the question too
            result.stop_reason == "answer" and "sunny" in said and "120" in said,
        ),
        Check("the tokens were counted", result.trace.usage.total_tokens > 0),
    ]
