"""One turn: a model call, and the tool calls it asked for. (chapter 2.3)

The assistant message is stored *before* a tool runs: a crash in between leaves a gap that can be
seen and closed. Tools run side by side, up to a limit; their results are stored in call order,
as one write, whatever order they finished in.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from freya_teach import events
from freya_teach.agent.compaction import Compaction
from freya_teach.agent.history import History
from freya_teach.agent.loop_guard import LoopGuard
from freya_teach.config import Settings
from freya_teach.context.room import Room
from freya_teach.llm import protocol, transcript
from freya_teach.llm.encoded import RememberingWriter
from freya_teach.llm.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    system,
)
from freya_teach.tools.context import CancelToken
from freya_teach.tools.registry import ToolRegistry
from freya_teach.tools.runner import ToolRunner
from freya_teach.tools.tool import Tool
from freya_teach.trace import CallTrace, ToolState, TurnTrace

logger = logging.getLogger(__name__)

Approve = Callable[[ToolCall], Awaitable[str | None]]
"""Asked before each tool call: None lets it run, a text refuses it and is told to the model."""
Emit = Callable[[events.Event], None]
Instructions = Callable[[History, Mapping[str, Tool]], str]
"""The session and its active tools → the system prompt of this turn."""

CUT_SHORT = (
    "Not run: your answer was cut off at its token limit, so this call may be incomplete. "
    "Make it again, with shorter arguments or fewer calls at once."
)
NO_CALLS_LEFT = (
    "Not run: the tool calls allowed for this task are used up. Answer with what you have."
)
NOT_BEGUN = (
    "Not run: the run was interrupted before this call began. Make it again if you still need it."
)
UNCLEAR_APPROVAL = "Not run: it could not be found out whether this call is allowed."
BROKEN_ANSWERS = ("error", "content_filter")


@dataclass(slots=True)
class Turns:
    """Takes the turns of one run."""

    client: protocol.ModelClient
    issuer: str
    """Who issued what is in an answer whose client does not say so."""
    registry: ToolRegistry
    runner: ToolRunner
    settings: Settings
    history: History
    instructions: str | Instructions
    approve: Approve | None
    emit: Emit
    compaction: Compaction | None = None
    room: Room | None = None
    """What the last request could hold."""
    guard: LoopGuard = field(init=False)
    used_ids: set[str] = field(init=False)
    """The ids of all calls in the history; a new call gets one that is not among them."""
    writer: RememberingWriter = field(default_factory=RememberingWriter)
    """Writes the requests of this run, and what they have in common once."""
    system: SystemMessage | None = None
    """The system prompt of the last request."""
    calls_made: int = 0
    unfinished: protocol.Exchange | None = None
    """The model has answered, and its calls are not all done yet."""
    running: dict[str, CancelToken] = field(default_factory=dict)
    """Those of its calls that have been started, by id, and how each is told to give up."""
    finished: dict[str, CallTrace] = field(default_factory=dict)
    """Those of its calls that are done, by id."""
    is_stopped: bool = False
    """No tool may start any more."""
    _tasks: list[asyncio.Task[CallTrace]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.guard = LoopGuard(self.settings.loop_warn, self.settings.loop_stop)
        self.used_ids = set(transcript.call_names(self.history.messages))

    async def take(self, number: int) -> TurnTrace:
        """Ask, and do what the answer asks for. Raises `LLMError`; then nothing is stored."""
        self.emit(events.TurnStarted(number))
        tools = self.registry.active(self.history.active_toolboxes)
        exchange = await self._ask(tools)
        calls = exchange.reply.message.tool_calls
        if exchange.reply.finish_reason == "length":
            traces = [self._refuse(call, CUT_SHORT) for call in calls]
        else:
            traces = await self._run_all(calls, tools)
        return await self._finish(TurnTrace(number, exchange, tuple(traces)))

    async def close(self, number: int, note: str) -> TurnTrace:
        """Ask one last time, without tools and with a note that says why."""
        self.emit(events.TurnStarted(number))
        exchange = await self._ask({}, system(note))
        return await self._finish(TurnTrace(number, exchange, ()))

    def stop(self) -> None:
        """From this moment on, no tool starts; those that run are given up, and not waited for."""
        self.is_stopped = True
        for token in self.running.values():
            token.cancel()
        for task in self._tasks:
            task.cancel()

    async def cut_off(self) -> list[CallTrace]:
        """Close the calls of a turn that was ended in its middle; do nothing when none are open.

        A result that was there already is stored; the others are lost, and the model is told. Of a
        call that had not begun it is told that, too: it may be made again without a thought.
        """
        traces = []
        for call in transcript.open_calls(self.history.messages):
            trace = self.finished.get(call.id)
            if trace is None and call.id in self.running:
                trace = CallTrace(call, transcript.LOST_RESULT, "failed", 0.0)
                self.emit(events.ToolStatus(call, trace.state, trace.observation))
            traces.append(trace or CallTrace(call, NOT_BEGUN, "refused", 0.0))
        if traces:
            await self.history.append(*map(_as_message, traces))
        return traces

    async def _ask(self, tools: Mapping[str, Tool], *notes: Message) -> protocol.Exchange:
        exchange = await self._complete(tools, notes)
        reply = exchange.reply
        message = reply.message
        if not tools or reply.finish_reason in BROKEN_ANSWERS:
            message = _without_calls(message)
        message = transcript.assign_ids(message, self.used_ids, exchange.issuer or self.issuer)
        if exchange.route and exchange.route != self.history.model:
            self.history.use_model(exchange.route)  # stored together with the message
        if message.parts:
            await self.history.append(message)
        if message is not reply.message:
            exchange = replace(exchange, reply=replace(reply, message=message))
        self.unfinished = exchange
        return exchange

    async def _complete(
        self, tools: Mapping[str, Tool], notes: tuple[Message, ...]
    ) -> protocol.Exchange:
        """Ask with as much of the history as the model has room for."""
        text = self.instructions
        if callable(text):
            text = text(self.history, tools)
        if self.system is None or self.system.text != text:
            self.system = system(text)  # else the same object: what is written of it is kept
        first = (self.system,) if text else ()

        def build(stored: tuple[Message, ...]) -> protocol.ModelRequest:
            return protocol.ModelRequest(
                (*first, *stored, *notes),
                tuple(tool.spec for tool in tools.values()),
                self.settings.stream,
                self.settings.max_output_tokens,
                self.history.model,
                self.writer,
            )

        if self.compaction is None:
            return await self.client.complete(build(self.history.messages), self._report)
        self.room = self.compaction.room_for(self.history, build(()))
        return await self.compaction.ask(self.history, self.room, build, self._report, self.emit)

    def _report(self, delta: protocol.Delta) -> None:
        if isinstance(delta, protocol.TextDelta) and delta.text:
            self.emit(events.TextDelta(delta.text))
        elif isinstance(delta, protocol.ReasoningDelta) and delta.text:
            self.emit(events.ReasoningDelta(delta.text))

    async def _run_all(
        self, calls: tuple[ToolCall, ...], tools: Mapping[str, Tool]
    ) -> list[CallTrace]:
        """Run the calls side by side; the traces come in call order."""
        allowed = self._allowed(calls)
        if len(calls) == allowed == 1 and self.approve is None:
            # for speed: one call alone needs no task, which would be 4 % of such a turn
            self.calls_made += 1
            return [await self._run_one(calls[0], tools)]
        slots = asyncio.Semaphore(self.settings.parallel_tools)

        async def one(call: ToolCall) -> CallTrace:
            async with slots:
                return await self._run_one(call, tools)

        async with asyncio.TaskGroup() as group:
            self._tasks = [group.create_task(one(call)) for call in calls[:allowed]]
        self.calls_made += allowed
        refused = [self._refuse(call, NO_CALLS_LEFT) for call in calls[allowed:]]
        return [task.result() for task in self._tasks] + refused

    def _allowed(self, calls: tuple[ToolCall, ...]) -> int:
        """How many of these calls the run's budget still lets through."""
        if self.settings.max_calls is None:
            return len(calls)
        return min(len(calls), self.settings.max_calls - self.calls_made)

    async def _run_one(self, call: ToolCall, tools: Mapping[str, Tool]) -> CallTrace:
        prepared = self.runner.prepare(call, tools)
        # nobody is asked to approve a call that cannot be run
        refusal = await self._refusal(call) if prepared.tool else None
        if refusal is not None:
            return self._refuse(call, refusal)
        if self.is_stopped:  # while the hook was asked, and it did not let itself be cancelled
            raise asyncio.CancelledError
        cancel = self.running[call.id] = CancelToken()
        self.emit(events.ToolStatus(call, "running"))
        result = await self.runner.run_prepared(prepared, self.history.id, self.history, cancel)
        state: ToolState = "failed" if result.is_error else "completed"
        return self._done(CallTrace(call, result.text, state, result.seconds))

    def _refuse(self, call: ToolCall, why: str) -> CallTrace:
        return self._done(CallTrace(call, why, "refused", 0.0))

    def _done(self, trace: CallTrace) -> CallTrace:
        self.finished[trace.call.id] = trace
        self.emit(events.ToolStatus(trace.call, trace.state, trace.observation, trace.seconds))
        return trace

    async def _refusal(self, call: ToolCall) -> str | None:
        """Ask the approval hook; one that fails refuses, because silence is no consent."""
        if self.approve is None:
            return None
        try:
            reason = await self.approve(call)
        except asyncio.CancelledError:
            if run_is_cancelled():
                raise
            return UNCLEAR_APPROVAL  # what the hook waited for was cancelled: a closed dialog
        except Exception:
            logger.exception("the approval hook failed on %s", call.name)
            return UNCLEAR_APPROVAL
        return None if reason is None else f"The call was refused: {reason or 'no reason given'}"

    async def _finish(self, turn: TurnTrace) -> TurnTrace:
        """Add the guard's notes, store all results as one write, and tell."""
        if turn.calls:
            notes = self.guard.notes([(trace.call, trace.observation) for trace in turn.calls])
            if any(notes):
                noted = [
                    replace(trace, observation=trace.observation + note)
                    for trace, note in zip(turn.calls, notes, strict=True)
                ]
                turn = replace(turn, calls=tuple(noted))
            await self.history.append(*map(_as_message, turn.calls))
        self.unfinished = None
        self.running.clear()
        self.finished.clear()
        self.emit(events.TurnDone(turn))
        return turn


def _as_message(trace: CallTrace) -> ToolMessage:
    return ToolMessage(trace.call.id, trace.observation, trace.is_error)


def run_is_cancelled() -> bool:
    """Whether it is this task that was cancelled, and not only something that it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _without_calls(message: AssistantMessage) -> AssistantMessage:
    return AssistantMessage(tuple(p for p in message.parts if not isinstance(p, ToolCall)))
