"""A stage for accidents: tasks that take their steps in an order that you choose. (chapter 6.4)

    async def add(me: Actor, text: str) -> None:
        await me.step("reads the file")     # stands still here until it is given a turn
        seen = list(file)
        await me.step("writes it back")
        file[:] = [*seen, text]

    stage.add("A", add, "a1")
    await stage.turn("A")                   # A reads the file, and stands before its next step

Nothing here waits for time to pass, so an accident that happens once happens every time.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

Result = TypeVar("Result")
State = Literal["not begun", "ready", "waits", "done", "failed"]

TURNS = 50
"""Turns of the event loop after which a task that has reached no step counts as waiting.

One task wakes another up within a few turns (six, in the accidents of this course). Time plays no
part: a task on the stage may wait for other tasks, and not for a disk or a clock."""


@dataclass(frozen=True, slots=True)
class Stand:
    """How a task stands after a step."""

    state: State
    in_write: bool = False
    """Whether it is between the beginning and the end of a write."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """One turn: who, what it did, what it noted, and how everything stands afterwards."""

    who: str
    what: str
    note: str
    shared: str
    """What the tasks share, in words."""
    stands: Mapping[str, Stand]
    could: tuple[str, ...]
    """The tasks that could have moved in this turn."""


class Actor:
    """A task on the stage."""

    def __init__(self, name: str, part: Callable[..., Awaitable[None]], *values: object) -> None:
        self.name, self.part, self.values = name, part, values
        self.notes: list[str] = []
        self.in_write = False
        # subtle: as with asyncio.create_task, a task sees the context of the moment it was made in
        self.context = contextvars.copy_context()
        self.task: asyncio.Future[None] | None = None
        self.next: str | None = None
        """The step that it stands before, once it does."""
        self.gate = asyncio.get_running_loop().create_future()

    async def step(self, what: str) -> None:
        """Stand still until the next turn; then what follows happens, up to the next step.

        Raises `RuntimeError` where it stands before a step already, for example in a `gather`.
        """
        if self.next is not None:
            raise RuntimeError(f"{self.name} stands before {self.next!r}: one step at a time.")
        self.next, self.gate = what, asyncio.get_running_loop().create_future()
        await self.gate

    def note(self, words: str) -> None:
        """Write something down beside the current step."""
        self.notes.append(words)

    def writing(self, work: Callable[[], Awaitable[Result]]) -> Callable[[], Awaitable[Result]]:
        """The same work; while it runs, the task counts as in its write."""

        async def marked() -> Result:
            self.in_write = True
            try:
                return await work()
            finally:
                self.in_write = False

        return marked

    def begin(self) -> None:
        """Start; what stands before the first step happens at once."""
        loop = asyncio.get_running_loop()
        self.task = loop.create_task(self._play(), name=self.name, context=self.context)
        # subtle: the loop of a web page prints an error at once when a task has no callback; here
        # nothing is lost, `stand` tells it when the turn is over
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _play(self) -> None:
        await self.part(self, *self.values)

    def release(self) -> str:
        """Let it take the step that it stands before, and say which one that is."""
        what, self.next = self.next, None
        self.gate.set_result(None)
        return what or "takes a step"

    @property
    def stand(self) -> Stand:
        """How it stands now."""
        if self.task is None:
            return Stand("not begun")
        if not self.task.done():
            return Stand("waits" if self.next is None else "ready", self.in_write)
        if self.task.cancelled():
            return Stand("failed", error="cancelled")
        failure = self.task.exception()
        if failure is None:
            return Stand("done")
        return Stand("failed", error=str(failure) or type(failure).__name__)


class Stage:
    """Gives the turns, and writes down what happened."""

    def __init__(self) -> None:
        self.title = ""
        self.shows: Callable[[], str] = str
        """Puts what the tasks share into words."""
        self.actors: dict[str, Actor] = {}
        self.events: list[Event] = []

    def add(self, name: str, part: Callable[..., Awaitable[None]], *values: object) -> None:
        """Put a task on the stage; it begins with its first turn, as `part(actor, *values)`.

        Raises `ValueError` for a name that is taken, or is not one word.
        """
        if name in self.actors or name.split() != [name]:
            raise ValueError(f"A task needs a name of its own, one word; {name!r} is not.")
        self.actors[name] = Actor(name, part, *values)

    @property
    def able(self) -> tuple[str, ...]:
        """The tasks that can move: a turn makes a difference to them."""
        able = ("not begun", "ready")
        return tuple(name for name, stand in self.stands().items() if stand.state in able)

    def stands(self) -> dict[str, Stand]:
        """How each task stands now."""
        return {name: actor.stand for name, actor in self.actors.items()}

    async def turn(self, name: str) -> None:
        """Let one task take its next step, and wait until everybody stands still again.

        The turn of a task that has ended is left out. Raises `ValueError` for an unknown name.
        """
        if name not in self.actors:
            known = ", ".join(self.actors)
            raise ValueError(f"There is no task {name!r} on the stage. There are: {known}.")
        actor, could = self.actors[name], self.able
        if actor.stand.state in ("done", "failed"):
            return
        actor.notes.clear()
        what = await self._move(actor)
        note = "; ".join(actor.notes)
        self.events.append(Event(name, what, note, self.shows(), self.stands(), could))

    async def _move(self, actor: Actor) -> str:
        """What came of the turn."""
        what = "still has to wait"
        if actor.task is None:
            actor.begin()
            await self._settle()
            what = "begins, and has to wait" if actor.stand.state == "waits" else "begins, and ends"
        if actor.stand.state == "ready":
            what = actor.release()
            await self._settle()
        return what

    async def _settle(self) -> None:
        """Wait until each task stands before a step, has ended, or waits for another one."""
        for _ in range(TURNS):
            if all(stand.state != "waits" for stand in self.stands().values()):
                return
            await asyncio.sleep(0)

    def stuck(self) -> str:
        """Whether tasks wait that nobody can set free any more, in words."""
        waiting = [name for name, stand in self.stands().items() if stand.state == "waits"]
        if self.able or not waiting:
            return ""
        return f"Nothing can move any more: {' and '.join(waiting)} would wait for ever."

    async def clear(self) -> None:
        """End what has not ended."""
        tasks = [actor.task for actor in self.actors.values() if actor.task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
