"""The race timeline."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.lab import races
from freya_teach.lab.races import Accident, Event, Run, Stand
from freya_teach.lab.views.race import RaceView, race
from freya_teach.lab.views.race_moment import Moment
from tests.lab.views.pictures import assert_told, lab, parsed, words_in
from tests.lab.views.test_words import ANY_TEXT


async def lock_off_and_on() -> RaceView:
    off = await races.run(races.lost_update, "A B A B")
    on = await races.run(races.lost_update, "A B A B", queue=races.OneByOne)
    return race({"lock off": off, "lock on": on})


@pytest.fixture
def view() -> RaceView:
    return asyncio.run(lock_off_and_on())


@pytest.mark.parametrize(
    ("accident", "order"),
    [
        (races.module_variable, "A B A B"),
        (races.early_worker, "A B worker worker"),
        (races.shared_session, "A B B A"),
        (races.lost_update, "A B A B"),
        (races.poisoned_queue, "A B C A"),
        (races.nested_write, "A B A"),
    ],
)
async def test_the_words_name_everything_that_each_picture_shows(
    accident: Accident, order: str
) -> None:
    view = race(await races.run(accident, order))
    for step in range(1, len(view.frames) + 1):
        assert_told(view.at(step))


def test_the_last_turn_comes_first_and_says_how_it_came_out(view: RaceView) -> None:
    assert view.text.splitlines()[0] == "Lost update, lock off: turn 4 of 4"
    assert view.text.splitlines()[-1] == "✗ a1 is not in the file"
    assert view.play(["lock on"]).text.splitlines()[-1] == "✓ no accident in this order"


def test_an_earlier_turn_knows_nothing_of_what_comes(view: RaceView) -> None:
    told = view.play([2]).text
    assert "writes it back" not in told
    assert "not in the file" not in told


def test_two_writes_at_once_are_named_and_only_without_the_lock(view: RaceView) -> None:
    assert "! two writes at once" in words_in(view.svg)
    assert "two writes at once" not in view.play(["lock on"]).text


def test_a_task_that_waits_and_may_then_write_is_told_so(view: RaceView) -> None:
    told = view.play(["lock on"]).text
    assert "2. B: begins, and has to wait\n    B: … waits\n" in told
    assert "3. A: writes it back with a1\n    A: ✓ done\n    B: ▼ in its write\n" in told


def test_the_bars_of_a_lock_meet_and_those_without_it_overlap(view: RaceView) -> None:
    def spans(case: str) -> list[tuple[int, int]]:
        view.play([case])
        return [span for name in "AB" for span in view.frames[-1].spans("write", name)]

    assert spans("lock off") == [(1, 3), (2, 4)]
    assert spans("lock on") == [(1, 3), (3, 5)]
    assert view.frames[-1].spans("wait", "B") == [(2, 3)]
    assert view.frames[1].spans("wait", "B") == [(2, 3)]


async def test_a_deadlock_is_drawn_with_its_reason() -> None:
    view = race(await races.run(races.nested_write, "A B A"))
    assert "✗ Nothing can move any more: A and B would wait for ever." in words_in(view.svg)
    assert view.frames[-1].spans("wait", "A") == [(3, 4)]


async def test_a_failure_that_was_meant_to_be_is_told_apart_from_an_accident() -> None:
    view = race(await races.run(races.poisoned_queue, "A B C A", queue=races.OneByOne))
    assert_told(view.picture)
    ending = "✓ no accident in this order; told of its own error: A"
    assert view.text.splitlines()[-1] == ending


def test_another_case_is_shown_at_the_same_turn_or_at_its_end(view: RaceView) -> None:
    view.play([2, "lock on"])
    assert (view.case, view.step) == ("lock on", 2)
    view.play([5, "lock off"])
    assert (view.case, view.step) == ("lock off", 4)
    view.play([3, "prev", "next", "next", "lock on"])
    assert (view.case, view.step) == ("lock on", 5)


def test_a_case_that_there_is_not_is_refused_in_words(view: RaceView) -> None:
    with pytest.raises(ValueError, match=r"no case 'lock'\. There are: \"lock off\", \"lock on\""):
        view.play(["lock"])
    with pytest.raises(ValueError, match="no run to draw"):
        race({})


def test_a_lesson_has_it(view: RaceView) -> None:
    assert lab().view.race(view.cases).text == view.text


def test_a_run_without_turns_can_be_drawn() -> None:
    assert_told(race(Run("Nothing", (), (), "")).picture)


# ---- the widget, without a browser ---------------------------------------------------------


def widgets(view: RaceView) -> tuple[Any, ...]:
    case, row, picture = view.widget().children
    return (case, *row.children, picture)


def test_a_button_picks_the_case_and_the_slider_follows(view: RaceView) -> None:
    case, _, _, slider, picture = widgets(view)
    assert (case.value, slider.value, slider.max) == ("lock off", 4, 4)
    case.value = "lock on"
    assert (view.case, slider.value, slider.max) == ("lock on", 5, 5)
    assert picture.value == view.picture.html
    case.value = "lock off"
    assert (view.step, slider.value, slider.max) == (4, 4, 4)
    assert picture.value == view.picture.html


def test_played_clicks_move_the_buttons_too(view: RaceView) -> None:
    case, back, on, slider, picture = widgets(view)
    view.play(["lock on", 2])
    assert (case.value, slider.value) == ("lock on", 2)
    on.click()
    back.click()
    back.click()
    assert view.step == 1
    assert picture.value == view.picture.html


def test_every_control_has_a_name_for_a_screen_reader(view: RaceView) -> None:
    case, *_ = widgets(view)
    assert case.description == "Case"
    assert len(case.tooltips) == len(case.options) == 2


def test_a_single_run_has_no_button_to_pick_it(view: RaceView) -> None:
    assert len(race(view.cases["lock on"]).widget().children) == 2


# ---- any run -------------------------------------------------------------------------------

STANDS = st.builds(
    Stand,
    st.sampled_from(["not begun", "ready", "waits", "done", "failed"]),
    st.booleans(),
    ANY_TEXT,
)


@st.composite
def moments(draw: st.DrawFn) -> Moment:
    names = draw(st.lists(ANY_TEXT, min_size=1, max_size=9, unique=True))
    events = [
        Event(
            draw(st.sampled_from(names)),
            draw(ANY_TEXT),
            draw(ANY_TEXT),
            draw(ANY_TEXT),
            {name: draw(STANDS) for name in names},
            (),
        )
        for _ in range(draw(st.integers(1, 5)))
    ]
    run = Run(draw(ANY_TEXT), (), tuple(events), draw(ANY_TEXT))
    return Moment(run, draw(ANY_TEXT), draw(st.integers(1, len(events))))


@settings(max_examples=30, deadline=None)
@given(moments())
def test_any_run_with_any_text_gives_a_sound_picture(moment: Moment) -> None:
    picture = race(moment.run).draw(moment)
    assert_told(picture)
    for root in parsed(picture.svg):
        for each in root.iter():
            assert not each.get("width", "1").startswith("-")
            assert not each.get("height", "1").startswith("-")
