"""Stops student code that does not end, in the same thread and therefore in a browser too. (start)

A trace function (`sys.settrace`) looks at the clock at every step of Python, and raises `TimeIsUp`
in the student's own frame when the time is over. Not covered: one call into C that does not come
back, such as `time.sleep(10**6)`, `list(itertools.count())` or a regex that backtracks for ever,
and the inside of a thread or a task that student code starts (waiting for it does end).

Python removes a trace function that has raised, so code that swallows `TimeIsUp` would run on. But
it removes the frame's own trace function last; so each frame has one of its own, an `_Eye`, and
the end of an eye that has raised starts the trace anew. A trace function that was there before
(a debugger's, a coverage tool's) is put back at the end.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")
Handler = Callable[[int, FrameType | None], Any] | int | None


class TimeIsUp(BaseException):
    """Raised in student code at its next step; no `except Exception` takes it for its own."""


class Interrupted(KeyboardInterrupt):
    """The user pressed stop while student code was running, and not that code raised it."""

    def _render_traceback_(self) -> list[str]:
        """What Jupyter shows of it: one line, and no frames of the kit."""
        return ["Interrupted while your code was running."]


class Watchdog:
    """One deadline, `seconds` from now, over one or several steps of student code."""

    def __init__(self, seconds: float, namespace: dict[str, Any] | None = None) -> None:
        self.namespace = namespace
        """The learner's own globals: there the clock is looked at before every instruction."""
        self.deadline = time.monotonic() + seconds
        self.interrupted = False
        self._outside: FrameType | None = None
        """The frame that called the student; None while no student code runs."""

    def run(self, step: Callable[[], T]) -> T:
        """Run one step. Raises `TimeIsUp`, `Interrupted`, or whatever the step raises."""
        listening = self._listen()
        trace = sys.gettrace()
        self._outside = sys._getframe()  # noqa: SLF001 - inspect.currentframe would be traced
        try:
            sys.settrace(self._enter)
            return step()
        finally:
            self._outside = None
            sys.settrace(trace)
            if listening is not None:
                signal.signal(signal.SIGINT, listening)
            if self.interrupted:
                raise Interrupted from None

    def extend(self, seconds: float) -> None:
        """Allow at least so many seconds from now on."""
        self.deadline = max(self.deadline, time.monotonic() + seconds)

    def give_up(self) -> None:
        """The time is over now."""
        self.deadline = 0.0

    def is_over(self) -> bool:
        """Whether student code has to stop now."""
        return self.interrupted or time.monotonic() > self.deadline

    def watch_on(self, frame: FrameType | None) -> None:
        """Trace again, from this frame out to the kit's own."""
        if self._outside is None:
            return
        while frame is not None and frame is not self._outside:
            frame.f_trace = frame.f_trace or _Eye(self)
            frame = frame.f_back
        sys.settrace(self._enter)

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> _Eye | None:
        if frame.f_globals is globals():
            return None
        if frame.f_globals is self.namespace:
            frame.f_trace_opcodes = True  # `while True: pass` on one line is one instruction
        return _Eye(self)

    def _listen(self) -> Handler:
        """Take over the stop button: Jupyter's handler waits for the event loop, which hangs."""
        if sys.platform == "emscripten":
            return None
        if threading.current_thread() is not threading.main_thread():
            return None
        if signal.getsignal(signal.SIGINT) is None:
            return None  # not Python's, so it could not be put back
        return signal.signal(signal.SIGINT, self._on_interrupt)

    def _on_interrupt(self, _number: int, frame: FrameType | None) -> None:
        self.interrupted = True
        if frame is None or frame.f_globals is not globals():
            raise KeyboardInterrupt  # ends a sleep too; in our own frames an eye is open


class _Eye:
    """The trace function of one frame, and of no other."""

    __slots__ = ("raised", "watchdog")

    def __init__(self, watchdog: Watchdog) -> None:
        self.watchdog = watchdog
        self.raised = False

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> _Eye:
        if event in ("return", "exception") or not self.watchdog.is_over():
            return self  # it is leaving already, or nothing is to be stopped
        if frame.f_lineno is None:
            return self  # Python's own tidying up, which is on no line that could be shown
        self.raised = True
        del self  # the trace of the exception would keep it from ending
        raise TimeIsUp

    def __del__(self) -> None:
        """Python lets go of an eye that has raised: watch on from the frame it was watching."""
        if self.raised:
            self.watchdog.watch_on(sys._getframe().f_back)  # noqa: SLF001 - as in `run`
