"""One history beside both bodies: the same label for the same thing."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.errors import TranscriptError
from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.lab.views.protocol import TWO_TOOLS
from freya_teach.lab.views.wire_picture import Shown
from freya_teach.lab.views.wire_pieces import Piece
from freya_teach.lab.views.wires import wires
from freya_teach.llm.gemini import UNSIGNED
from freya_teach.llm.messages import (
    Message,
    ReasoningPart,
    ToolCall,
    ToolMessage,
    assistant,
    system,
    user,
)
from freya_teach.llm.protocol import Route
from tests.lab.views.pictures import assert_told, lab, words_in
from tests.strategies import valid_histories

CALLS = (
    ToolCall("call_1", "get_current_weather", '{"city": "Beijing"}'),
    ToolCall("call_2", "calculate", '{"expression": "15 * 8"}'),
)
HISTORY: tuple[Message, ...] = (
    system("Be brief."),
    user("Weather, and 15 * 8?"),
    assistant("I will look.", *CALLS),
    ToolMessage("call_2", "120"),
    ToolMessage("call_1", "sunny"),
    assistant("Sunny, and 120."),
)


def pieces(shown: Shown, column: int) -> Iterator[Piece]:
    for row in shown.rows:
        for unit in row.cells[column]:
            yield from unit.pieces


def labels(shown: Shown, column: int) -> list[str]:
    return [piece.label for piece in pieces(shown, column) if piece.label]


def told(text: str, number: int) -> list[str]:
    """Take the lines of one message out of the words: who said it, and its three lines."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line[1:].startswith(f"{number} "))
    return [line.strip() for line in lines[start : start + 4]]


def test_the_same_label_stands_in_all_three_columns() -> None:
    shown = wires(HISTORY).frames[0]
    assert labels(shown, 0) == ["0", "1", "2", "2A", "2B", "3B", "4A", "5"]
    assert labels(shown, 1) == labels(shown, 0)
    assert labels(shown, 2) == ["0", "1", "2", "2A", "2B", "4A", "3B", "5"]


def test_each_message_is_told_in_three_lines() -> None:
    head, neutral, openai, gemini = told(wires(HISTORY).text, 3)
    assert head == "3 tool"
    assert neutral == 'neutral: message 3: tool: [3B] call_id: "call_2" · text: "120"'
    assert openai == (
        'OpenAI: messages[3] role "tool" ≠ one message per result: [3B] '
        'tool_call_id: "call_2" ≠ the link; no name here · content: "120"'
    )
    assert gemini.startswith('Gemini: contents[2] role "user" ≠ tool is called user: [3B] parts[1]')
    assert 'functionResponse.name: "calculate" ◆ only here: the name' in gemini


def test_what_only_one_wire_has_and_what_has_another_form_is_marked() -> None:
    text = wires(HISTORY).text
    assert 'function.arguments: "{\\"city\\": \\"Beijing\\"}" ≠ a text with JSON in it' in text
    assert 'functionCall.args: {"city": "Beijing"} ≠ an object' in text
    assert "systemInstruction ≠ outside the list" in text
    assert "assistant is called model" in text
    assert 'contents[4] role "user": parts[0] ◆ added by the adapter · text: "(continued)"' in text
    assert 'model: "gpt-5.6-terra" ≠ Gemini: in the address' in text


def test_a_step_marks_the_pieces_of_its_message_in_all_three_columns_with_a_sign() -> None:
    view = wires(HISTORY)
    assert len(view.frames) == 6
    for step in range(1, 7):
        assert words_in(view.at(step).svg).count("▶") == 3
        assert_told(view.at(step))
    assert "\n▶2 assistant\n" in view.play([3]).text


def test_a_call_that_gemini_did_not_make_shows_its_placeholder_where_the_target_wants_one() -> None:
    for model, wanted in (("gemini-3.8-flash", True), ("gemini-2.5-flash", False)):
        text = wires(HISTORY, foreign=model).text
        assert f"{model} takes over" in text
        assert (f'thoughtSignature: "{UNSIGNED}" ◆ only here: a placeholder' in text) is wanted


