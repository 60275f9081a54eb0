"""What the source's cut keeps together, and what it does not."""

import random

from hypothesis import given
from hypothesis import strategies as st

from freya_teach.lab.source_compactor import (
    CutsCounted,
    count_cuts,
    random_history,
    source_safe_index,
)
from freya_teach.llm import transcript
from freya_teach.llm.messages import Message, ToolCall, ToolMessage, assistant, user


@given(st.integers(), st.integers(1, 10))
def test_it_does_keep_calls_and_their_results_together(seed: int, keep_turns: int) -> None:
    history = random_history(random.Random(seed))  # noqa: S311 - no secret
    transcript.check(history)
    transcript.check(history[source_safe_index(history, keep_turns) :])


def test_it_counts_messages_where_it_says_turns() -> None:
    turn = [
        user("?"),
        assistant(ToolCall("a", "read", "{}")),
        ToolMessage("a", "1"),
        assistant("!"),
    ]
    assert source_safe_index(turn * 4, 4) == 8
    assert source_safe_index(turn * 2, 4) == 0


def test_one_turn_of_many_rounds_loses_the_request() -> None:
    rounds: list[Message] = [
        message
        for i in range(100)
        for message in (assistant(ToolCall(f"c{i}", "read", "{}")), ToolMessage(f"c{i}", "1"))
    ]
    history = [user("Read all of it."), *rounds]
    at = source_safe_index(history, 6)
    assert history[at].role == "assistant"
    assert at > 0


def test_a_short_history_is_not_cut() -> None:
    assert source_safe_index([user("?"), assistant("!")], 6) == 0


def test_most_cuts_leave_a_history_that_begins_with_the_assistant() -> None:
    counted = count_cuts(2_000)
    assert counted == count_cuts(2_000)
    assert counted.cut == counted.histories == 2_000
    assert counted.share_with_assistant > 0.5
    assert CutsCounted(1, 0, 0, 0).share_with_assistant == 0.0
