"""The stream assembler's picture."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.lab.recording import load_recording
from freya_teach.lab.views.assembling import assembler
from freya_teach.llm.messages import Json
from freya_teach.paths import course_folder
from tests.lab.views.pictures import assert_told, lab, words_in
from tests.lab.views.test_pieces import BEGIN, MIDDLE, OTHER, REST, TOOLS, WHOLE, finish, piece
from tests.lab.views.test_words import ANY_TEXT


def recorded(scenario: str) -> bytes:
    """Read the body of the first exchange of a scenario of section 4.2."""
    body = load_recording(course_folder("fixtures") / "4.2" / scenario / "01.json").response["body"]
    return (body if isinstance(body, str) else json.dumps(body)).encode()


@pytest.mark.parametrize("scenario", ["stream", "whole", "too-long"])
def test_the_words_name_everything_that_each_picture_shows(scenario: str) -> None:
    view = assembler(recorded(scenario))
    for step in range(1, len(view.frames) + 1):
        assert_told(view.at(step))


def test_the_result_is_shown_first() -> None:
    view = assembler(WHOLE, tools=TOOLS)
    assert view.step == len(view.frames) == 6
    assert "the end, after 5 events" in view.text
    assert '[message] finish reason tool_calls, on the wire "tool_calls"' in view.text


def test_a_picture_shows_the_event_what_it_adds_and_every_buffer() -> None:
    text = assembler(WHOLE, tools=TOOLS).at(3).text
    assert '"index":1' in text
    assert "call 2: begins" in text
    assert "[call 1] arguments: not JSON yet …" in text
    assert "[call 2] changed · arguments: a JSON object ✓" in text


def test_the_changed_buffer_is_marked_by_a_word_and_a_thick_frame() -> None:
    svg = assembler(WHOLE, tools=TOOLS).at(2).svg
    assert any(words.startswith("changed") for words in words_in(svg))
    assert svg.count('stroke-width="3"') == 1


def test_an_event_that_adds_nothing_says_so() -> None:
    ping: dict[str, Json] = {"choices": []}
    assert "    nothing" in assembler([BEGIN, ping, finish()]).at(2).text


def test_a_cut_stream_says_what_happened_and_what_is_not_run() -> None:
    one, two = assembler([BEGIN, MIDDLE]).text, assembler([BEGIN, MIDDLE, REST, OTHER]).text
    assert "[no message]" in one
    assert "ResponseCut: the stream ended without saying why" in one
    assert "1 call is not run." in one
    assert "2 calls are not run." in two


def test_an_answer_of_text_alone_has_no_buffers() -> None:
    view = assembler([{"choices": [{"index": 0, "delta": {"content": "Hello"}}]}, finish("stop")])
    assert "[text]" in view.text
    assert "[call" not in view.text


def test_a_lesson_has_the_view() -> None:
    assert lab().view.assembler(WHOLE, tools=TOOLS).text == assembler(WHOLE, tools=TOOLS).text


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.none() | st.integers(-1, 3), ANY_TEXT, ANY_TEXT, ANY_TEXT), max_size=5),
    ANY_TEXT,
)
def test_any_pieces_give_a_sound_picture(
    pieces: list[tuple[int | None, str, str, str]], reason: str
) -> None:
    events = [
        piece(index=index, id=call_id, function={"name": name, "arguments": arguments})
        for index, call_id, name, arguments in pieces
    ]
    view = assembler([*events, finish(reason)])
    for step in range(1, len(view.frames) + 1):
        assert_told(view.at(step))
