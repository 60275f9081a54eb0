"""One turn: tools side by side, results in call order, and nobody runs what was not allowed."""

import asyncio
import dataclasses
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach import InMemoryHistory, ToolContext
from freya_teach.errors import ContextOverflowError, NeedsSmaller, TranscriptError
from freya_teach.events import Event, ToolStatus
from freya_teach.llm import transcript
from freya_teach.llm.messages import (
    ProviderData,
    ReasoningPart,
    ToolCall,
    ToolMessage,
    assistant,
    user,
)
from tests.wire_answers import EVERY_WIRE, Answer, Model, way_of_asking

every_wire = pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)


def calls_of(name: str, count: int) -> Answer:
    """Make an answer that calls a tool so many times at once, with a number each."""
    return Answer(calls=[(name, {"number": number}) for number in range(count)])


def results(session: InMemoryHistory) -> list[str]:
    """Take the observations in the order in which they are stored."""
    return [m.text for m in session.messages if isinstance(m, ToolMessage)]


# ---- side by side --------------------------------------------------------------------------


@every_wire
@pytest.mark.parametrize(("limit", "count"), [(1, 4), (3, 7), (8, 5)])
async def test_so_many_tools_run_at_once_and_no_more(
    spoken: dict[str, Any], limit: int, count: int
) -> None:
    running, peak, full = 0, 0, asyncio.Event()

    async def work(number: int) -> int:
        """Wait until as many run as may run."""
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        if running == min(limit, count):
            full.set()
        await full.wait()
        running -= 1
        return number

    model = Model(calls_of("work", count), Answer("Done."))
    kernel = model.kernel(parallel_tools=limit, **spoken)
    result = await kernel.agent([work]).run("?")
    assert [trace.observation for trace in result.trace.calls] == [str(n) for n in range(count)]
    assert peak == min(limit, count)


async def test_sync_tools_run_side_by_side_too() -> None:
    together = threading.Barrier(3, timeout=30)

    def meet(number: int) -> int:
        """Wait for two others."""
        together.wait()
        return number

    result = await Model(calls_of("meet", 3), Answer("Done.")).kernel().agent([meet]).run("?")
    assert [trace.observation for trace in result.trace.calls] == ["0", "1", "2"]


@settings(max_examples=100, deadline=None)
@given(order=st.integers(1, 6).flatmap(lambda n: st.permutations(range(n))))
def test_results_come_back_in_call_order_whatever_order_they_finish_in(order: list[int]) -> None:
    finished: list[int] = []

    async def run() -> InMemoryHistory:
        gates = [asyncio.Event() for _ in order]

        async def work(number: int) -> str:
            """Wait for the one before in the order of finishing."""
            await gates[number].wait()
            finished.append(number)
            if len(finished) < len(order):
                gates[order[len(finished)]].set()
            return f"result {number}"

        gates[order[0]].set()
        session = InMemoryHistory()
        model = Model(calls_of("work", len(order)), Answer("Done."))
        result = await model.kernel().agent([work]).run("?", session=session)
        sent = [m["content"] for m in model.bodies[1]["messages"] if m["role"] == "tool"]
        assert sent == results(session) == [t.observation for t in result.trace.calls]
        return session

    session = asyncio.run(run())
    assert finished == order
    assert results(session) == [f"result {number}" for number in range(len(order))]
    transcript.check(session.messages)


async def test_the_assistants_message_is_stored_before_its_tools_run() -> None:
    session, seen = InMemoryHistory(), []

    async def look() -> None:
        """Look at the history."""
        seen.append([m.role for m in session.messages])

    model = Model(Answer(calls=[("look", {}), ("look", {})]), Answer("Done."))
    await model.kernel().agent([look]).run("?", session=session)
    assert seen == [["user", "assistant"]] * 2


async def test_all_results_of_a_turn_are_stored_as_one_write() -> None:
    writes: list[list[str]] = []

    class Written(InMemoryHistory):
        async def append(self, *messages: Any) -> None:
            writes.append([message.role for message in messages])
            await super().append(*messages)

    async def work(number: int) -> int:
        """Give the number back."""
        return number

    model = Model(calls_of("work", 3), Answer("Done."))
    await model.kernel(max_calls=2).agent([work]).run("?", session=Written())
    assert writes == [["user"], ["assistant"], ["tool"] * 3, ["assistant"]]


