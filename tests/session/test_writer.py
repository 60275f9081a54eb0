"""The queue of writes: order, failure, cancellation, a write inside a write."""

import asyncio

import pytest

from freya_teach.errors import NestedWrite
from freya_teach.session.writer import WriteQueue


async def settled() -> None:
    """Let every task run until it waits for something."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_writes_come_one_at_a_time_in_the_order_in_which_they_were_asked_for() -> None:
    queue, seen = WriteQueue("s1"), []

    async def write(number: int) -> None:
        async with queue.turn():
            seen.append(f"{number} begins")
            await settled()
            seen.append(f"{number} ends")

    await asyncio.gather(*map(write, range(3)))
    assert seen == [f"{number} {what}" for number in range(3) for what in ("begins", "ends")]


async def test_a_write_that_fails_fails_alone() -> None:
    queue, done = WriteQueue("s1"), []

    async def write(number: int) -> None:
        async with queue.turn():
            if number == 0:
                raise ZeroDivisionError
            done.append(number)

    results = await asyncio.gather(*map(write, range(3)), return_exceptions=True)
    assert (done, [type(result) for result in results[:1]]) == ([1, 2], [ZeroDivisionError])


@pytest.mark.parametrize("which", [0, 1])
async def test_a_cancelled_write_leaves_the_queue_to_the_others(which: int) -> None:
    queue, done = WriteQueue("s1"), []
    gate = asyncio.Event()

    async def write(number: int) -> None:
        async with queue.turn():
            await gate.wait()
            done.append(number)

    tasks = [asyncio.create_task(write(number)) for number in range(3)]
    await settled()  # 0 is running, 1 and 2 wait
    tasks[which].cancel()
    await settled()
    gate.set()
    await asyncio.wait(tasks)
    assert done == [number for number in range(3) if number != which]


async def test_a_write_inside_a_write_raises_at_once_and_does_no_harm() -> None:
    queue, other = WriteQueue("s1"), WriteQueue("s2")
    async with queue.turn():
        with pytest.raises(NestedWrite, match="session 's1': a write was started inside another"):
            await queue.turn().__aenter__()
        async with other.turn():
            with pytest.raises(NestedWrite):
                await queue.turn().__aenter__()
    async with queue.turn():
        pass


async def test_a_write_in_a_task_that_the_outer_write_waits_for_raises_too() -> None:
    queue = WriteQueue("s1")

    async def inner() -> None:
        async with queue.turn():
            pass

    async with queue.turn():
        with pytest.raises(NestedWrite):
            await asyncio.gather(inner())


async def test_a_task_that_was_started_inside_a_write_may_write_when_that_is_done() -> None:
    queue, gate, written = WriteQueue("s1"), asyncio.Event(), []

    async def later() -> None:
        await gate.wait()
        async with queue.turn():
            written.append("later")

    async with queue.turn():
        task = asyncio.create_task(later())
        await settled()
    async with queue.turn():  # another write is under way, and it simply waits for that
        gate.set()
        await settled()
        assert written == []
    await task
    assert written == ["later"]
