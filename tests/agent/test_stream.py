"""Following a run: at any speed, from any moment, and beside other runs."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach import InMemoryHistory
from freya_teach.events import Event, RunDone, TextDelta, TurnStarted
from tests.wire_answers import EVERY_WIRE, Answer, Model, way_of_asking

every_wire = pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
LONG = "One word after the other comes over the wire. " * 20


async def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


def two_turns() -> Model:
    """Script a model that calls a tool and then answers at length."""
    return Model(Answer("Let me see.", [("double", {"number": 4})]), Answer(LONG))


def text_of(events: list[Event]) -> str:
    """What was said in all."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@every_wire
@settings(max_examples=25)
@given(limit=st.integers(0, 4), pauses=st.lists(st.integers(0, 30), max_size=12))
async def test_a_reader_of_any_speed_gets_every_letter_and_the_same_end(
    spoken: dict[str, Any], limit: int, pauses: list[int]
) -> None:
    pauses = [*pauses]
    run = two_turns().kernel(**spoken).agent([double]).start("4?")
    seen: list[Event] = []
    async for event in run.follow(limit):
        seen.append(event)
        for _ in range(pauses.pop() if pauses else 0):
            await asyncio.sleep(0)
    result = await run.result()
    assert text_of(seen) == "Let me see." + LONG
    assert seen[-1] == RunDone(result)
    rest = [event.name for event in seen if not isinstance(event, TextDelta)]
    assert rest == [
        "turn:started",
        "tool:status",
        "tool:status",
        "turn:done",
        "turn:started",
        "turn:done",
        "run:done",
    ]


@every_wire
async def test_a_run_does_not_wait_for_who_reads_it(spoken: dict[str, Any]) -> None:
    run = two_turns().kernel(**spoken).agent([double]).start("4?")
    events = run.follow(limit=0)
    assert str(await run.result()) == LONG
    assert await anext(events) == TurnStarted(1)


async def test_two_may_follow_one_run_and_one_who_comes_late_gets_the_end() -> None:
    run = two_turns().kernel(stream=True).agent([double]).start("4?")

    async def read() -> list[Event]:
        return [event async for event in run]

    first, second = await asyncio.gather(read(), read())
    assert first == second
    assert await read() == first[-1:]


@every_wire
async def test_one_listener_can_tell_two_runs_apart(spoken: dict[str, Any]) -> None:
    agent = Model(Answer("Yes."), Answer("No."), Answer("Well.")).kernel(**spoken).agent()
    heard: list[Event] = []
    agent.events.subscribe(heard.append)
    maya, ben = InMemoryHistory(session_id="maya"), InMemoryHistory(session_id="ben")
    await asyncio.gather(agent.run("?", session=maya), agent.run("?", session=ben))
    await agent.run("And nobody?")
    said = {
        key: text_of([e for e in heard if (e.session, e.run) == key])
        for key in dict.fromkeys((e.session, e.run) for e in heard)
    }
    assert said == {("maya", 1): "Yes.", ("ben", 2): "No.", ("", 3): "Well."}


async def test_the_events_of_a_handle_carry_its_number_and_session() -> None:
    agent = Model(Answer("Yes."), Answer("No.")).kernel().agent()
    await agent.run("?")
    run = agent.start("?", session=InMemoryHistory(session_id="s1"))
    events = [event async for event in run]
    assert {(event.session, event.run) for event in events} == {("s1", 2)}
    assert (run.session_id, run.number) == ("s1", 2)


async def test_who_begins_to_listen_in_the_middle_of_a_run_hears_the_rest_of_it() -> None:
    heard: list[Event] = []

    def double_aloud(number: int) -> int:
        """Twice the number."""
        agent.events.subscribe(heard.append)
        return 2 * number

    model = Model(Answer("Let me see.", [("double_aloud", {"number": 2})]), Answer("4."))
    agent = model.kernel().agent([double_aloud])
    await agent.run("?", session=InMemoryHistory(session_id="s1"))
    assert [event.name for event in heard][:2] == ["tool:status", "turn:done"]
    assert {(event.session, event.run) for event in heard} == {("s1", 1)}
    assert isinstance(heard[-1], RunDone)


async def test_a_run_that_nobody_holds_goes_on_to_its_end() -> None:
    agent, done = two_turns().kernel(stream=True).agent([double]), asyncio.Event()
    agent.events.subscribe(lambda event: done.set() if isinstance(event, RunDone) else None)
    agent.start("4?")
    await asyncio.wait_for(done.wait(), 30)
