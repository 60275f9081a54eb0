"""Where a conversation may be cut: never between a call and its result, never without its user."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.context.window import (
    Cut,
    cuts,
    kept_sizes,
    last_messages,
    last_tokens,
    last_turns,
    system_end,
    turn_starts,
)
from freya_teach.llm import transcript
from freya_teach.llm.messages import Message, ToolCall, ToolMessage, assistant, system, user
from tests.context.conversations import HISTORIES, newest_request, tokens

CONVERSATION: list[Message] = [
    system("Be brief."),
    user("1?"),
    assistant("one"),
    user("2?"),
    assistant(ToolCall("a", "read", "{}"), ToolCall("b", "read", "{}")),
    ToolMessage("b", "B"),
    ToolMessage("a", "A"),
    assistant("Once more.", ToolCall("c", "read", "{}")),
    ToolMessage("c", "C"),
    assistant("two"),
    user("3?"),
    assistant(ToolCall("d", "read", "{}")),
    ToolMessage("d", "D"),
    assistant("three"),
]


def words(messages: Sequence[Message]) -> str:
    """Say in one line what stayed."""
    return " ".join(getattr(m, "text", "") or "(calls)" for m in messages)


def test_whole_turns_go_first_then_rounds_of_the_turn_before_last_then_those_of_the_last() -> None:
    kept = [
        words([CONVERSATION[i] for i in cut.kept(1, len(CONVERSATION))])
        for cut in cuts(CONVERSATION, 1)
    ]
    assert kept == [
        "Be brief. 1? one 2? (calls) B A Once more. C two 3? (calls) D three",
        "Be brief. 2? (calls) B A Once more. C two 3? (calls) D three",
        "Be brief. 2? Once more. C two 3? (calls) D three",
        "Be brief. 2? two 3? (calls) D three",
        "Be brief. 3? (calls) D three",
        "Be brief. 3? three",
    ]


def test_a_conversation_without_a_user_can_be_cut_before_each_answer() -> None:
    assert cuts([assistant("1"), system("late"), assistant("2"), assistant("3")]) == [
        Cut(0),
        Cut(2),
        Cut(3),
    ]


@given(HISTORIES)
def test_what_a_cut_leaves_is_valid_and_keeps_system_prompt_and_newest_request(
    history: list[Message],
) -> None:
    start = system_end(history)
    for cut in cuts(history, start):
        kept = [history[i] for i in cut.kept(start, len(history))]
        transcript.check(kept)
        assert kept[:start] == history[:start]
        assert newest_request(kept) is newest_request(history)


@given(HISTORIES)
def test_what_a_cut_leaves_begins_with_the_user_if_there_is_one(history: list[Message]) -> None:
    start = system_end(history)
    if turn_starts(history):
        for cut in cuts(history, start)[1:]:
            assert history[cut.kept(start, len(history))[start]].role == "user"


@given(HISTORIES)
def test_the_size_of_what_a_cut_leaves_is_the_sum_of_its_messages(history: list[Message]) -> None:
    start = system_end(history)
    found = cuts(history, start)
    assert kept_sizes(history, found, start, tokens) == [
        sum(tokens(history[i]) for i in cut.kept(start, len(history))[start:]) for cut in found
    ]


# ---- sliding windows -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "kept"),
    [
        (13, words(CONVERSATION)),
        (12, "Be brief. 2? (calls) B A Once more. C two 3? (calls) D three"),
        (6, "Be brief. 2? two 3? (calls) D three"),
        (4, "Be brief. 3? (calls) D three"),
        (1, "Be brief. 3? three"),
    ],
)
def test_a_window_by_messages_is_as_large_as_a_safe_cut_allows(count: int, kept: str) -> None:
    assert words(last_messages(CONVERSATION, count)) == kept


@pytest.mark.parametrize(
    ("count", "kept"),
    [
        (9, words(CONVERSATION)),
        (3, words(CONVERSATION)),
        (2, "Be brief. 2? (calls) B A Once more. C two 3? (calls) D three"),
        (1, "Be brief. 3? (calls) D three"),
        (0, "Be brief. 3? (calls) D three"),
    ],
)
def test_a_window_by_turns_counts_user_messages(count: int, kept: str) -> None:
    assert words(last_turns(CONVERSATION, count)) == kept


@given(HISTORIES, st.integers(0, 5_000))
def test_a_window_by_tokens_fits_or_is_the_smallest_there_is(
    history: list[Message], limit: int
) -> None:
    kept = last_tokens(history, limit, tokens)
    transcript.check(kept)
    assert sum(map(tokens, kept)) <= limit or kept == last_tokens(history, 0, tokens)
