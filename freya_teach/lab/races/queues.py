"""Ways to write to a session: no queue, a chain that breaks, one lock, the kernel's. (chapter 6.4)

Each has one method, `write(session, work)`: it runs `work()` and gives back what that gives back.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Protocol

from freya_teach.errors import NestedWrite
from freya_teach.session.writer import WriteQueue

Work = Callable[[], Awaitable[Any]]


class Queue(Protocol):
    """What an accident needs to write."""

    async def write(self, session: str, work: Work) -> Any:
        """Run the work, when its time has come."""


class NoQueue:
    """Everybody writes when they like."""

    async def write(self, session: str, work: Work) -> Any:  # noqa: ARG002 - that is the mistake
        """Run the work at once."""
        return await work()


class Chain:
    """Each write hangs on the one before it, as `before.then(work)` does in JavaScript.

    Where the one before has failed, its error is raised here, too, and `work` never runs. A write
    inside a write hangs on the outer one, which waits for the inner one.
    """

    def __init__(self) -> None:
        self.last: dict[str, asyncio.Future[Any]] = {}

    async def write(self, session: str, work: Work) -> Any:
        """Run the work after the last write of this session."""
        mine = asyncio.ensure_future(self._after(self.last.get(session), work))
        self.last[session] = mine
        try:
            return await mine
        finally:
            if self.last.get(session) is mine:
                del self.last[session]

    async def _after(self, before: asyncio.Future[Any] | None, work: Work) -> Any:
        if before is not None:
            # subtle: a promise cannot be cancelled by those who wait for it; shield does the same
            await asyncio.shield(before)
        return await work()


_inside: ContextVar[frozenset[str]] = ContextVar("inside", default=frozenset())
"""The sessions in whose writes the current task is."""


class OneByOne:
    """One lock per session: a failing write fails alone, and a nested one raises at once."""

    def __init__(self) -> None:
        self.locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def write(self, session: str, work: Work) -> Any:
        """Run the work when the lock is free. Raises `NestedWrite`, and what the work raises."""
        if session in _inside.get():
            raise NestedWrite(f"a write on {session} inside a write on {session}")
        async with self.locks[session]:
            token = _inside.set(_inside.get() | {session})
            try:
                return await work()
            finally:
                _inside.reset(token)


class KernelQueue:
    """The kernel's own queues, `freya_teach/session/writer.py`."""

    def __init__(self) -> None:
        self.queues: dict[str, WriteQueue] = {}

    async def write(self, session: str, work: Work) -> Any:
        """Run the work in its turn. Raises `NestedWrite`, and what the work raises."""
        queue = self.queues.setdefault(session, WriteQueue(session))
        async with queue.turn():
            return await work()
