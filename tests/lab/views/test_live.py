"""A screen made of a run's events, as they come."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.agent.history import InMemoryHistory
from freya_teach.events import (
    ContextCompacted,
    Event,
    ReasoningDelta,
    RunDone,
    TextDelta,
    ToolStatus,
    TurnDone,
    TurnStarted,
)
from freya_teach.lab.views.live import live
from freya_teach.llm.messages import ToolCall
from freya_teach.llm.protocol import Usage
from freya_teach.trace import ToolState
from tests.lab.views.pictures import QUESTION, TOOLS, assert_told, lab, run_of, turn, words_in
from tests.lab.views.test_words import ANY_TEXT

STATES: Sequence[ToolState] = ("running", "completed", "failed", "refused")


def status(id_: str, state: ToolState, observation: str = "", run: int = 1) -> ToolStatus:
    return ToolStatus(ToolCall(id_, f"tool_{id_}", "{}"), state, observation, run=run)


RUN: list[Event] = [
    TurnStarted(1, run=1),
    ReasoningDelta("I need ", run=1),
    ReasoningDelta("two tools.", run=1),
    TextDelta("Let me ", run=1),
    TextDelta("look.", run=1),
    status("a", "running"),
    status("b", "running"),
    status("b", "completed", "120"),
    status("a", "failed", "no such city"),
    TurnDone(turn(1, tokens=40), run=1),
    ContextCompacted(900, 300, summarised=True, usage=Usage(5, 2, 7), run=1),
    TurnStarted(2, run=1),
    TextDelta("It is 120.", run=1),
    TurnDone(turn(2, tokens=60), run=1),
    RunDone(run_of([turn(1)]), run=1),
]


def test_each_event_is_one_step_after_the_empty_screen_and_the_words_tell_each_picture() -> None:
    view = live(RUN)
    assert view.step == len(view.frames) == len(RUN) + 1
    for step in range(1, view.step + 1):
        assert_told(view.at(step))


def test_the_pieces_of_a_text_become_one_that_grows() -> None:
    view = live(RUN)
    assert "1 answer: Let me  ◀ new" in view.at(5).text
    assert "1 answer: Let me look. ◀ new" in view.at(6).text
    assert "1 thinking: I need two tools." in view.text
    assert "2 answer: It is 120." in view.text


def test_a_call_that_ends_changes_the_row_that_it_began() -> None:
    view = live(RUN)
    assert "turn 1: 2 running" in view.at(8).text
    assert view.text.count("tool_a({})") == view.text.count("tool_b({})") == 1
    assert "tool_b({}) ✓ completed ◀ new\n        → 120" in view.at(9).text
    assert "✓ completed" in words_in(view.at(9).svg)


def test_tokens_are_those_of_the_turns_that_are_over_and_of_the_summary() -> None:
    view = live(RUN)
    told = [view.at(step).text.partition(" tokens")[0].rpartition(" ")[2] for step in (10, 11, 12)]
    assert told == ["0", str(40), str(47)]
    assert "■ over: answer" in view.text


def test_an_earlier_moment_does_not_know_what_comes() -> None:
    told = live(RUN).at(3).text
    assert "tool" not in told
    assert "answer" not in told


def test_two_runs_whose_events_are_mixed_stay_apart() -> None:
    events: list[Event] = [
        event
        for mine, yours in zip("one", "two", strict=True)
        for event in (TextDelta(mine, session="a", run=1), TextDelta(yours, session="b", run=2))
    ]
    told = live(events).text
    assert "run 1 of session a" in told
    assert "answer: one\n" in told
    assert "answer: two ◀ new" in told


def test_whoever_looks_at_the_newest_step_follows_and_whoever_looks_back_is_left_alone() -> None:
    view = live()
    view.put(RUN[0])
    assert view.step == 2
    view.play([1])
    view.put(RUN[1])
    assert (view.step, len(view.frames)) == (1, 3)
    view.play(["next", "next"])
    view.put(RUN[2])
    assert view.step == 4


def test_the_slider_grows_with_the_events_and_shows_the_newest() -> None:
    pytest.importorskip("ipywidgets")
    view = live()
    view.widget()
    for event in RUN:
        view.put(event)
    assert (view.shown.slider.max, view.shown.slider.value) == (len(RUN) + 1, len(RUN) + 1)
    view.shown.slider.value = 6
    assert "Let me look." in view.shown.picture.value
    assert "It is 120." not in view.shown.picture.value


def test_of_a_long_text_the_picture_shows_the_end() -> None:
    view = live([TextDelta(f"word{number} ") for number in range(2000)])
    assert_told(view.picture)
    assert "word1999" in " ".join(words_in(view.svg))
    assert "word1 " not in " ".join(words_in(view.svg))


async def test_a_real_run_is_shown_while_it_goes_on() -> None:
    kernel, view = lab().kernel("weather-openai-stream", stream=True), live()
    async with kernel.http:
        agent = kernel.agent(TOOLS)
        agent.events.subscribe(view.put)
        result = await agent.run(QUESTION, session=InMemoryHistory(session_id="maya"))
    assert f"· {result.trace.usage.total_tokens:,} tokens" in view.text
    assert result.text in view.text
    assert "run 1 of session maya · ■ over: answer" in view.text


@settings(max_examples=30)
@given(
    st.lists(
        st.one_of(
            st.builds(TextDelta, ANY_TEXT, run=st.sampled_from([1, 2])),
            st.builds(ReasoningDelta, ANY_TEXT, run=st.sampled_from([1, 2])),
            st.builds(
                status,
                st.sampled_from("ab"),
                st.sampled_from(STATES),
                ANY_TEXT,
                st.sampled_from([1, 2]),
            ),
        ),
        max_size=20,
    )
)
def test_any_order_of_events_with_any_text_gives_a_sound_picture(events: list[Event]) -> None:
    assert_told(live(events).picture)
