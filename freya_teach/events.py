"""What happens during a run, for whoever shows it. (chapter 8.1)

The loop does not print: it emits these records. A listener that fails is logged and left alone;
it can neither fail a tool nor stop the run. It is called in the middle of the run, which goes on
when it returns: whoever needs time reads from a `Feed` instead (`agent/feed.py`).
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from freya_teach.llm.messages import ToolCall
from freya_teach.llm.protocol import Usage
from freya_teach.trace import RunResult, ToolState, TurnTrace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class InRun:
    """Where an event comes from. Two events that say the same are equal wherever they happened."""

    session: str = field(default="", compare=False)
    """The id of the conversation; empty for one that is forgotten after its run."""
    run: int = field(default=0, compare=False)
    """The number of the run among all of this agent, from 1; 0 outside of a run."""


@dataclass(frozen=True, slots=True)
class TurnStarted(InRun):
    """A model call is about to be made; turns count from 1."""

    number: int
    name: Literal["turn:started"] = "turn:started"


@dataclass(frozen=True, slots=True)
class TextDelta(InRun):
    """A piece of the answer's text; in a run that does not stream, all of it."""

    text: str
    name: Literal["text:delta"] = "text:delta"


@dataclass(frozen=True, slots=True)
class ReasoningDelta(InRun):
    """A piece of the model's thinking."""

    text: str
    name: Literal["reasoning:delta"] = "reasoning:delta"


@dataclass(frozen=True, slots=True)
class ToolStatus(InRun):
    """A tool starts, or has ended with an observation after so many seconds."""

    call: ToolCall
    state: ToolState
    observation: str = ""
    seconds: float = 0.0
    name: Literal["tool:status"] = "tool:status"


@dataclass(frozen=True, slots=True)
class TurnDone(InRun):
    """A turn is over: the model has answered and its tools have run."""

    turn: TurnTrace
    name: Literal["turn:done"] = "turn:done"


@dataclass(frozen=True, slots=True)
class ContextCompacted(InRun):
    """The history has become smaller; tokens of the whole request, before and after."""

    before: int
    after: int
    summarised: bool
    """Whether a summary stands for what has left; else it was shortened or left out."""
    usage: Usage
    """What the summary cost."""
    name: Literal["context:compacted"] = "context:compacted"


@dataclass(frozen=True, slots=True)
class RunDone(InRun):
    """The run is over; always the last event of one that did not raise, also of a cancelled one."""

    result: RunResult
    name: Literal["run:done"] = "run:done"


Event = (
    TurnStarted | TextDelta | ReasoningDelta | ToolStatus | TurnDone | ContextCompacted | RunDone
)
Listener = Callable[[Event], None]


class EventBus:
    """Hands each event to every listener, in the order of their subscription."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._runs = itertools.count(1)

    @property
    def has_listeners(self) -> bool:
        """Whether anybody would hear an event now."""
        return bool(self._listeners)

    def new_run(self) -> int:
        """The number of the next run whose events are told here."""
        return next(self._runs)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` for each event from now on; the returned function ends that.

        It is called in the loop's own thread, and must return soon: everything waits for it.
        """
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def emit(self, event: Event) -> None:
        """Tell all listeners. Raises nothing that a listener raises."""
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:
                logger.exception("a listener failed on %s", event.name)