# ---- the approval hook ---------------------------------------------------------------------


async def told_after(
    approve: Callable[[ToolCall], Awaitable[Any]], spoken: dict[str, Any]
) -> tuple[list[str], list[int], list[tuple[int, str]]]:
    """Run three calls under a hook: what the model was told, what ran, and what was shown."""
    ran: list[int] = []
    shown: list[tuple[int, str]] = []

    async def work(number: int) -> int:
        """Note that it ran."""
        ran.append(number)
        return number

    def show(event: Event) -> None:
        if isinstance(event, ToolStatus):
            shown.append((number_of(event.call), event.state))

    session = InMemoryHistory()
    kernel = Model(calls_of("work", 3), Answer("Done.")).kernel(**spoken)
    agent = kernel.agent([work], approve=approve)
    agent.events.subscribe(show)
    result = await agent.run("?", session=session)
    assert result.text == "Done."
    assert [trace.observation for trace in result.trace.calls] == results(session)
    transcript.check(session.messages)
    return results(session), ran, shown


def number_of(call: ToolCall) -> int:
    """Read the number that a call was made with."""
    return int(json.loads(call.arguments)["number"])


@every_wire
async def test_a_hook_may_refuse_a_call_and_the_model_is_told_why(spoken: dict[str, Any]) -> None:
    async def approve(call: ToolCall) -> str | None:
        return ["not today", None, ""][number_of(call)]

    told, ran, shown = await told_after(approve, spoken)
    assert told == [
        "The call was refused: not today",
        "1",
        "The call was refused: no reason given",
    ]
    assert ran == [1]
    assert sorted(shown) == [(0, "refused"), (1, "completed"), (1, "running"), (2, "refused")]


@every_wire
@pytest.mark.parametrize(
    "problem",
    [KeyError("who"), TimeoutError(), asyncio.CancelledError()],
    ids=lambda problem: type(problem).__name__,
)
async def test_a_hook_that_fails_refuses(spoken: dict[str, Any], problem: BaseException) -> None:
    async def approve(call: ToolCall) -> None:
        if number_of(call) != 1:
            raise problem

    told, ran, _ = await told_after(approve, spoken)
    unclear = "Not run: it could not be found out whether this call is allowed."
    assert (told, ran) == ([unclear, "1", unclear], [1])


async def test_a_hook_that_is_no_coroutine_refuses() -> None:
    told, ran, _ = await told_after(lambda _: None, {})  # type: ignore[arg-type, return-value]
    assert (ran, len(told)) == ([], 3)


async def test_a_hook_that_says_true_refuses() -> None:
    """Only None lets a call run, so a hook that was written the wrong way round runs nothing."""

    async def approve(_: ToolCall) -> bool:
        return True

    told, ran, _ = await told_after(approve, {})
    assert (told, ran) == (["The call was refused: True"] * 3, [])


async def test_while_a_hook_thinks_the_run_can_be_cancelled_and_nothing_counts_as_refused() -> None:
    asked, session, seen = asyncio.Event(), InMemoryHistory(), []

    async def approve(_: ToolCall) -> None:
        asked.set()
        await asyncio.Event().wait()

    async def work(number: int) -> int:
        """Give the number back."""
        return number

    agent = Model(calls_of("work", 3)).kernel().agent([work], approve=approve)
    agent.events.subscribe(lambda event: seen.append(event.name))
    task = asyncio.ensure_future(agent.run("?", session=session))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["turn:started"]
    transcript.check(session.messages)


@every_wire
async def test_nobody_is_asked_to_approve_a_call_that_cannot_be_run(spoken: dict[str, Any]) -> None:
    asked: list[str] = []

    async def approve(call: ToolCall) -> None:
        asked.append(call.name)

    async def work(number: int) -> int:
        """Give the number back."""
        return number

    calls = [("work", {"number": "many"}), ("wrok", {}), ("work", {"number": 1})]
    model = Model(Answer(calls=calls), Answer("Done."))
    result = await model.kernel(**spoken).agent([work], approve=approve).run("?")
    assert [trace.state for trace in result.trace.calls] == ["failed", "failed", "completed"]
    assert asked == ["work"]


