"""Runs a learner's function so that nothing it does ends the notebook or shows our frames. (start)

It may return, be async, raise anything, print for ever, or never end: each becomes a value or a
`Finding` in words. Only its own steps are watched and captured; while a coroutine waits, the rest
of the notebook goes on as ever. What can not be stopped is listed in `watchdog.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import traceback
import warnings
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from freya_teach.lab.exercises.exercise import Finding, NotDone, NotYet, Raised, Stopped
from freya_teach.lab.exercises.watchdog import Interrupted, TimeIsUp, Watchdog
from freya_teach.lab.exercises.wording import error_text, own_line

MAX_KEPT_CHARS = 20_000
SECONDS_TO_TIDY_UP = 1.0
"""For the `finally` of a coroutine that is told to stop."""

BY_LINE = "(It was stopped between two lines of Python. Is there a loop that never ends?)"
BY_WAITING = "(It was waiting: its await was cancelled. Is there something that never comes?)"


class Printed(io.TextIOBase):
    """What student code prints; the beginning is kept, however much there is."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def write(self, text: str) -> int:
        """Keep what there is room for."""
        if not isinstance(text, str):
            raise TypeError(f"write() needs a str, not {type(text).__name__}")
        self.text += text[: MAX_KEPT_CHARS - len(self.text)]
        return len(text)

    def writable(self) -> bool:
        """Say yes to whoever asks before writing."""
        return True


@dataclass(slots=True)
class StudentCode:
    """Calls the functions of one answer, each call with `seconds` of its own."""

    namespace: dict[str, Any] | None
    seconds: float
    printed: Printed = field(default_factory=Printed)
    warned: list[str] = field(default_factory=list)

    async def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The value, awaited where it has to be. Raises a `Finding` for everything else."""
        watchdog = Watchdog(self.seconds, self.namespace)
        try:
            value = self._step(watchdog, partial(function, *args, **kwargs))
            if inspect.isawaitable(value):
                value = await self._awaited(value, watchdog)
            self._check_that_all_was_awaited()
        except (Finding, Interrupted):
            raise
        except TimeIsUp as stop:
            raise self._stopped(stop, "running", BY_LINE) from None
        except NotImplementedError as problem:
            raise NotDone(f"not done yet: it raises {error_text(problem)}.") from None
        except BaseException as problem:
            if isinstance(problem, asyncio.CancelledError) and _is_being_cancelled():
                raise  # the notebook's stop button, and not the student's own
            raise self._raised(problem) from None
        return value

    async def _awaited(self, value: Awaitable[Any], watchdog: Watchdog) -> Any:
        clock = asyncio.timeout(self.seconds)
        try:
            async with clock:
                return await _Steps(value, partial(self._step, watchdog), watchdog)
        except TimeoutError as problem:
            if not clock.expired():
                raise
            raise self._stopped(problem.__cause__, "waiting", BY_WAITING) from None

    def _step(self, watchdog: Watchdog, step: Callable[[], Any]) -> Any:
        """Run student code up to its next wait, with its output and its warnings in our hands."""
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                with (
                    contextlib.redirect_stdout(self.printed),
                    contextlib.redirect_stderr(self.printed),
                ):
                    return watchdog.run(step)
            finally:
                self.warned += [str(warning.message) for warning in warned]

    def _check_that_all_was_awaited(self) -> None:
        for text in self.warned:
            if "was never awaited" in text:
                name = text.split("'")[1].rpartition(".")[2]
                raise NotYet(f"{name}(…) was never awaited. Write `await` before the call.")

    def _raised(self, problem: BaseException) -> Raised:
        text = f"your code raised {error_text(problem)}"
        line = own_line(problem, self.namespace)
        self._let_go_of(problem)
        return Raised(_with_line(text, line), problem)

    def _let_go_of(self, problem: BaseException) -> None:
        """Empty the frames of its trace now, and not while the notebook is doing something else."""
        watchdog = Watchdog(SECONDS_TO_TIDY_UP, self.namespace)
        with contextlib.suppress(Exception, TimeIsUp):
            self._step(watchdog, partial(traceback.clear_frames, problem.__traceback__))

    def _stopped(self, problem: BaseException | None, what: str, how: str) -> Stopped:
        text = f"your code was stopped: it was still {what} after {self.seconds:g} seconds"
        return Stopped(f"{_with_line(text, own_line(problem, self.namespace))}\n{how}")


class _Steps:
    """Awaits something of the student's, with every step of it run by `run`."""

    def __init__(
        self, value: Awaitable[Any], run: Callable[[Callable[[], Any]], Any], watchdog: Watchdog
    ) -> None:
        self.value = value
        self.run = run
        self.watchdog = watchdog

    def __await__(self) -> Generator[Any, Any, Any]:
        steps: Any = self.run(self.value.__await__)
        step, told_to_stop = partial(next, steps), None
        while True:
            try:
                waits_for = self.run(step)
            except StopIteration as done:
                return done.value
            if told_to_stop is not None:  # and it waits again
                self._abandon(steps)
                raise told_to_stop
            try:
                yield waits_for
                step = partial(next, steps)
            except BaseException as thrown:  # noqa: BLE001 - handed on to the student's code
                step = partial(steps.throw, thrown)
                if isinstance(thrown, asyncio.CancelledError) and _is_being_cancelled():
                    told_to_stop = thrown
                    self.watchdog.extend(SECONDS_TO_TIDY_UP)

    def _abandon(self, steps: Any) -> None:
        """End a coroutine that goes on in spite of everything."""
        self.watchdog.give_up()
        with contextlib.suppress(RuntimeError, TimeIsUp):
            self.run(steps.close)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _with_line(text: str, line: str) -> str:
    return f"{text}\n    {line}" if line else text
