"""The model's seat, from the first request to the answer."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings

from freya_teach.lab.gateway.question import Call, Move, answer, call
from freya_teach.lab.views import Views
from freya_teach.lab.views.be_the_model import Seat
from freya_teach.lab.views.form import WORDS
from tests.lab.views.pictures import TOOLS, assert_told, lab
from tests.lab.views.test_words import ANY_TEXT

ASKED = "What is the weather in Beijing?"
LOOK = call("get_current_weather", city="Beijing")


def seat(wire: str = "openai", **chosen: Any) -> Seat:
    return Views(lab()).be_the_model(ASKED, TOOLS, wire=wire, **chosen)


@pytest.mark.parametrize("wire", ["openai", "gemini"])
async def test_a_person_plays_the_model_over_either_wire(wire: str) -> None:
    played = await seat(wire).play([LOOK, answer("Sunny, 15 °C.")])
    assert played.result is not None
    assert (played.result.text, played.result.stop_reason) == ("Sunny, 15 °C.", "answer")
    assert [trace.call.name for trace in played.result.trace.calls] == ["get_current_weather"]
    assert '"condition": "sunny"' in played.result.trace.calls[0].observation
    assert "the run is over" in played.text
    assert "tools run" in played.text  # the run's own picture
    assert_told(played.picture)


async def test_the_first_request_shows_what_a_model_gets_to_see() -> None:
    played = await seat().play([])
    assert "▶ it is your move; the run is waiting for it" in played.text.splitlines()[0]
    assert "+ system    # IDENTITY" in played.text
    assert f"+ user      {ASKED}" in played.text
    assert "may call  get_current_weather(city: string)" in played.text
    assert "The packet itself" in played.html
    assert '"parameters": {' in played.html.replace("&quot;", '"')
    assert_told(played.picture)
    played.leave()


async def test_the_next_request_marks_what_is_new() -> None:
    played = await seat().play([LOOK])
    assert "  user      What is the weather" in played.text
    assert "+ you       calls get_current_weather(city='Beijing')" in played.text
    assert '+ tool      get_current_weather returned: {"city": "Beijing"' in played.text
    played.leave()


async def test_several_calls_and_words_go_out_in_one_turn() -> None:
    move = Move("Let me look.", (*LOOK.calls, Call("calculate", {"expression": "15 * 8"})))
    played = await seat().play([move, answer("Both done.")])
    assert played.result is not None
    assert [trace.observation[-3:] for trace in played.result.trace.calls] == ["15}", "120"]
    assert played.result.trace.turns[0].reply.message.text == "Let me look."


@pytest.mark.parametrize(
    ("move", "observation"),
    [
        (Move(calls=(Call("calculate", '{"expression": '),)), "are not valid JSON"),
        (call("calculate", sum="1+1"), "its arguments are wrong"),
        (call("fly", to="Oslo"), "There is no tool called 'fly'"),
    ],
)
async def test_a_mistake_comes_back_as_an_observation(move: Move, observation: str) -> None:
    played = await seat().play([move])
    assert observation in played.text
    played.leave()


async def test_what_the_wire_cannot_carry_is_told_in_words() -> None:
    played = await seat("gemini").play([Move(calls=(Call("calculate", "{broken"),))])
    assert played.result is not None
    assert "MALFORMED_FUNCTION_CALL" in played.text
    told = " ".join(played.text.split())
    assert "On Gemini's wire arguments are an object: a text that is none has no place." in told


async def test_saying_nothing_is_a_move_too() -> None:
    played = await seat().play([answer("")])
    assert played.result is not None
    assert played.result.stop_reason == "empty"
    assert "says nothing" in played.text


async def test_more_moves_than_requests_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"Move 2 of 2 cannot be made: the run is over"):
        await seat().play([answer("Done."), answer("Done.")])


async def test_playing_on_continues_the_same_run() -> None:
    played = seat()
    await played.play([LOOK])
    await played.play([answer("Sunny.")])
    assert played.result is not None
    assert len(played.result.trace.turns) == 2


async def test_again_starts_over() -> None:
    played = await seat().play([answer("Done.")])
    played.again()
    assert played.result is None
    await played.play([LOOK, answer("Sunny.")])
    assert str(played.result) == "Sunny."


async def test_two_seats_with_the_same_moves_look_the_same() -> None:
    one, other = [await seat().play([LOOK, answer("Sunny.")]) for _ in range(2)]
    assert (one.text, one.html) == (other.text, other.html)


async def test_showing_the_seat_starts_the_run() -> None:
    shown = seat()
    assert "nothing has been asked yet" in shown.text
    bundle = shown._repr_mimebundle_()
    assert sorted(bundle) == ["text/html", "text/plain"]
    await shown.sitting.settled()
    assert shown.sitting.phase == "your move"
    shown.leave()


def test_in_a_plain_python_the_seat_is_only_shown() -> None:
    assert "nothing has been asked yet" in seat()._repr_mimebundle_()["text/plain"]


async def test_a_new_seat_ends_the_one_before() -> None:
    views = Views(lab())
    first = await views.be_the_model(ASKED, TOOLS).play([])
    second = await views.be_the_model(ASKED, TOOLS).play([])
    assert (first.sitting.phase, second.sitting.phase) == ("left", "your move")
    assert "the seat was left" in first.text
    second.leave()


async def test_closing_the_lesson_cancels_the_run() -> None:
    lesson = lab()
    open_seat = await Views(lesson).be_the_model(ASKED, TOOLS).play([])
    task = open_seat.sitting.task
    assert task is not None
    lesson.close()
    assert open_seat.sitting.phase == "left"
    await asyncio.wait({task})
    assert task.cancelled()


async def test_a_seat_that_was_left_takes_no_moves() -> None:
    left = await seat().play([])
    left.leave()
    with pytest.raises(ValueError, match="the run is left"):
        await left.play([LOOK])


async def test_a_run_that_fails_is_told_in_words() -> None:
    async def run(_: object) -> Any:
        raise RuntimeError("the sky fell")

    failed = await Seat(run).play([])
    assert failed.sitting.phase == "failed"
    assert "RuntimeError: the sky fell" in failed.text


async def test_nothing_is_sent_while_a_field_is_bad_or_it_is_nobodys_turn() -> None:
    waiting = await seat().play([])
    form = waiting.sitting.form
    form.choose("calculate")
    waiting.add()
    assert len(form.ready) == 1
    assert form.choice == WORDS
    waiting.add()
    assert form.problems
    assert waiting.sitting.moves == []
    waiting.leave()
    waiting.send()
    assert waiting.sitting.moves == []


@settings(max_examples=15)
@given(ANY_TEXT)
def test_any_words_of_the_learner_give_a_sound_picture(text: str) -> None:
    async def play() -> None:
        raw = Move(text, (Call("calculate", text), Call("get_current_weather", {"city": text})))
        played = await seat().play([raw])
        assert_told(played.picture)
        await played.play([answer(text)])
        assert_told(played.picture)

    asyncio.run(play())
