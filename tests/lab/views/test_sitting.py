"""A run that waits for a person."""

import pytest

from freya_teach.lab.gateway.question import Move, Question, Said, answer
from freya_teach.lab.views.sitting import Sitting
from freya_teach.trace import RunResult
from tests.lab.views.pictures import run_of, turn

ASKED = Question("openai", "m", (Said("user", "Hi?"),))


async def ask_once(sitting: Sitting) -> RunResult:
    move = await sitting.policy(ASKED)
    return run_of([turn(1, text=move.text)])


async def test_each_change_is_reported() -> None:
    phases: list[str] = []
    sitting = Sitting(ask_once, lambda: phases.append(sitting.phase))
    sitting.start()
    await sitting.settled()
    sitting.form.words = "Hello."
    sitting.send()
    await sitting.settled()
    assert phases == ["your move", "harness at work", "over"]
    assert sitting.moves == [answer("Hello.")]
    assert str(sitting.result) == "Hello."


async def test_a_move_is_sent_once_however_often_it_is_clicked() -> None:
    sitting = Sitting(ask_once, lambda: None)
    sitting.start()
    await sitting.settled()
    sitting.send()
    sitting.send()
    await sitting.settled()
    assert sitting.moves == [Move("")]


async def test_starting_twice_starts_one_run() -> None:
    sitting = Sitting(ask_once, lambda: None)
    sitting.start()
    task = sitting.task
    sitting.start()
    assert sitting.task is task
    sitting.leave()


async def test_a_seat_that_was_left_before_it_began_does_not_begin() -> None:
    sitting = Sitting(ask_once, lambda: None)
    sitting.leave()
    sitting.start()
    assert (sitting.phase, sitting.task) == ("left", None)


def test_without_an_event_loop_it_cannot_start() -> None:
    sitting = Sitting(ask_once, lambda: None)
    with pytest.raises(RuntimeError):
        sitting.start()
    assert sitting.phase == "not started"
