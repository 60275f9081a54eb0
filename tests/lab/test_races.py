"""The accidents of sessions: each happens every time, and each remedy helps in every order."""

import asyncio
from collections.abc import Callable
from math import comb
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.lab import races
from freya_teach.lab.races import Accident, Actor, Queue, Run, Stage, Verdict
from freya_teach.lab.races.crosstalk import current
from freya_teach.lab.races.orders import MOST_ORDERS, MOST_TURNS

QUEUES: list[type[Queue]] = [races.OneByOne, races.KernelQueue]


def wrong(runs: list[Run]) -> tuple[int, int]:
    """In how many of how many orders something went wrong."""
    return sum(bool(run.wrong) for run in runs), len(runs)


def final(run: Run) -> dict[str, str]:
    """How each task stood at the end."""
    return {name: stand.state for name, stand in run.events[-1].stands.items()}


# ---- the accidents ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accident", "choices", "expected"),
    [
        (races.module_variable, {}, (4, 6)),
        (races.explicit_parameter, {}, (0, 6)),
        (races.context_variable, {}, (0, 6)),
        (races.early_worker, {}, (4, 4)),
        (races.early_worker, {"job_names_session": True}, (0, 4)),
        (races.shared_session, {}, (3, 6)),
        (races.shared_session, {"hand_out": races.by_copy}, (0, 6)),
        (races.lost_update, {}, (4, 6)),
        (races.lost_update, {"queue": races.Chain}, (0, 4)),
        (races.lost_update, {"queue": races.OneByOne}, (0, 4)),
        (races.lost_update, {"queue": races.KernelQueue}, (0, 4)),
        (races.poisoned_queue, {}, (12, 32)),
        (races.poisoned_queue, {"queue": races.OneByOne}, (0, 36)),
        (races.poisoned_queue, {"queue": races.KernelQueue}, (0, 36)),
        (races.nested_write, {}, (3, 3)),
        (races.nested_write, {"queue": races.OneByOne}, (0, 3)),
        (races.nested_write, {"queue": races.KernelQueue}, (0, 3)),
    ],
)
async def test_an_accident_happens_in_these_orders_and_its_remedy_helps_in_all(
    accident: Accident, choices: dict[str, Any], expected: tuple[int, int]
) -> None:
    assert wrong(await races.all_orders(accident, **choices)) == expected


async def test_the_module_variable_gives_one_request_the_others_session() -> None:
    run = await races.run(races.module_variable, "A B A B")
    assert run.wrong == "A asked for alpha and got beta"
    assert [(event.who, event.shared) for event in run.events] == [
        ("A", "current = 'alpha'"),
        *[(name, "current = 'beta'") for name in "BAB"],
    ]


async def test_one_after_the_other_the_module_variable_does_no_harm() -> None:
    assert not (await races.run(races.module_variable, "A A B B")).wrong


async def test_a_session_handed_out_by_reference_mixes_even_without_an_overlap() -> None:
    run = await races.run(races.shared_session, "B B A A")
    assert run.wrong == "A sent words that B had added"
    assert run.events[-1].note == "Hello!, Which title?"


async def test_the_early_worker_stays_in_the_first_requests_session() -> None:
    run = await races.run(races.early_worker, "B A worker worker")
    assert run.wrong == "A asked for alpha and got beta"


async def test_asyncio_itself_copies_the_context_when_a_task_is_made() -> None:
    """The stage starts tasks later than it makes them; what it shows must be asyncio's own way."""
    begin = asyncio.Event()

    async def work() -> str:
        await begin.wait()
        return current.get()

    token = current.set("alpha")
    worker = asyncio.create_task(work())
    current.set("beta")
    begin.set()
    assert await worker == "alpha"
    current.reset(token)


async def test_the_lost_update_is_the_one_that_was_overwritten() -> None:
    run = await races.run(races.lost_update, "A B B A")
    assert run.wrong == "b1 is not in the file"
    assert run.events[-1].shared == "file: a1"


