"""The stepper's picture."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.lab.views.stepper import stepper
from tests.lab.views.pictures import assert_told, recorded, run_of, turn, words_in
from tests.lab.views.test_words import ANY_TEXT


@pytest.mark.parametrize(
    ("scenario", "limits"),
    [
        ("weather-openai", {}),
        ("weather-gemini", {}),
        ("repeats", {"loop_stop": 3}),
        ("max-turns", {"max_turns": 1}),
    ],
)
async def test_the_words_name_everything_that_each_picture_shows(
    scenario: str, limits: dict[str, int]
) -> None:
    view = stepper(await recorded(scenario, **limits))
    for step in range(1, len(view.frames) + 1):
        assert_told(view.at(step))
        assert view.at(step) == view.at(step)


async def test_the_current_step_is_marked_by_a_sign_not_only_by_a_colour() -> None:
    view = stepper(await recorded("weather-openai"))
    assert "▶4 tools run" in words_in(view.at(4).svg)
    assert "▶  4 tools run  tools " in view.at(4).text
    assert [line.startswith("▶") for line in view.at(4).text.splitlines()].count(True) == 1


async def test_two_runs_of_the_same_scenario_give_the_same_bytes() -> None:
    one, other = [stepper(await recorded("weather-openai")) for _ in range(2)]
    assert one.play(["next"]).picture.html == other.play(["next"]).picture.html


async def test_a_long_run_shows_the_steps_around_the_current_one() -> None:
    view = stepper(await recorded("repeats", loop_stop=3))
    assert len(view.frames) == 11
    shown = words_in(view.at(6).svg)
    assert "‹ 2 earlier · 3 later ›" in shown
    assert {"3 calls", "▶6 calls", "8 packet 3"} <= set(shown)
    assert "9 calls" not in shown


@settings(max_examples=30)
@given(ANY_TEXT, ANY_TEXT, st.integers(1, 8))
def test_any_text_in_any_place_gives_a_sound_picture(one: str, other: str, calls: int) -> None:
    called = [(one or "f", other, one)] * calls
    run = run_of([turn(1, *called, text=other, asked=one), turn(2, text=one)], "loop", other)
    view = stepper(run)
    for step in range(1, len(view.frames) + 1):
        assert_told(view.at(step))


def test_a_run_of_nothing_says_so() -> None:
    assert "nothing happened" in stepper(run_of([])).text
