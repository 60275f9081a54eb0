"""Every row of the policy, in both directions, whole and streamed, in the middle of a tool task.

The gateway is both providers, with its own rules of what each accepts. The first route makes two
calls at once; its answer to the results goes wrong; what then happens is in the table.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from freya_teach import Agent, Ambient, InMemoryHistory, Settings, build_kernel
from freya_teach.config import RouteSettings
from freya_teach.errors import (
    AllRoutesFailed,
    ContextOverflowError,
    LLMError,
    RequestRefused,
    ResponseCut,
)
from freya_teach.lab.gateway import faults, refusing
from freya_teach.lab.gateway.gateway import Gateway, gateway
from freya_teach.lab.gateway.trouble import Answer, Trouble
from freya_teach.lab.policy import assistant as policy
from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.llm import transcript
from freya_teach.llm.messages import ToolMessage

QUESTION = "What is the weather in Beijing today, and how much is 15 * 8?"
SECOND = {"openai": "gemini", "gemini": "openai"}
MODELS = {"openai": "gpt-5.6-terra", "gemini": "gemini-3.8-flash"}
ROUTES = {provider: f"{provider}/{model}" for provider, model in MODELS.items()}


@dataclass
class World:
    """Time that passes only when somebody waits."""

    now: float = 0.0
    waits: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    @property
    def ambient(self) -> Ambient:
        return Ambient(monotonic=lambda: self.now, sleep=self.sleep, random=lambda: 0.0)


@dataclass
class Place:
    """Both providers, what goes wrong there, and an agent that asks `first`, then the other."""

    first: str
    troubles: tuple[Trouble, ...] = ()
    stream: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    world: World = field(default_factory=World)
    session: InMemoryHistory = field(default_factory=InMemoryHistory)

    def __post_init__(self) -> None:
        self.gateway: Gateway = gateway(policy, troubles=self.troubles)
        self.heard: list[str] = []

    def agent(self) -> Agent:
        settings = Settings(
            provider=self.first,
            fallbacks=(RouteSettings(provider=SECOND[self.first]),),
            stream=self.stream,
            **self.settings,
        )
        kernel = build_kernel(settings, self.gateway.client(), self.world.ambient)
        agent = kernel.agent([get_current_weather, calculate], instructions="Be brief.")
        agent.events.subscribe(lambda event: self.heard.append(event.name))
        return agent

    async def run(self) -> Any:
        return await self.agent().run(QUESTION, session=self.session)


def says(name: str, status: int, openai: dict[str, Any], gemini: dict[str, Any]) -> Trouble:
    """A refusal in both providers' words."""

    async def spoil(request: httpx.Request, _: Answer) -> httpx.Response:
        error = gemini if "/v1beta/" in request.url.path else openai
        return httpx.Response(status, json={"error": error})

    return Trouble(name, spoil)


def bad_request() -> Trouble:
    text = "Invalid JSON payload received."
    return says(
        "bad_request",
        400,
        {"message": text, "type": "invalid_request_error", "param": None, "code": None},
        {"code": 400, "message": text, "status": "INVALID_ARGUMENT"},
    )


def too_large_per_minute() -> Trouble:
    text = "Request too large for m in organization org-x on tokens per min (TPM): Limit 30000."
    return says(
        "too_large_per_minute",
        429,
        {"message": text, "type": "tokens", "param": None, "code": "rate_limit_exceeded"},
        {"code": 429, "message": text, "status": "RESOURCE_EXHAUSTED"},
    )


@dataclass(frozen=True)
class Case:
    """A trouble that lasts, and what the attempts at the second answer are then."""

    trouble: Callable[[], Trouble]
    kinds: tuple[str, ...]
    """The kinds of failure of the first route, in order."""
    waits: tuple[float, ...] = ()
    logged: int = logging.WARNING


TRANSPORT = ("connection",) * 3
BACKOFF = (0.5, 1.0)
FAILS_OVER = {
    "connection refused": Case(faults.connection_refused, TRANSPORT, BACKOFF),
    "read time-out": Case(faults.read_timeout, TRANSPORT, BACKOFF),
    "dropped": Case(lambda: faults.drop_after(0), ("response_cut",) * 3, BACKOFF),
    "cut": Case(lambda: faults.cut_stream(0), ("response_cut",) * 3, BACKOFF),
    "rate limit": Case(lambda: refusing.rate_limited(4), ("rate_limited",) * 3, (4.0, 4.0)),
    "rate limit in ms": Case(
        lambda: refusing.rate_limited(retry_after_ms=250), ("rate_limited",) * 3, (0.25, 0.25)
    ),
    "rate limit without a hint": Case(refusing.rate_limited, ("rate_limited",) * 3, BACKOFF),
    "rate limit beyond the budget": Case(lambda: refusing.rate_limited(61), ("rate_limited",)),
    "rate limit twice beyond it": Case(
        lambda: refusing.rate_limited(40), ("rate_limited",) * 2, (40.0,)
    ),
    "hard quota": Case(refusing.quota_exhausted, ("quota_exhausted",), logged=logging.ERROR),
    "too large per minute": Case(too_large_per_minute, ("context_overflow",)),
    "server error": Case(refusing.server_error, ("server",) * 3, BACKOFF),
    "overloaded": Case(refusing.overloaded, ("server",) * 3, BACKOFF),
    "error inside a 200": Case(lambda: faults.error_in_stream(0), ("server",) * 3, BACKOFF),
    "a proxy's page": Case(lambda: faults.html_page(502), ("server",) * 3, BACKOFF),
    "a hotel's page": Case(lambda: faults.html_page(200), ("bad_response",)),
    "auth": Case(refusing.bad_key, ("auth",), logged=logging.ERROR),
    "model gone": Case(refusing.model_gone, ("model_not_found",), logged=logging.ERROR),
}