async def test_in_the_chain_a_failing_write_takes_those_behind_it_along() -> None:
    run = await races.run(races.poisoned_queue, "A B C A")
    assert run.wrong == "never ran: the write of B and of C"
    assert {stand.error for stand in run.events[-1].stands.values()} == {"the disk is full"}
    assert [event.what for event in run.events if event.who != "A"] == [
        "begins, and has to wait"
    ] * 2


@pytest.mark.parametrize("queue", QUEUES)
async def test_in_a_queue_a_failing_write_fails_alone(queue: type[Queue]) -> None:
    run = await races.run(races.poisoned_queue, "A B C A", queue=queue)
    assert final(run) == {"A": "failed", "B": "done", "C": "done"}
    assert run.events[-1].shared == "file: b1, c1"


async def test_a_nested_write_in_the_chain_hangs_and_is_told_without_hanging() -> None:
    run = await races.run(races.nested_write, "A B A")
    assert run.wrong == "Nothing can move any more: A and B would wait for ever."
    assert run.events[-1].stands["A"].in_write


@pytest.mark.parametrize("queue", QUEUES)
async def test_a_nested_write_in_a_queue_raises_and_the_next_one_goes_on(
    queue: type[Queue],
) -> None:
    run = await races.run(races.nested_write, "A B A", queue=queue)
    assert final(run) == {"A": "failed", "B": "done"}
    assert "inside" in run.events[2].stands["A"].error


@pytest.mark.parametrize("queue", [races.Chain, *QUEUES])
@pytest.mark.parametrize("accident", [races.lost_update, races.poisoned_queue, races.nested_write])
async def test_in_no_order_are_two_tasks_of_a_queue_in_their_writes_at_once(
    accident: Accident, queue: type[Queue]
) -> None:
    for run in await races.all_orders(accident, queue=queue):
        for event in run.events:
            assert sum(stand.in_write for stand in event.stands.values()) <= 1


async def test_without_a_queue_two_are_in_their_writes_exactly_when_an_update_is_lost() -> None:
    for run in await races.all_orders(races.lost_update):
        at_once = any(
            all(stand.in_write for stand in event.stands.values()) for event in run.events
        )
        assert at_once == bool(run.wrong)


async def test_writes_of_different_sessions_do_not_wait_for_each_other() -> None:
    def two_sessions(stage: Stage) -> Verdict:
        queue = races.OneByOne()

        async def write(me: Actor) -> None:
            await queue.write(me.name, me.writing(lambda: me.step("writes")))

        stage.add("A", write)
        stage.add("B", write)
        return str

    assert len(await races.all_orders(two_sessions)) == 2
    assert all(len(run.events) == 2 for run in await races.all_orders(two_sessions))


# ---- the stage ----------------------------------------------------------------------------------


def free_steps(**steps: int) -> Callable[[Stage], Verdict]:
    """Tasks that take so many steps each, and never wait for each other."""

    def accident(stage: Stage) -> Verdict:
        async def walk(me: Actor) -> None:
            for number in range(steps[me.name]):
                await me.step(f"step {number + 1}")

        for name in steps:
            stage.add(name, walk)
        return str

    return accident


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4))
def test_every_order_of_free_steps_is_played_once(one: int, other: int) -> None:
    runs = asyncio.run(races.all_orders(free_steps(A=one, B=other)))
    assert len({run.order for run in runs}) == len(runs) == comb(one + other, one)
    assert all((run.order.count("A"), run.order.count("B")) == (one, other) for run in runs)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("ABC"), max_size=12).map(" ".join))
def test_any_order_that_is_given_comes_out_the_same_twice(order: str) -> None:
    async def twice() -> None:
        for accident in (races.poisoned_queue, races.nested_write):
            given_order = order.replace("C", "B") if accident is races.nested_write else order
            assert await races.run(accident, given_order) == await races.run(accident, given_order)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(twice())