def test_the_foreign_model_may_speak_openais_wire_and_gets_no_signature() -> None:
    text = wires(TWO_TOOLS, foreign="gpt-4o").text
    assert "◆ kept for Gemini alone" in told(text, 2)[1]
    assert "ignature" not in told(text, 2)[2]
    assert 'model: "gpt-4o"' in text


def test_a_route_chooses_server_and_generation() -> None:
    route = Route("openai", "my-llama", "http://127.0.0.1:8080")
    text = wires(HISTORY, [calculate], openai=route).text
    assert 'model: "my-llama"' in text
    assert "reasoning_effort" not in text
    assert "reasoning_effort" in wires(HISTORY, [calculate]).text


def test_tools_stand_side_by_side_under_their_own_labels() -> None:
    shown = wires(HISTORY, [get_current_weather, calculate]).frames[0]
    for column in range(3):
        assert labels(shown, column)[-2:] == ["T0", "T1"]


def test_system_messages_that_one_wire_joins_keep_their_numbers() -> None:
    view = wires([system("One."), system("Two."), user("Hi.")])
    assert labels(view.frames[0], 1) == ["0+1", "2"]
    assert labels(view.frames[0], 2) == ["0", "1", "2"]
    assert_told(view.picture)


def test_a_message_that_a_wire_leaves_out_is_told_as_nothing() -> None:
    view = wires([user("Hi."), assistant(ReasoningPart("Hm.")), user("Well?")])
    assert told(view.text, 1)[3] == "Gemini: (nothing)"
    assert labels(view.frames[0], 2) == ["0", "2"]


def test_a_long_history_shows_the_messages_around_the_selected_one() -> None:
    said = [(user, assistant)[n % 2](f"Question {n}.") for n in range(40)]
    view = wires(said)
    text = view.at(21).text
    assert "Question 20." in text
    assert "Question 3." not in text
    assert "earlier" in text
    assert "later" in text


def test_an_empty_history_can_be_drawn() -> None:
    view = wires([])
    assert "no message yet" in view.text
    assert_told(view.picture)


def test_a_broken_history_has_no_wires() -> None:
    with pytest.raises(TranscriptError, match="call_1"):
        wires(HISTORY[:4])


def test_the_lesson_offers_it() -> None:
    assert lab().view.wires(HISTORY).text == wires(HISTORY).text


@settings(max_examples=15)
@given(valid_histories(), st.sampled_from(["gemini-3.8-flash", "gemini-2.5-flash"]))
def test_any_history_finds_its_own_words_behind_each_label(
    messages: list[Message], model: str
) -> None:
    """The text behind a label is the text of the message with that number, on every wire."""
    view = wires(messages, gemini=model)
    for column in (1, 2):
        for piece in pieces(view.frames[0], column):
            for line in piece.lines:
                name, _, value = line.text.strip().partition(": ")
                if name in ("text", "content") and piece.numbers and len(line.text) < 200:
                    assert_said_by(messages, piece.numbers, value)
    for step in {1, len(view.frames)}:
        assert_told(view.at(step))


def assert_said_by(messages: list[Message], numbers: tuple[int, ...], value: str) -> None:
    if value in ("null", '""') or not value.startswith('"') or "\\u" in value:
        return
    said = "".join(
        message.text + getattr(message, "reasoning", "")
        for message in (messages[number] for number in numbers)
    )
    words = json.loads(value)
    assert words in said or (len(numbers) > 1 and said in words.replace("\n\n", "")), value


@settings(max_examples=15)
@given(valid_histories())
def test_any_history_has_each_call_and_result_once_on_every_wire(messages: list[Message]) -> None:
    shown = wires(messages).frames[0]
    calls = {call for call in labels(shown, 0) if call[-1].isalpha()}
    for column in (1, 2):
        found = [each for each in labels(shown, column) if each[-1].isalpha()]
        assert len(found) == len(set(found))
        assert set(found) == calls
