"""The deadlock trace's picture, and its switches."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.lab.deadlock import ALL_ON, LARGE_RESULT, NAMES, STORIES, Defences, Story
from freya_teach.lab.views.deadlock import DeadlockView, deadlock
from tests.lab.test_deadlock import ANY_STORY, COMBINATIONS
from tests.lab.views.pictures import assert_told, lab, words_in


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_the_words_name_everything_that_each_picture_shows(story: Story) -> None:
    for defences in COMBINATIONS:
        assert_told(deadlock(story, defences).picture)


def test_at_first_no_defence_is_on_and_it_loops() -> None:
    view = lab().view.deadlock()
    assert view.now.defences == Defences()
    assert view.text.startswith("The deadlock trace: large result · ✗ loops")
    assert "6 calls" in view.text


def test_a_click_switches_one_defence() -> None:
    view = deadlock().play(["one summary on"])
    assert view.now.defences == Defences(one_summary=True)
    assert "✗ sent too large: the provider refuses it (1 call)" in view.text
    assert view.play(["until it fits on"]).text.startswith(
        "The deadlock trace: large result · ✓ fits"
    )
    assert view.play(["prev"]).now.defences == Defences(one_summary=True)


def test_below_the_steps_stands_how_every_story_ends() -> None:
    told = deadlock(defences=ALL_ON).text.splitlines()[-len(STORIES) :]
    assert [line[2:].partition(":")[0] for line in told] == [each.name for each in STORIES]
    assert [line[0] for line in told] == ["▶", " ", " ", " ", " "]
    assert all("✓" in line for line in told)
    without_cap = deadlock().play(["all on", "cap off"]).text.splitlines()[-len(STORIES) :]
    assert [line[2:8] for line in without_cap if "✗" in line] == ["talker"]


def test_a_state_is_a_sign_and_not_only_a_colour() -> None:
    view = deadlock("large result", NAMES)
    assert [words for words in words_in(view.svg) if words in "▲!✓"] == ["▲", "▲", "✓", "✓"]


def test_a_story_of_ones_own_stands_beside_the_others() -> None:
    story = Story("mine", "As in the text.", older=(500,), request=200, summaries=(450, 600))
    view = deadlock(story)
    assert view.now.stories == (story, *STORIES)
    assert view.play(["story talker", "story mine"]).now.story == story


def test_names_that_there_are_not_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"no story 'x'\. There are: large result, talker"):
        deadlock("x")
    with pytest.raises(ValueError, match=r"no defence 'x'\. There are: one_summary, cap"):
        deadlock(defences=["x"])
    with pytest.raises(ValueError, match=r"no click 'cap'\. There are: .*\"cap on\""):
        deadlock().play(["cap"])


def boxes(view: DeadlockView) -> tuple[list[Any], list[Any], Any]:
    first, second, picture = view.widget().children
    return list(first.children), list(second.children), picture


def test_the_boxes_and_the_buttons_click() -> None:
    view = deadlock()
    (story, all_on, all_off), (first, *_), picture = boxes(view)
    first.value = True
    assert view.now.defences == Defences(one_summary=True)
    all_on.click()
    assert (view.now.defences, view.step) == (ALL_ON, 3)
    assert all(box.value for box in boxes(view)[1])
    story.value = "talker"
    assert "talker" in picture.value
    all_off.click()
    assert not first.value
    assert view.step == 5
    view.play(["prev", "prev"])
    assert (story.value, first.value) == (LARGE_RESULT.name, True)
    assert view.step == 3


def test_every_control_has_a_name_for_a_screen_reader() -> None:
    first, ticked, _ = boxes(deadlock())
    assert all(each.description and each.tooltip for each in [*first, *ticked])


@settings(max_examples=30)
@given(ANY_STORY, st.sampled_from(COMBINATIONS))
def test_any_story_gives_a_sound_picture(story: Story, defences: Defences) -> None:
    assert_told(deadlock(story, defences).picture)
