"""The context gauge: how full the window is, and what a compaction did."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.context.compactor import Budget, plan_truncation
from freya_teach.context.numbered import OMITTED, Numbered, summary_message
from freya_teach.lab.views.gauge import gauge
from freya_teach.lab.views.gauge_levels import Gauge, Segment
from freya_teach.lab.views.view import View
from freya_teach.llm.messages import Message, ToolCall, ToolMessage, assistant, system, user
from freya_teach.llm.request_tokens import MESSAGE_TOKENS, message_tokens
from freya_teach.llm.tokens import BytesCounter
from tests.lab.views.pictures import assert_told, lab, words_in
from tests.lab.views.test_words import ANY_TEXT
from tests.strategies import valid_histories


class Characters:
    """One token for each character, so that the tests can count."""

    def count(self, text: str) -> int:
        return len(text)


def turn(number: int, tokens: int) -> list[Message]:
    """Make up a turn of so many tokens."""
    asked = f"Question {number}?"
    answer = "x" * (tokens - len(asked) - 2 * MESSAGE_TOKENS)
    return [user(asked), assistant(answer)]


HISTORY = [message for number in (1, 2, 3, 4) for message in turn(number, 100)]


def gauged(history: Sequence[Message], **more: int) -> View[Gauge]:
    return gauge(history, **{"window": 1_000, **more}, counter=Characters())


def parts(view: View[Gauge]) -> dict[str, int]:
    return {each.name: each.tokens for each in view.frames[view.step - 1].now.segments}


def test_each_step_is_the_state_after_one_more_turn_and_the_last_comes_first() -> None:
    view = gauged(HISTORY, fixed=50)
    assert view.step == len(view.frames) == 4
    assert [frame.now.total for frame in view.frames] == [150, 250, 350, 450]
    assert parts(view.play([2])) == {"system and tools": 50, "turn 1": 100, "turn 2": 100}
    for step in range(1, 5):
        assert_told(view.at(step))


def test_system_messages_of_the_history_count_as_fixed() -> None:
    view = gauged([system("12345"), *HISTORY], fixed=50)
    assert parts(view)["system and tools"] == 50 + MESSAGE_TOKENS + 5


@pytest.mark.parametrize(
    ("fixed", "words"),
    [
        (100, "✓ below 65 %"),
        (185, "✓ below 65 %"),
        (186, "◔ over 65 %: summarised in the background"),
        (366, "! over 85 %: made smaller before the next call"),
        (501, "✗ over what the answer leaves by 1"),
        (601, "✗ over the window by 1"),
    ],
)
def test_how_full_it_is_is_told_in_words_and_signs(fixed: int, words: str) -> None:
    view = gauged(HISTORY, fixed=fixed, answer=100)
    assert view.text.splitlines()[1] == words
    assert words in words_in(view.svg)
    assert_told(view.picture)


def test_the_marks_are_shares_of_what_the_answer_leaves() -> None:
    assert "▲ 65 % = 585 · ▲ 85 % = 765 · ▲ limit 900 · ▲ window 1,000" in (
        gauged(HISTORY, answer=100).text
    )
    assert "▲ 85 % = 850 · ▲ window 1,000" in gauged(HISTORY).text


def test_what_is_too_much_is_striped() -> None:
    fine, over = gauged(HISTORY, fixed=600).svg, gauged(HISTORY, fixed=700).svg
    assert over.count("<rect") > fine.count("<rect") + 10


def test_several_states_are_compared_and_turns_keep_their_numbers() -> None:
    after = [summary_message("Short."), OMITTED, *HISTORY[4:], *turn(5, 100)]
    view = lab().view.gauge(
        [("before", HISTORY), ("after", after)], window=1_000, counter=Characters()
    )
    assert list(parts(view)) == ["summary", "remark", "turn 3", "turn 4", "turn 5"]
    told = view.text.splitlines()
    assert "− left: turn 1, turn 2 (200 tokens)" in told
    assert "+ new: turn 5 (100 tokens)" in told
    assert told[2].startswith("1 before: 400 tokens · ✓")
    assert told[3] == "    holds turn 1 100, turn 2 100, turn 3 100, turn 4 100"
    assert told[4].startswith("2 after: ")
    assert "this step" not in view.at(1).text
    for step in (1, 2):
        assert_told(view.at(step))


def test_many_turns_that_left_in_a_row_are_named_as_one() -> None:
    states = [("before", HISTORY), ("after", [summary_message("Short."), *HISTORY[6:]])]
    told = lab().view.gauge(states, window=1_000, counter=Characters()).text
    assert "− left: turns 1 to 3 (300 tokens)" in told.splitlines()


def test_what_stood_before_the_first_request_is_named_when_it_leaves() -> None:
    states = [("before", [assistant("a" * 96), *HISTORY]), ("after", HISTORY[4:])]
    told = lab().view.gauge(states, window=1_000, counter=Characters()).text
    assert "− left: no request, turn 1, turn 2 (300 tokens)" in told.splitlines()


def test_a_turn_that_became_shorter_is_told_as_such() -> None:
    def with_result(length: int) -> list[Message]:
        call = assistant(ToolCall("c", "read", "{}"))
        return [*HISTORY, user("Read."), call, ToolMessage("c", "x" * length)]

    view = gauge(
        [("before", with_result(900)), ("after", with_result(100))],
        window=1_000,
        counter=Characters(),
    )
    changed = [line for line in view.text.splitlines() if line.startswith("≠")]
    assert len(changed) == 1
    assert changed[0].startswith("≠ turn 5: ")
    assert "(-800)" in view.text


def test_the_same_question_twice_is_two_turns_and_the_newest_stays() -> None:
    twice: list[Message] = [user("Again?"), assistant("Yes."), user("Again?"), assistant("Yes.")]
    view = gauge([("before", twice), ("after", twice[2:])], window=1_000)
    assert list(parts(view)) == ["turn 2"]


def test_states_that_are_the_same_are_told_apart_by_their_numbers() -> None:
    view = gauge([("idle", HISTORY)] * 8, window=1_000)
    assert "8 idle: " in view.text
    assert "2 idle: " not in view.text
    assert "3 idle: " in view.text


def test_many_turns_are_gathered_in_one_row() -> None:
    view = gauged([message for number in range(20) for message in turn(number, 40)])
    assert "■ the 12 turns before: 480 · 48.0 %" in view.text
    assert_told(view.picture)


def test_a_plan_of_the_kernel_can_be_looked_at() -> None:
    def size(message: Message) -> int:
        return message_tokens(message, Characters())

    plan = plan_truncation(Numbered(tuple(HISTORY)), Budget(250, 220), size)
    assert plan is not None
    rest = HISTORY[plan.through + 1 :]
    after = [HISTORY[each] if isinstance(each, int) else each for each in plan.by]
    view = gauge([("before", HISTORY), ("after", [*after, *rest])], window=300,
                 counter=Characters())  # fmt: skip
    assert view.frames[-1].now.total == plan.tokens
    assert "+ new: remark" in view.text


def test_a_window_without_room_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="An answer of 500 tokens leaves no room"):
        gauge(HISTORY, window=500, answer=500)


def test_an_empty_history_can_be_drawn() -> None:
    view = gauge([], window=100, fixed=10)
    assert view.frames[0].now.segments == (Segment("fixed", "system and tools", 10),)
    assert_told(view.picture)
    assert_told(gauge([assistant("Hi.")], window=100).picture)


@settings(max_examples=30, deadline=None)
@given(valid_histories(), st.integers(1, 3_000), st.integers(0, 3_000))
def test_any_history_adds_up_and_gives_a_sound_picture(
    history: list[Message], window: int, fixed: int
) -> None:
    view = gauge(history, window=window, fixed=fixed, answer=window // 8, counter=BytesCounter())
    expected = fixed + sum(message_tokens(message, BytesCounter()) for message in history)
    assert view.frames[-1].now.total == expected
    assert_told(view.picture)


@settings(max_examples=30)
@given(ANY_TEXT, ANY_TEXT)
def test_any_text_gives_a_sound_picture(label: str, said: str) -> None:
    assert_told(gauge([(label, [user(said)]), (said, [user(label)])], window=50).picture)
