"""Pictures of a run: something to look at, to step through, and to take part in. (start)

lab.view.stepper(result)   lab.view.guard(result)   lab.view.be_the_model(question, tools)
lab.view.assembler(body)           lab.view.timeline(events)
lab.view.composer(kernel, tools)   lab.view.wires(messages)   lab.view.protocol(messages)
lab.view.race({"lock off": off, "lock on": on})
lab.view.gauge(history, window=n)  lab.view.knife(history)    lab.view.deadlock(story)
lab.view.live(events)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from freya_teach.config import MODELS
from freya_teach.events import Event
from freya_teach.kernel import Kernel
from freya_teach.lab.deadlock import LARGE_RESULT, Defences, Story
from freya_teach.lab.gateway.question import Policy
from freya_teach.lab.races.orders import Run
from freya_teach.lab.views.assembling import assembler
from freya_teach.lab.views.be_the_model import Seat
from freya_teach.lab.views.composer import ComposerView, composer
from freya_teach.lab.views.deadlock import DeadlockView, deadlock
from freya_teach.lab.views.gauge import History, States, gauge
from freya_teach.lab.views.gauge_levels import Gauge
from freya_teach.lab.views.guard import Watch, guard
from freya_teach.lab.views.knife import KnifeView, knife
from freya_teach.lab.views.live import LiveView, live
from freya_teach.lab.views.pieces import Body, Moment
from freya_teach.lab.views.protocol import TWO_TOOLS, BenchView, protocol
from freya_teach.lab.views.race import RaceView, race
from freya_teach.lab.views.sitting import Sitting
from freya_teach.lab.views.stepper import Place, stepper
from freya_teach.lab.views.timeline import Moment as ToolMoment
from freya_teach.lab.views.timeline import timeline
from freya_teach.lab.views.view import View
from freya_teach.lab.views.wire_picture import Shown
from freya_teach.lab.views.wires import Tools, wires
from freya_teach.llm.messages import Message
from freya_teach.llm.protocol import Route
from freya_teach.llm.tokens import TokenCounter
from freya_teach.prompt.composer import Composer
from freya_teach.tools.registry import ToolRegistry
from freya_teach.tools.tool import Tool
from freya_teach.trace import RunResult

PATIENCE = 7 * 24 * 3600.0
"""Seconds that a request may wait for the person who answers it."""


class Lab(Protocol):
    """What the views need of a lesson."""

    def kernel(self, scenario: str, *, policy: Policy | None = None, **settings: Any) -> Kernel:
        """A kernel with this policy at the other end."""

    def on_close(self, callback: Callable[[], None]) -> None:
        """Call this when the lesson ends."""


class Views:
    """The views of a lesson. There is one of them per lesson: it knows who sits in the seat."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._seat: Seat | None = None

    def stepper(self, result: RunResult) -> View[Place]:
        """A run step by step, between model, harness and tools."""
        return stepper(result)

    def guard(self, result: RunResult) -> View[Watch]:
        """A run turn by turn, as the loop guard sees it."""
        return guard(result)

    def assembler(
        self, body: Body, wire: str = "openai", tools: Iterable[str] = ()
    ) -> View[Moment]:
        """An answer's body event by event, and the buffers that each event fills."""
        return assembler(body, wire, tools)

    def timeline(self, events: Iterable[Event]) -> View[ToolMoment]:
        """The tool calls of a run, each a bar from its first event to its last."""
        return timeline(events)

    def live(self, events: Iterable[Event] = ()) -> LiveView:
        """What a screen shows of a run, event by event; its `put` takes events as they come."""
        return live(events)

    def composer(
        self,
        source: Kernel | Composer,
        tools: Iterable[Tool | Callable[..., Any]] | ToolRegistry = (),
    ) -> ComposerView:
        """The system prompt: switch its parts, see where they come from and what they cost."""
        return composer(source, tools)

    def wires(
        self,
        messages: Sequence[Message],
        tools: Tools = (),
        *,
        openai: Route | str = MODELS["openai"],
        gemini: Route | str = MODELS["gemini"],
        foreign: str = "",
    ) -> View[Shown]:
        """A history beside the bodies that both wires make of it; `foreign` takes it over."""
        return wires(messages, tools, openai=openai, gemini=gemini, foreign=foreign)

    def protocol(
        self,
        messages: Sequence[Message] = TWO_TOOLS,
        tools: Tools = (),
        *,
        openai: str = MODELS["openai"],
        gemini: str = MODELS["gemini"],
    ) -> BenchView:
        """A history to break: edit its rows, and read what both providers say."""
        return protocol(messages, tools, openai=openai, gemini=gemini)

    def race(self, cases: Run | Mapping[str, Run]) -> RaceView:
        """Tasks beside each other, turn by turn: one run, or several to switch between."""
        return race(cases)

    def gauge(
        self,
        history: History | States,
        *,
        window: int,
        fixed: int = 0,
        answer: int = 0,
        counter: TokenCounter | None = None,
    ) -> View[Gauge]:
        """How full the window is, after each turn; of (label, history) pairs, state by state."""
        return gauge(history, window=window, fixed=fixed, answer=answer, counter=counter)

    def knife(
        self,
        history: Sequence[Message],
        *,
        at: int | None = None,
        keep_turns: int = 6,
        openai: str = MODELS["openai"],
        gemini: str = MODELS["gemini"],
    ) -> KnifeView:
        """A history to cut: what stays, what both providers say, who would cut there."""
        return knife(history, at=at, keep_turns=keep_turns, openai=openai, gemini=gemini)

    def deadlock(
        self, story: Story | str = LARGE_RESULT, defences: Defences | Iterable[str] = ()
    ) -> DeadlockView:
        """A compaction that may never end, step by step, with defences to switch on."""
        return deadlock(story, defences)

    def be_the_model(
        self,
        question: str,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        *,
        wire: str = "openai",
        **settings: Any,
    ) -> Seat:
        """A seat in which you answer instead of a model; an earlier seat of the lesson is left."""
        if self._seat is not None:
            self._seat.leave()
        offered = list(tools)

        async def run(sitting: Sitting) -> RunResult:
            chosen = {"provider": wire, "request_seconds": PATIENCE, "retry_seconds": 0, **settings}
            kernel = self._lab.kernel("gateway", policy=sitting.policy, **chosen)
            kernel.http.event_hooks = {"request": [sitting.watch]}
            async with kernel.http:
                return await kernel.agent(offered).run(question)

        seat = self._seat = Seat(run)
        self._lab.on_close(seat.leave)
        return seat
