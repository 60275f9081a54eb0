"""A run on its way: follow it, stop it, take its result. (chapter 8.1)

    run = agent.start("What is the weather in Beijing?", session=session)
    async for event in run:
        ...                         # a button: run.cancel()
    result = await run.result()

It goes on beside whoever follows it, and whether or not anybody does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from freya_teach.agent.feed import LIMIT, Feed
from freya_teach.events import Event, EventBus, RunDone

if TYPE_CHECKING:
    from freya_teach.agent.turn import Turns
    from freya_teach.trace import RunResult


class Run:
    """One run of an agent. `Agent.start` makes it; all its methods belong into the loop's thread.

    `cancel` ends it as a user expects who presses "stop": the conversation stays, and can be gone
    on with. The question is in it, and so is every turn that was finished; of an answer that was
    still being written nothing is; a tool call without a result is answered for, so that the
    history is valid.
    """

    def __init__(self, session_id: str, bus: EventBus) -> None:
        self.session_id = session_id
        self.number = bus.new_run()
        """The `run` of its events."""
        self.turns: Turns | None = None
        """What takes its turns, once there is one."""
        self.is_cancelled = False
        """Whether `cancel` was called before it was over."""
        self._bus = bus
        self._feeds: list[Feed] = []
        self._task: asyncio.Task[RunResult] | None = None
        self._done: RunDone | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in whichever way."""
        return self._task is not None and self._task.done()

    def cancel(self) -> None:
        """Stop: from this moment on, no tool starts and no byte of an answer is read.

        The run is over within three passes of the loop, unless a tool, the approval hook or the
        disk lets it wait. A run that is over stays as it is.
        """
        if self.is_cancelled or self._done is not None or self.is_over:
            return
        self.is_cancelled = True
        if self.turns is not None:  # else it has not begun, and finds out when it does
            self.turns.stop()
            if self._task is not None:
                self._task.cancel()

    async def result(self) -> RunResult:
        """Wait for the end. A cancelled run has a result too: its `stop_reason` is "cancelled".

        Raises what `Agent.run` raises. Who waits can be cancelled without harm to the run.
        """
        task = await self._ended()
        return self._done.result if self._done else task.result()

    async def settle(self) -> None:
        """Wait for the end, whatever it is: raises nothing that the run has raised."""
        task = await self._ended()
        if not task.cancelled():
            task.exception()  # taken, so that asyncio does not complain that nobody did

    def follow(self, limit: int = LIMIT) -> Feed:
        """The events from now on, for one reader; a slow one gets longer pieces (`Feed`).

        The last is `RunDone`, unless the run raises, which `result` tells. Called before the next
        `await` behind `Agent.start`, it misses none.
        """
        feed = Feed(limit)
        if not self.is_over:
            self._feeds.append(feed)
        else:
            if self._done:
                feed.put(self._done)
            feed.close()
        return feed

    def __aiter__(self) -> Feed:
        return self.follow()

    def emit(self, event: Event) -> None:
        """Tell all who listen, with the session and the number of this run."""
        if not (self._feeds or self._bus.has_listeners):
            return  # for speed: `replace` takes 2 µs, and each tool call has two events
        told = replace(event, session=self.session_id, run=self.number)
        self._bus.emit(told)
        for feed in self._feeds:
            feed.put(told)

    def finish(self, result: RunResult) -> None:
        """Tell that it is over; `cancel` comes too late from here on."""
        self._done = RunDone(result, session=self.session_id, run=self.number)
        self.emit(self._done)

    def begin(self, work: Coroutine[Any, Any, RunResult]) -> asyncio.Task[RunResult]:
        """Do the work beside whoever has started it."""
        self._task = asyncio.create_task(work, name=f"run {self.number} of {self.session_id}")
        self._task.add_done_callback(self._close_feeds)
        return self._task

    def check(self) -> None:
        """Raise `CancelledError` if it was cancelled before it had begun."""
        if self.is_cancelled:
            raise asyncio.CancelledError

    def takes_cancellation(self) -> bool:
        """Whether the cancellation that has arrived is its own; then its work may end in order."""
        if self.is_cancelled and self._task is not None:
            self._task.uncancel()
        return self.is_cancelled

    async def _ended(self) -> asyncio.Task[RunResult]:
        assert self._task is not None, "a run is started by Agent.start"
        await asyncio.wait({self._task})
        return self._task

    def _close_feeds(self, _task: object) -> None:
        for feed in self._feeds:
            feed.close()
        self._feeds.clear()