both_ways = pytest.mark.parametrize("first", ["openai", "gemini"])
whole_and_streamed = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
LASTING = tuple(range(2, 9))
"""The requests of the first wire that are struck: all but the one that makes the calls."""


@both_ways
@whole_and_streamed
@pytest.mark.parametrize("case", FAILS_OVER.values(), ids=FAILS_OVER)
async def test_a_failure_that_lasts_moves_the_task_to_the_other_provider_which_finishes_it(
    case: Case, first: str, caplog: pytest.LogCaptureFixture, *, stream: bool
) -> None:
    place = Place(first, (case.trouble().on(*LASTING, wire=first),), stream)
    result = await place.run()
    assert result.stop_reason == "answer"
    assert "120" in result.text
    assert [len(turn.calls) for turn in result.trace.turns] == [2, 0]
    attempts = result.trace.turns[1].attempts
    assert [(each.route, each.error) for each in attempts] == [
        *((ROUTES[first], kind) for kind in case.kinds),
        (ROUTES[SECOND[first]], ""),
    ]
    assert (tuple(place.world.waits), place.session.model) == (case.waits, ROUTES[SECOND[first]])
    assert [each.waited for each in attempts] == [0.0, *case.waits, 0.0]
    assert max(record.levelno for record in caplog.records) == case.logged
    transcript.check(place.session.messages)


@both_ways
@whole_and_streamed
@pytest.mark.parametrize(
    ("trouble", "kinds"),
    [
        (faults.connection_refused, ["connection"] * 2),
        (refusing.server_error, ["server"] * 2),
        (lambda: faults.cut_stream(0), ["response_cut"] * 2),
        (lambda: refusing.rate_limited(5), ["rate_limited"] * 2),
    ],
    ids=["connection", "server", "cut", "rate limit"],
)
async def test_a_failure_that_passes_is_waited_for_and_the_first_provider_finishes(
    trouble: Callable[[], Trouble], kinds: list[str], first: str, *, stream: bool
) -> None:
    place = Place(first, (trouble().on(2, 3, wire=first),), stream)
    result = await place.run()
    attempts = result.trace.turns[1].attempts
    assert [each.error for each in attempts] == [*kinds, ""]
    assert {each.route for each in attempts} == {ROUTES[first]}
    assert (result.stop_reason, place.session.model) == ("answer", ROUTES[first])


@both_ways
@whole_and_streamed
async def test_a_bad_request_is_told_and_nobody_else_is_asked(first: str, *, stream: bool) -> None:
    place = Place(first, (bad_request().on(*LASTING, wire=first),), stream)
    with pytest.raises(RequestRefused, match="Invalid JSON payload") as caught:
        await place.run()
    assert [each.error for each in caught.value.attempts] == ["bad_request"]
    assert {each.wire for each in place.gateway.arrived} == {first}


@whole_and_streamed
async def test_an_overflow_moves_to_a_larger_window_only(*, stream: bool) -> None:
    """gpt-5.6 takes 922,000 tokens and gemini-3.8 takes 1,048,576."""
    trouble = refusing.context_overflow()
    place = Place("openai", (trouble.on(*LASTING, wire="openai"),), stream)
    assert (await place.run()).stop_reason == "answer"
    assert place.session.model == ROUTES["gemini"]
    place = Place("gemini", (trouble.on(*LASTING, wire="gemini"),), stream)
    with pytest.raises(ContextOverflowError) as caught:
        await place.run()
    assert [each.error for each in caught.value.attempts] == ["context_overflow"]
    assert (caught.value.route, caught.value.window) == (ROUTES["gemini"], 1_048_576)
    assert caught.value.tokens > 0


@both_ways
@whole_and_streamed
async def test_a_filtered_answer_is_shown_as_one_and_nobody_else_is_asked(
    first: str, *, stream: bool
) -> None:
    place = Place(first, (faults.content_filter().on(*LASTING, wire=first),), stream)
    result = await place.run()
    assert (result.stop_reason, place.session.model) == ("content_filter", ROUTES[first])
    assert len(place.gateway.arrived) == 2


