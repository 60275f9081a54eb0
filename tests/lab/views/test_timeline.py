"""The picture of the tool calls of a run."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.events import Event, TextDelta, ToolStatus, TurnStarted
from freya_teach.lab.views.timeline import timeline
from freya_teach.llm.messages import ToolCall
from freya_teach.trace import ToolState
from tests.lab.views.pictures import QUESTION, TOOLS, assert_told, lab, words_in
from tests.lab.views.test_words import ANY_TEXT

STATES: Sequence[ToolState] = ("running", "completed", "failed", "refused")


def status(id_: str, state: ToolState, observation: str = "", name: str = "") -> ToolStatus:
    return ToolStatus(ToolCall(id_, name or f"tool_{id_}", "{}"), state, observation)


SIDE_BY_SIDE: list[Event] = [
    TurnStarted(1),
    status("a", "running"),
    status("b", "running"),
    status("b", "completed", "120"),
    status("c", "refused", "not allowed"),
    status("a", "failed", "no such city"),
    TurnStarted(2),
]


def test_each_tool_event_is_one_step_and_the_words_tell_each_picture() -> None:
    view = timeline(SIDE_BY_SIDE)
    assert view.step == len(view.frames) == 5
    for step in range(1, 6):
        assert_told(view.at(step))


def test_calls_that_ran_at_the_same_moment_are_named_as_such() -> None:
    told = timeline(SIDE_BY_SIDE).text
    assert "event 1: … running, event 5: ✗ failed; side by side with tool_b" in told
    assert "event 2: … running, event 3: ✓ completed; side by side with tool_a" in told
    assert "    event 4: ⊘ refused\n" in told
    assert told.count("side by side") == 2


def test_calls_one_after_the_other_are_not_side_by_side() -> None:
    events = [status(each, state) for each in "ab" for state in ("running", "completed")]
    assert "side by side" not in timeline(events).text


def test_a_state_is_a_sign_and_a_word_and_not_only_a_colour() -> None:
    shown = words_in(timeline(SIDE_BY_SIDE).svg)
    assert [words for words in shown if words[0] in "✓✗⊘"] == [
        "✗ failed",
        "✓ completed",
        "⊘ refused",
    ]


def test_an_earlier_moment_does_not_know_what_comes() -> None:
    told = timeline(SIDE_BY_SIDE).at(2).text
    assert "since event 1: … running; side by side with tool_b" in told
    assert "event 2 of 5, 2 running" in told
    assert "failed" not in told
    assert "tool_c" not in told


def test_the_same_id_in_a_later_run_gets_a_lane_of_its_own() -> None:
    events = [status("a", state) for state in ("running", "completed")] * 2
    assert len(timeline(events).frames[-1].lanes) == 2


def test_two_open_calls_with_one_id_end_one_after_the_other() -> None:
    events = [status("a", "running")] * 2 + [status("a", "completed"), status("a", "failed")]
    lanes = timeline(events).frames[-1].lanes
    assert [(lane.state, lane.last) for lane in lanes] == [("completed", 3), ("failed", 4)]


def test_a_run_without_tools_can_be_drawn() -> None:
    view = timeline([TurnStarted(1), TextDelta("Hi.")])
    assert_told(view.picture)
    assert view.text == "The tool calls: none was made"


async def test_the_events_of_a_real_run_are_enough() -> None:
    kernel = lab().kernel("weather-openai")
    async with kernel.http:
        agent = kernel.agent(TOOLS)
        events = [event async for event in agent.stream(QUESTION)]
    lanes = timeline(events).frames[-1].lanes
    assert [(lane.turn, lane.state) for lane in lanes] == [(1, "completed")] * 2


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(STATES), ANY_TEXT), max_size=80),
    ANY_TEXT,
)
def test_any_order_of_events_with_any_text_gives_a_sound_picture(
    made: list[tuple[str, ToolState, str]], name: str
) -> None:
    assert_told(timeline([status(id_, state, text, name) for id_, state, text in made]).picture)
