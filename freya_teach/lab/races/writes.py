"""Accidents of writing: an update lost, a queue poisoned, a write in a write. (chapter 6.4)

Each takes a `queue`, a class with one method `write(session, work)`: the accident is in that class,
and so is the remedy.
"""

from __future__ import annotations

from collections.abc import Callable

from freya_teach.lab.races.orders import Verdict
from freya_teach.lab.races.queues import Chain, NoQueue, Queue
from freya_teach.lab.races.stage import Actor, Stage

SESSION = "alpha"


def _in_words(file: list[str]) -> str:
    return f"file: {', '.join(file) or 'empty'}"


def _absent(file: list[str], expected: list[str]) -> str:
    absent = [text for text in expected if text not in file]
    verb = "is" if len(absent) == 1 else "are"
    return f"{' and '.join(absent)} {verb} not in the file" if absent else ""


def lost_update(stage: Stage, *, queue: Callable[[], Queue] = NoQueue) -> Verdict:
    """Two tasks read a file, add a line, and write it back."""
    file: list[str] = []
    queued = queue()
    stage.title = "Lost update"
    stage.shows = lambda: _in_words(file)

    async def add(me: Actor, text: str) -> None:
        async def update() -> None:
            await me.step("reads the file")
            seen = list(file)
            me.note(", ".join(seen) or "empty")
            await me.step(f"writes it back with {text}")
            file[:] = [*seen, text]

        await queued.write(SESSION, me.writing(update))

    stage.add("A", add, "a1")
    stage.add("B", add, "b1")
    return lambda: _absent(file, ["a1", "b1"])


def poisoned_queue(stage: Stage, *, queue: Callable[[], Queue] = Chain) -> Verdict:
    """Three writes stand in a queue, and the first one fails."""
    file: list[str] = []
    ran: list[str] = []
    queued = queue()
    stage.title = "One failing write, and two behind it"
    stage.shows = lambda: _in_words(file)

    async def add(me: Actor, text: str) -> None:
        async def update() -> None:
            await me.step("opens the file")
            ran.append(me.name)
            await me.step(f"writes {text}")
            if me.name == "A":
                raise OSError("the disk is full")
            file.append(text)

        await queued.write(SESSION, me.writing(update))

    for name in "ABC":
        stage.add(name, add, f"{name.lower()}1")

    def verdict() -> str:
        never = [name for name in "ABC" if name not in ran]
        return f"never ran: the write of {' and of '.join(never)}" if never else ""

    return verdict


def nested_write(stage: Stage, *, queue: Callable[[], Queue] = Chain) -> Verdict:
    """A write starts another write on its own session, and a second task waits behind it."""
    file: list[str] = []
    queued = queue()
    stage.title = "A write inside a write"
    stage.shows = lambda: _in_words(file)

    async def outer(me: Actor) -> None:
        async def inner() -> None:
            file.append("a2")

        async def update() -> None:
            await me.step("writes a1")
            file.append("a1")
            await me.step("starts a write inside the write")
            await queued.write(SESSION, inner)

        await queued.write(SESSION, me.writing(update))

    async def add(me: Actor) -> None:
        async def update() -> None:
            await me.step("writes b1")
            file.append("b1")

        await queued.write(SESSION, me.writing(update))

    stage.add("A", outer)
    stage.add("B", add)
    return lambda: _absent(file, ["a1", "b1"])