@whole_and_streamed
async def test_a_call_that_gemini_could_not_read_is_asked_for_once_more(*, stream: bool) -> None:
    place = Place("gemini", (faults.malformed_call().on(1, wire="gemini"),), stream)
    result = await place.run()
    assert [each.error for each in result.trace.turns[0].attempts] == ["malformed_call", ""]
    assert (result.stop_reason, place.world.waits) == ("answer", [])
    place = Place("gemini", (faults.malformed_call().on(wire="gemini"),), stream)
    result = await place.run()
    assert (result.stop_reason, len(place.gateway.arrived)) == ("error", 2)


@whole_and_streamed
async def test_a_call_whose_arguments_are_cut_off_is_put_right_by_the_model(
    *, stream: bool
) -> None:
    place = Place("openai", (faults.malformed_call().on(1, wire="openai"),), stream)
    result = await place.run()
    assert result.trace.turns[0].attempts[-1].error == ""
    assert result.trace.calls[0].is_error
    assert result.stop_reason == "answer"


@both_ways
async def test_once_a_word_has_been_shown_nobody_else_is_asked(first: str) -> None:
    place = Place(first, (faults.cut_stream().on(*LASTING, wire=first),), stream=True)
    with pytest.raises(ResponseCut) as caught:
        await place.run()
    assert "text:delta" in place.heard
    assert [each.error for each in caught.value.attempts] == ["response_cut"]
    assert len(place.gateway.arrived) == 2
    assert isinstance(place.session.messages[-1], ToolMessage)
    transcript.check(place.session.messages)


async def test_a_thought_that_was_shown_is_part_of_an_answer_too() -> None:
    thought = {"choices": [{"delta": {"reasoning_content": "Hm."}}]}

    async def think(_: httpx.Request, __: Answer) -> httpx.Response:
        return httpx.Response(200, content=b"data: " + json.dumps(thought).encode() + b"\n\n")

    place = Place("openai", (Trouble("think", think),), stream=True)
    with pytest.raises(ResponseCut):
        await place.run()
    assert "reasoning:delta" in place.heard
    assert len(place.gateway.arrived) == 1


@both_ways
@whole_and_streamed
async def test_when_all_have_failed_each_attempt_is_told(first: str, *, stream: bool) -> None:
    place = Place(
        first,
        (
            refusing.overloaded().on(*LASTING, wire=first),
            refusing.bad_key().on(wire=SECOND[first]),
        ),
        stream,
    )
    with pytest.raises(AllRoutesFailed) as caught:
        await place.run()
    assert [each.error for each in caught.value.attempts] == ["server"] * 3 + ["auth"]
    for words in (ROUTES[first], ROUTES[SECOND[first]], "overloaded", "after a wait of 1.0 s"):
        assert words in str(caught.value)
    assert isinstance(caught.value.__cause__, LLMError)
    transcript.check(place.session.messages)


@both_ways
@whole_and_streamed
async def test_a_conversation_stays_with_the_route_that_answered_it_last(
    first: str, *, stream: bool
) -> None:
    place = Place(first, (refusing.server_error().on(2, 3, 4, wire=first),), stream)
    agent = place.agent()
    await agent.run(QUESTION, session=place.session)
    place.world.now += 10_000  # the first route is long well again
    asked = len(place.gateway.arrived)
    await agent.run("And 2 * 3?", session=place.session)
    assert {each.wire for each in place.gateway.arrived[asked:]} == {SECOND[first]}
    await agent.run("And 2 * 3?", session=InMemoryHistory())
    assert place.gateway.arrived[-1].wire == first


@both_ways
@whole_and_streamed
async def test_a_conversation_goes_there_and_back_and_is_accepted_each_time(
    first: str, *, stream: bool
) -> None:
    """The gateway refuses a missing or a foreign signature, an id it does not know, and more."""
    other = SECOND[first]
    place = Place(first, (refusing.quota_exhausted().on(2, wire=first),), stream)
    await place.run()
    assert place.session.model == ROUTES[other]
    place.gateway = gateway(policy, troubles=(refusing.quota_exhausted().on(1, wire=other),))
    result = await place.agent().run("How much is 7 * 6?", session=place.session)
    assert "42" in result.text
    assert place.session.model == ROUTES[first]
    transcript.check(place.session.messages)


@both_ways
async def test_without_a_budget_for_waits_each_route_is_asked_once(first: str) -> None:
    place = Place(
        first,
        (refusing.server_error().on(*LASTING, wire=first),),
        settings={"retry_seconds": 0},
    )
    result = await place.run()
    assert [each.error for each in result.trace.turns[1].attempts] == ["server", ""]
    assert place.world.waits == []
