"""Events on their way to a reader who may be slow. (chapter 8.1)

    feed = Feed()
    agent.events.subscribe(feed.put)
    async for event in feed:
        ...

A run never waits for whoever watches it: a browser tab that sleeps must not hold up a tool. So
events wait, up to a limit. Beyond it a piece of a text is joined to the one before it, and the
reader who comes back gets a long piece in place of many short ones: no letter is lost, and no piece
passes a turn or a tool. All other events are kept. What the run may do, its turns and tool calls,
bounds their number.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, replace
from io import StringIO

from freya_teach.events import Event, ReasoningDelta, TextDelta

LIMIT = 256
"""Events that wait for a reader before the pieces of a text are joined."""


@dataclass(slots=True)
class _Joined:
    """Several pieces of one text; they are put together once, when they are read."""

    first: TextDelta | ReasoningDelta
    text: StringIO

    def event(self) -> Event:
        return replace(self.first, text=self.text.getvalue())


class Feed:
    """Takes events from a run at once, and hands them to one reader in the reader's own time.

    At most `limit` events wait, and beside them those that are no pieces of a text, and behind each
    of those one joined piece of the answer and one of the thinking.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._waiting: deque[Event | _Joined] = deque()
        self._news = asyncio.Event()
        self._closed = False

    def __len__(self) -> int:
        """How many events wait; joined pieces count as one."""
        return len(self._waiting)

    def put(self, event: Event) -> None:
        """Add an event. Never waits and never raises; after `close` it does nothing."""
        if self._closed:
            return
        is_full = len(self._waiting) >= self._limit
        if is_full and isinstance(event, TextDelta | ReasoningDelta) and self._join(event):
            return
        self._waiting.append(event)
        self._news.set()

    def close(self) -> None:
        """Let the reader come to the end, behind what waits."""
        self._closed = True
        self._news.set()

    def __aiter__(self) -> Feed:
        return self

    async def __anext__(self) -> Event:
        while not self._waiting:
            if self._closed:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        found = self._waiting.popleft()
        return found.event() if isinstance(found, _Joined) else found

    def _join(self, piece: TextDelta | ReasoningDelta) -> bool:
        """Join the piece to the last one of its text, if no other event of its run is between."""
        for place in range(len(self._waiting) - 1, -1, -1):
            last = self._waiting[place]
            first = last.first if isinstance(last, _Joined) else last
            if (first.session, first.run) != (piece.session, piece.run):
                continue
            if not isinstance(first, TextDelta | ReasoningDelta):
                return False
            if type(first) is type(piece):
                if not isinstance(last, _Joined):
                    last = self._waiting[place] = _Joined(first, StringIO())
                    last.text.write(first.text)
                last.text.write(piece.text)
                return True
        return False