# ---- what is shown of a call ---------------------------------------------------------------


@every_wire
async def test_what_a_tool_knows_of_its_session_is_in_no_call_that_is_shown_and_in_no_request(
    spoken: dict[str, Any],
) -> None:
    heard: list[Event] = []

    def work(number: int, context: ToolContext) -> str:
        """Look at the session."""
        assert context.session_id == "the-secret-name"
        return str(number)

    model = Model(calls_of("work", 2), Answer("Done."))
    agent = model.kernel(**spoken).agent([work])
    agent.events.subscribe(heard.append)
    await agent.run("?", session=InMemoryHistory(session_id="the-secret-name"))
    shown = [event.call for event in heard if isinstance(event, ToolStatus)]
    assert len(shown) == 4
    everything = f"{shown} {model.bodies}"
    assert "the-secret-name" not in everything
    assert "context" not in everything


@every_wire
async def test_when_the_run_ends_in_the_middle_of_a_sync_tool_the_tool_is_told(
    spoken: dict[str, Any],
) -> None:
    started, told = threading.Event(), threading.Event()

    def work(number: int, context: ToolContext) -> None:  # noqa: ARG001 - as the model calls it
        """Wait for the end."""
        started.set()
        if context.cancel.wait(30):
            told.set()

    agent = Model(calls_of("work", 1)).kernel(**spoken).agent([work])
    task = asyncio.ensure_future(agent.run("?"))
    assert await asyncio.to_thread(started.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(told.wait, 30)


@every_wire
async def test_every_call_is_shown_to_its_end_also_one_that_is_not_run(
    spoken: dict[str, Any],
) -> None:
    async def work(number: int) -> int:
        """Give the number back."""
        return number

    shown: list[tuple[str, str]] = []
    model = Model(
        Answer(calls=[("work", {"number": 1})], finish="length"),
        Answer(calls=[("work", {"number": 2}), ("wrok", {"number": 3}), ("work", {"number": 4})]),
        Answer("Done."),
    )
    agent = model.kernel(max_calls=2, **spoken).agent([work])

    def show(event: Event) -> None:
        if isinstance(event, ToolStatus) and event.state != "running":
            shown.append((event.state, event.observation[:13]))

    agent.events.subscribe(show)
    result = await agent.run("?")
    assert sorted(shown) == sorted((t.state, t.observation[:13]) for t in result.trace.calls)
    assert shown[0] == ("refused", "Not run: your")
    assert sorted(shown[1:]) == [
        ("completed", "2"),
        ("failed", "There is no t"),
        ("refused", "Not run: the "),
    ]


# ---- ids -----------------------------------------------------------------------------------


@every_wire
async def test_call_ids_are_unique_in_the_history_although_the_model_repeats_them(
    spoken: dict[str, Any],
) -> None:
    async def work(number: int) -> int:
        """Give the number back."""
        return number

    session = InMemoryHistory()
    model = Model(calls_of("work", 2), calls_of("work", 2), Answer("Done."))
    await model.kernel(**spoken).agent([work]).run("?", session=session)
    ids = [m.call_id for m in session.messages if isinstance(m, ToolMessage)]
    assert len(set(ids)) == 4
    transcript.check(session.messages)


@every_wire
async def test_without_tools_an_invented_call_is_dropped(spoken: dict[str, Any]) -> None:
    session = InMemoryHistory()
    model = Model(Answer("Hm.", [("invented", {})]))
    result = await model.kernel(**spoken).agent().run("?", session=session)
    assert (result.text, result.stop_reason, result.trace.calls) == ("Hm.", "answer", ())
    assert [m.role for m in session.messages] == ["user", "assistant"]


# ---- too much for the model ----------------------------------------------------------------

SMALL: dict[str, Any] = {"models": {"gpt-5.6": {"window": 1_000}, "gemini-3.8": {"window": 1_000}}}


SUMMARY = "They talked about words."


def long_session() -> InMemoryHistory:
    return InMemoryHistory([user("word " * 2_000), assistant("I see.")])


@every_wire
async def test_a_history_that_is_too_large_is_made_smaller_before_anything_is_sent(
    spoken: dict[str, Any],
) -> None:
    model, session = Model(Answer(SUMMARY), Answer("Yes.")), long_session()
    agent = model.kernel(**SMALL, **spoken).agent(instructions="Be brief.")
    assert str(await agent.run("?", session=session)) == "Yes."
    assert all(len(json.dumps(body)) < 5_000 for body in model.bodies)
    assert [len(session.messages), session.revision] == [3, 1]
    assert "word word" in session.snapshots[0][0].text


@every_wire
async def test_what_the_server_finds_too_large_is_made_smaller_too(spoken: dict[str, Any]) -> None:
    refusal = httpx.Response(400, json={"error": {"message": "prompt is too long"}})
    model, session = Model(refusal, Answer(SUMMARY), Answer("Yes.")), long_session()
    agent = model.kernel(**spoken).agent()
    assert str(await agent.run("?", session=session)) == "Yes."
    assert "word word" in json.dumps(model.bodies[0])
    assert "word word" not in json.dumps(model.bodies[-1])


@every_wire
async def test_it_is_made_smaller_once_and_not_for_ever(spoken: dict[str, Any]) -> None:
    refusal = httpx.Response(400, json={"error": {"message": "prompt is too long"}})
    model, session = Model(refusal, Answer(SUMMARY), refusal, refusal, refusal), long_session()
    with pytest.raises(ContextOverflowError):
        await model.kernel(**spoken).agent().run("?", session=session)
    assert len(model.requests) == 3  # the summary is one of them


@every_wire
async def test_without_a_way_to_make_it_smaller_the_run_says_so_and_sends_nothing(
    spoken: dict[str, Any],
) -> None:
    model, session = Model(), long_session()
    agent = dataclasses.replace(model.kernel(**SMALL, **spoken).agent(), compaction=None)
    with pytest.raises(NeedsSmaller, match=r"takes 1,000: nothing was sent. Begin a new conv"):
        await agent.run("?", session=session)
    transcript.check(session.messages)


# ---- who answered --------------------------------------------------------------------------


@every_wire
async def test_the_session_remembers_who_answered(spoken: dict[str, Any]) -> None:
    session = InMemoryHistory()
    await Model(Answer("Yes.")).kernel(model="m", **spoken).agent().run("?", session=session)
    assert session.model == f"{spoken['provider']}/m"


async def test_what_a_server_seals_has_its_name_and_a_stranger_does_not_see_it() -> None:
    thought = {"content": "Yes.", "reasoning_content": "Hm."}
    answers = [
        httpx.Response(200, json={"choices": [{"message": thought, "finish_reason": "stop"}]}),
        Answer("Yes."),
        Answer("Yes."),
    ]
    model, session = Model(*answers), InMemoryHistory()
    for host in ("a.example", "b.example", "a.example"):
        kernel = model.kernel(model="m", base_url=f"https://{host}")
        await kernel.agent(instructions="").run("?", session=session)
    (part,) = (p for p in session.messages[1].parts if isinstance(p, ReasoningPart))  # type: ignore[union-attr]
    data = ProviderData("openai@a.example", {"field": "reasoning_content"})
    assert part == ReasoningPart("Hm.", data)
    _, second, third = (body["messages"] for body in model.bodies)
    assert "reasoning_content" not in json.dumps(second)
    assert third[1]["reasoning_content"] == "Hm."


@every_wire
@pytest.mark.parametrize(
    "broken",
    [
        [user("?"), assistant(ToolCall("a", "f", "{}")), user("Hello?")],
        [user("?"), ToolMessage("a", "1")],
        [user("?"), assistant(ToolCall("a", "f", "{}")), ToolMessage("b", "1")],
        [user("?"), assistant(ToolCall("a", "f", "{}"), ToolCall("a", "f", "{}"))],
    ],
    ids=["unanswered", "orphan", "stranger", "twice"],
)
async def test_a_broken_history_is_not_sent_and_the_error_names_the_message(
    spoken: dict[str, Any], broken: list[Any]
) -> None:
    model = Model()
    with pytest.raises(TranscriptError, match=r"message \d"):
        await model.kernel(**spoken).agent().run("?", session=InMemoryHistory(broken))
    assert model.requests == []
