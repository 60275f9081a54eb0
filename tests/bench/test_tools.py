"""What a tool call costs: checking its arguments against bare pydantic, and eight side by side."""

import asyncio
import gc
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import pytest
from pydantic import BaseModel, TypeAdapter

from freya_teach import tool
from freya_teach.tools.arguments import read_arguments
from tests.bench.pairs import HEADING, measure
from tests.wire_answers import Answer, Model

PAIRS = 15
CALLS = 2_000
"""Calls in one sample."""
CHECK_AIM, TOGETHER_AIM = 2.0, 2.0
TOGETHER = 8
SLEEP = 0.2
Report = dict[str, list[str]]
TOGETHER_HEADING = HEADING.replace("CPU, medians of all pairs", "wall, medians of all pairs")


class Stop(BaseModel, extra="forbid"):
    city: str
    nights: int = 1


class Small(BaseModel, extra="forbid"):
    city: str
    nights: int = 1


class Large(BaseModel, extra="forbid"):
    name: str
    stops: list[Stop]
    price: float | None = None
    tags: list[str] = []
    kind: Literal["hotel", "hut"] = "hut"


def small(city: str, nights: int = 1) -> None: ...


def large(
    name: str,
    stops: list[Stop],
    price: float | None = None,
    tags: list[str] = [],  # noqa: B006 - what a learner writes
    kind: Literal["hotel", "hut"] = "hut",
) -> None: ...


LARGE = {
    "name": "North",
    "stops": [{"city": "Oslo", "nights": 2}, {"city": "Bergen"}, {"city": "Narvik", "nights": 3}],
    "price": 1250.5,
    "tags": ["train", "boat", "winter"],
}


@pytest.fixture(autouse=True)
def without_gc() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def cpu_seconds(check: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    for _ in range(CALLS):
        check(text)
    return time.process_time() - started


@pytest.mark.bench
@pytest.mark.parametrize(
    ("what", "function", "model", "arguments"),
    [
        ("two arguments", small, Small, {"city": "Oslo", "nights": 2}),
        ("five, one of them nested", large, Large, LARGE),
    ],
)
def test_arguments_are_checked_at_half_the_speed_of_bare_pydantic_or_faster(
    report: Report,
    what: str,
    function: Callable[..., None],
    model: type[BaseModel],
    arguments: dict[str, Any],
) -> None:
    made, adapter, text = tool(function), TypeAdapter(model), json.dumps(arguments)
    values, note = read_arguments(made, text)
    assert (values, note) == (dict(adapter.validate_json(text)), "")
    pairs = measure(
        lambda: cpu_seconds(adapter.validate_json, text),
        lambda: cpu_seconds(partial(read_arguments, made), text),
        pairs=PAIRS,
    )
    row = pairs.row(what, CHECK_AIM, units=CALLS / 1000)
    report.setdefault(f"Checking the arguments of 1,000 calls\n{HEADING}", []).append(row)
    assert pairs.ratio <= CHECK_AIM


def nap(number: int) -> int:
    """Sleep in a thread."""
    time.sleep(SLEEP)
    return number


async def doze(number: int) -> int:
    """Sleep in the event loop."""
    await asyncio.sleep(SLEEP)
    return number


async def wall_seconds(function: Callable[..., Any], count: int) -> float:
    """Let a model call a tool so many times at once; return what the whole run took."""
    calls = [(function.__name__, {"number": number}) for number in range(count)]
    agent = Model(Answer(calls=calls), Answer("Done.")).kernel().agent([function])
    started = time.perf_counter()
    result = await agent.run("?")
    seconds = time.perf_counter() - started
    assert [trace.observation for trace in result.trace.calls] == [str(n) for n in range(count)]
    return seconds


@pytest.mark.bench
@pytest.mark.parametrize("function", [nap, doze], ids=lambda function: function.__name__)
def test_eight_tools_that_sleep_take_little_longer_than_one(
    report: Report, function: Callable[..., Any]
) -> None:
    pairs = measure(
        lambda: asyncio.run(wall_seconds(function, 1)),
        lambda: asyncio.run(wall_seconds(function, TOGETHER)),
        pairs=5,
    )
    kind = "async" if asyncio.iscoroutinefunction(function) else "sync"
    row = pairs.row(f"{TOGETHER} {kind} tools against one", TOGETHER_AIM)
    report.setdefault(f"Tools that sleep {SLEEP:g} s each\n{TOGETHER_HEADING}", []).append(row)
    assert pairs.ratio <= TOGETHER_AIM