async def test_the_turns_of_the_event_loop_are_counted_with_a_wide_margin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def everything() -> list[Run]:
        cases = [
            (accident, queue)
            for accident in (races.lost_update, races.poisoned_queue, races.nested_write)
            for queue in (races.Chain, races.OneByOne, races.KernelQueue)
        ]
        return [run for each, queue in cases for run in await races.all_orders(each, queue=queue)]

    usual = await everything()
    monkeypatch.setattr(races.stage, "TURNS", races.stage.TURNS // 5)
    assert await everything() == usual


async def test_no_task_is_left_behind_by_a_run_that_got_stuck() -> None:
    before = asyncio.all_tasks()
    await races.all_orders(races.nested_write)
    assert asyncio.all_tasks() == before


async def test_a_turn_of_a_task_that_waits_is_told_and_changes_nothing() -> None:
    run = await races.run(races.lost_update, "A B B A", queue=races.OneByOne)
    assert [event.what for event in run.events[1:3]] == [
        "begins, and has to wait",
        "still has to wait",
    ]
    assert run.events[1].stands == run.events[2].stands


async def test_a_turn_of_a_task_that_has_ended_is_left_out() -> None:
    assert (await races.run(races.lost_update, "A A A A B B")).order == tuple("AABB")


async def test_an_unknown_task_is_named_and_nothing_is_left_running() -> None:
    before = asyncio.all_tasks()
    with pytest.raises(ValueError, match=r"no task 'X' on the stage\. There are: A, B\."):
        await races.run(races.lost_update, "A X")
    assert asyncio.all_tasks() == before


async def test_a_task_without_a_step_begins_and_ends_in_one_turn() -> None:
    run = await races.run(free_steps(A=0))
    assert [(event.what, event.stands["A"].state) for event in run.events] == [
        ("begins, and ends", "done")
    ]


async def test_a_task_that_would_stand_before_two_steps_fails_and_says_why() -> None:
    def accident(stage: Stage) -> Verdict:
        async def both(me: Actor) -> None:
            await asyncio.gather(me.step("reads"), me.step(""))

        stage.add("A", both)
        return str

    run = await races.run(accident)
    assert run.events[-1].stands["A"].error == "A stands before 'reads': one step at a time."


@pytest.mark.parametrize("name", ["A", "two words", ""])
async def test_a_name_that_is_taken_or_is_not_one_word_is_refused(name: str) -> None:
    def accident(stage: Stage) -> Verdict:
        async def idle(_: Actor) -> None: ...

        stage.add("A", idle)
        stage.add(name, idle)
        return str

    with pytest.raises(ValueError, match="a name of its own, one word"):
        await races.run(accident)


async def test_a_mistake_in_a_task_is_its_failure_and_ends_no_other_task() -> None:
    def accident(stage: Stage) -> Verdict:
        async def stumble(me: Actor) -> None:
            await me.step("stumbles")
            raise AssertionError

        async def cancel(me: Actor) -> None:
            await me.step("gives up")
            raise asyncio.CancelledError

        stage.add("A", stumble)
        stage.add("B", cancel)
        return str

    stands = (await races.run(accident)).events[-1].stands
    assert [(stand.state, stand.error) for stand in stands.values()] == [
        ("failed", "AssertionError"),
        ("failed", "cancelled"),
    ]


async def test_steps_without_end_and_orders_without_number_are_refused() -> None:
    with pytest.raises(ValueError, match=f"After {MOST_TURNS} turns"):
        await races.run(free_steps(A=MOST_TURNS + 1))
    with pytest.raises(ValueError, match=f"more than {MOST_ORDERS:,} orders"):
        await races.all_orders(free_steps(A=8, B=8))


async def test_a_run_says_its_order_and_what_went_wrong() -> None:
    runs = await races.all_orders(races.lost_update)
    assert [str(run) for run in runs[:2]] == [
        "A A B B: no accident",
        "A B A B: a1 is not in the file",
    ]
