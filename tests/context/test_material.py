"""What a summariser reads: the whole conversation as text, or as much of it as fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.context.material import material
from freya_teach.context.numbered import OMITTED, summary_message
from freya_teach.llm.messages import (
    ImagePart,
    Message,
    OpaquePart,
    ProviderData,
    ReasoningPart,
    ToolCall,
    ToolMessage,
    assistant,
    system,
    user,
)
from tests.context.conversations import HISTORIES, text_of, tokens

TALK: list[Message] = [
    summary_message("Ada looks for a file."),
    OMITTED,
    user("Is it this?", ImagePart("image/png", b"x")),
    system("It is noon."),
    assistant(ReasoningPart("Hm."), "I look.", ToolCall("c1", "read", '{"path": "a.txt"}')),
    ToolMessage("c1", "no such file", is_error=True),
    assistant("No.", OpaquePart("executableCode", ProviderData("gemini", {}))),
]


def test_everything_that_was_said_and_done_is_in_it_but_for_the_thinking() -> None:
    made = material(TALK, 1_000, tokens)
    assert made is not None
    assert made.text == (
        "<conversation>\n"
        "[Summary of the conversation so far]\nAda looks for a file.\n\n"
        "[Messages that stood here no longer fitted and were left out.]\n\n"
        "User: Is it this? [image]\n\n"
        "Note to the assistant: It is noon.\n\n"
        'Assistant: I look. [calls read with {"path": "a.txt"}]\n\n'
        "Result of read (failed): no such file\n\n"
        "Assistant: No. [executableCode]\n"
        "</conversation>"
    )


def test_long_messages_are_shortened_before_old_ones_are_left_out() -> None:
    talk: list[Message] = [user(text_of(20_000)), assistant(text_of(300)), user("And now?")]
    made = material(talk, 400, tokens)
    assert made is not None
    assert "User: What was measured" in made.text
    assert "characters left out" in made.text
    assert text_of(300) in made.text


def test_then_the_oldest_go_and_the_earlier_summary_stays_whole() -> None:
    earlier = summary_message(text_of(600))
    talk = [earlier, *(user(f"Number {i}. {text_of(180)}") for i in range(40))]
    made = material(talk, 500, tokens)
    assert made is not None
    assert earlier.text in made.text
    assert "Number 39." in made.text
    assert "Number 0." not in made.text


@pytest.mark.parametrize("limit", [0, 12])
def test_where_not_even_the_newest_message_fits_there_is_none(limit: int) -> None:
    assert material([user(text_of(400))], limit, tokens) is None


@given(HISTORIES, st.integers(0, 3_000))
def test_it_always_fits(history: list[Message], limit: int) -> None:
    made = material(history, limit, tokens)
    assert made is None or tokens(made) <= limit


@given(HISTORIES)
def test_with_room_enough_there_is_always_one(history: list[Message]) -> None:
    assert material(history, 1_000_000, tokens) is not None
