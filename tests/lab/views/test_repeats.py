"""What the guard saw, asked of the guard itself."""

from freya_teach.agent.loop_guard import LoopGuard
from freya_teach.lab.views.repeats import guarded_turns
from freya_teach.trace import TurnTrace
from tests.lab.views.pictures import recorded, run_of, turn

SAME = ("poll", '{"n": 1}', "pending")


def noted(turns: list[TurnTrace], warn: int = 2) -> list[TurnTrace]:
    """Return the turns as a run leaves them: with the guard's notes in the observations."""
    guard, done = LoopGuard(warn, 99), []
    for each in turns:
        notes = guard.notes([(trace.call, trace.observation) for trace in each.calls])
        calls = [
            (trace.call.name, trace.call.arguments, trace.observation + note)
            for trace, note in zip(each.calls, notes, strict=True)
        ]
        done.append(turn(each.number, *calls))
    return done


def counts(turns: list[TurnTrace]) -> list[list[int]]:
    return [[call.count for call in calls] for calls in guarded_turns(run_of(turns))]


async def test_the_recorded_loop_is_warned_once_and_then_stopped() -> None:
    turns = guarded_turns(await recorded("repeats", loop_stop=3))
    assert [(call.count, call.act) for calls in turns for call in calls] == [
        (1, ""),
        (2, "warned"),
        (3, "stopped"),
    ]
    assert {call.result for calls in turns for call in calls} == {"120"}


def test_the_same_call_with_the_same_result_is_counted() -> None:
    assert counts(noted([turn(n, SAME) for n in (1, 2, 3, 4)])) == [[1], [2], [3], [4]]


def test_a_turn_that_brings_something_new_starts_the_count_again() -> None:
    new = ("edit", "{}", "done")
    assert counts(noted([turn(1, SAME), turn(2, SAME), turn(3, SAME, new), turn(4, SAME)])) == [
        [1],
        [2],
        [1, 1],
        [2],
    ]


def test_a_result_that_changes_is_no_repetition() -> None:
    turns = [turn(n, ("poll", "{}", f"{n} of 3")) for n in (1, 2, 3)]
    assert counts(noted(turns)) == [[1], [1], [1]]


def test_the_same_call_twice_in_one_turn_counts_once() -> None:
    assert counts(noted([turn(1, SAME, SAME)])) == [[1, 1]]


def test_the_patience_of_the_run_does_not_matter_for_the_count() -> None:
    turns = noted([turn(n, SAME) for n in (1, 2, 3)], warn=3)
    found = guarded_turns(run_of(turns))
    assert [(calls[0].count, calls[0].act) for calls in found] == [(1, ""), (2, ""), (3, "warned")]


def test_a_run_without_turns_has_nothing_to_count() -> None:
    assert guarded_turns(run_of([], "loop")) == []
