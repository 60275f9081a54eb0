"""One write at a time on one session, first come, first served. (chapter 6.3)

    async with queue.turn():
        …read, decide, add…

A write that fails or is cancelled leaves, and the next one begins: nothing is chained to it. A
write inside a write would wait for its own end; it raises instead. Source of the shape: the single
writer of Datasette (`database.py`), with a lock in the place of its thread.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from types import TracebackType

from freya_teach.errors import NestedWrite

_inside: ContextVar[tuple[Turn, ...]] = ContextVar("_inside", default=())
"""The turns that this code runs in, the outermost first. A task that is started inherits them."""


class WriteQueue:
    """The writes of one session. An idle one is an open lock, and costs nothing."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.lock = asyncio.Lock()

    def turn(self) -> Turn:
        """Wait until all writes that came before are done, then hold off all others.

        Raises `NestedWrite` inside a turn of the same queue. That goes for a task that was started
        there, too, as long as the turn lasts; afterwards it may write like any other.
        """
        return Turn(self)


class Turn:
    """One write's time at the head of the queue."""

    __slots__ = ("_outer", "_queue", "is_over")

    def __init__(self, queue: WriteQueue) -> None:
        self._queue = queue
        self.is_over = False
        self._outer: tuple[Turn, ...] = ()

    async def __aenter__(self) -> None:
        self._outer = tuple(turn for turn in _inside.get() if not turn.is_over)
        for turn in self._outer:
            # subtle: not "is it the same task?", which lets a write in a gather() hang
            if turn._queue is self._queue:  # noqa: SLF001 - its own class
                raise NestedWrite(
                    f"session {self._queue.session_id!r}: a write was started inside another write "
                    "on it, and would wait for itself. Hand the messages to the outer write, or "
                    "write when it is done"
                )
        await self._queue.lock.acquire()
        _inside.set((*self._outer, self))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.is_over = True
        _inside.set(self._outer)
        self._queue.lock.release()
