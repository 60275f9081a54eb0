"""The loop guard's picture."""

import pytest
from hypothesis import given, settings

from freya_teach.lab.views.guard import guard
from tests.lab.views.pictures import assert_told, recorded, run_of, turn, words_in
from tests.lab.views.test_words import ANY_TEXT


@pytest.mark.parametrize(
    ("scenario", "limits"),
    [("weather-gemini", {}), ("repeats", {"loop_stop": 3}), ("max-turns", {"max_turns": 1})],
)
async def test_the_words_name_everything_that_each_picture_shows(
    scenario: str, limits: dict[str, int]
) -> None:
    view = guard(await recorded(scenario, **limits))
    for step in range(1, len(view.frames) + 1):
        assert_told(view.at(step))


async def test_the_last_turn_comes_first_because_it_holds_the_whole_story() -> None:
    view = guard(await recorded("repeats", loop_stop=3))
    assert view.step == len(view.frames) == 3
    shown = words_in(view.svg)
    assert [words for words in shown if set(words) == {"●"}] == ["●", "●●", "●●●"]
    assert [each for each in shown if each[0] in "–!■"] == ["–", "! warned", "■ stopped"]
    assert view.text.splitlines()[-1].startswith("The run ended: loop. calculate(")


async def test_an_earlier_turn_does_not_know_the_end() -> None:
    view = guard(await recorded("repeats", loop_stop=3))
    assert "The run ended" not in view.at(2).text
    assert "3 turns" not in view.at(2).text


async def test_tokens_add_up_over_the_turns() -> None:
    result = await recorded("repeats", loop_stop=3)
    spent = [turn.reply.usage.total_tokens for turn in result.trace.turns]
    assert f"+{spent[2]:,} = {sum(spent):,} tokens" in guard(result).text


@settings(max_examples=30)
@given(ANY_TEXT, ANY_TEXT)
def test_any_text_in_any_place_gives_a_sound_picture(one: str, other: str) -> None:
    turns = [turn(n, (one or "f", other, one), (other or "g", one, other)) for n in range(1, 8)]
    assert_told(guard(run_of(turns, "loop", other)).picture)


def test_a_run_without_turns_or_tokens_can_be_drawn() -> None:
    assert_told(guard(run_of([], "budget", "no time")).picture)
    assert_told(guard(run_of([turn(1, text="Hi.", tokens=0)])).picture)
