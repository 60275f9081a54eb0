"""The loop: take turns until the model answers, or until something says stop. (chapter 2.3)

    user message → [ model → tools → observations ], again and again → answer

Every end is an orderly one: the history is valid, and the result says why it ended. At the limit
of turns or calls the model is asked once more, without tools, to say what it has; when tokens or
seconds are used up, it is not.

`Agent.run` waits for the answer, `Agent.stream` tells what happens on the way, and `Agent.start`
gives a handle that can also stop the run. The loop does not print (it emits events), knows no HTTP
(it has a `ModelClient`) and no files.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from freya_teach.agent.compaction import Compaction
from freya_teach.agent.history import History, InMemoryHistory
from freya_teach.agent.run import Run
from freya_teach.agent.turn import Approve, Emit, Instructions, Turns
from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.errors import ConfigError
from freya_teach.events import Event, EventBus
from freya_teach.llm import transcript
from freya_teach.llm.encoded import RememberingWriter
from freya_teach.llm.messages import UserMessage, user
from freya_teach.llm.protocol import ModelClient
from freya_teach.tools.registry import ToolRegistry
from freya_teach.tools.runner import ToolRunner
from freya_teach.trace import RunResult, StopReason, Trace, TurnTrace

if TYPE_CHECKING:
    from freya_teach.tools.workspace import Workspace


@dataclass(frozen=True, slots=True)
class _Stop:
    """A limit that was reached; `may_close` when one more model call is affordable."""

    reason: StopReason
    detail: str
    may_close: bool = False


@dataclass(slots=True)
class _Run:
    """What one run has done so far."""

    turns: Turns
    taken: list[TurnTrace] = field(default_factory=list)

    def add(self, turn: TurnTrace, kept_packets: int) -> None:
        """Keep the turn; a long run would not fit in memory if all its packets stayed."""
        self.taken.append(turn)
        if (old := len(self.taken) - 1 - kept_packets) >= 0:
            self.taken[old] = self.taken[old].without_packets()

    @property
    def tokens(self) -> int:
        return sum(turn.reply.usage.total_tokens for turn in self.taken)

    def result(self, reason: StopReason, detail: str = "") -> RunResult:
        text = self.taken[-1].reply.message.text if self.taken else ""
        return RunResult(text, reason, detail, Trace(tuple(self.taken)))


@dataclass(frozen=True, slots=True)
class Agent:
    """A model, its tools and its instructions, ready to run on any session."""

    client: ModelClient
    issuer: str
    registry: ToolRegistry
    settings: Settings
    ambient: Ambient
    instructions: str | Instructions = ""
    """The system prompt: a text, or what composes one for each turn."""
    closing_note: str = ""
    approve: Approve | None = None
    workspace: Workspace | None = None
    """The folder in which the tools may read and write."""
    compaction: Compaction | None = None
    """Keeps a long conversation inside the model's window; without it, it grows until refused."""
    events: EventBus = field(default_factory=EventBus)
    _started: set[asyncio.Task[RunResult]] = field(
        default_factory=set, init=False, repr=False, compare=False
    )
    """Runs that are not over: asyncio holds no task, and one that nobody holds may vanish."""
    _tool_writer: RememberingWriter = field(
        default_factory=RememberingWriter, init=False, repr=False, compare=False
    )
    """Writes the tools' declarations, which are the same in all runs."""

    async def close(self) -> None:
        """Wait for the summaries that are still being made in the background."""
        if self.compaction is not None:
            await self.compaction.close()

    async def run(
        self, question: str | UserMessage, *, session: History | None = None
    ) -> RunResult:
        """Answer one user message. Without a session, the conversation is forgotten afterwards.

        Raises `SessionBusy` when the session has a run in progress, `LLMError` when the model
        cannot be reached or refuses; the history stays valid either way. Raises `ConfigError`
        for a session that is none, such as an id.
        """
        return await self._run(question, session, self._new_run(session))

    def start(self, question: str | UserMessage, *, session: History | None = None) -> Run:
        """The same run, beside whatever else goes on; `Run` follows it, stops it, has its result.

        It begins at the next `await`. What `run` raises, `Run.result` raises.
        """
        run = self._new_run(session)
        task = run.begin(self._run(question, session, run))
        self._started.add(task)
        task.add_done_callback(self._started.discard)
        return run

    async def stream(
        self, question: str | UserMessage, *, session: History | None = None
    ) -> AsyncIterator[Event]:
        """The same run, event by event; the last one, `RunDone`, holds the result.

        Leaving the loop early cancels the run: at once inside `contextlib.aclosing`, else as soon
        as nothing refers to the stream any more.
        """
        run = self.start(question, session=session)
        try:
            async for event in run:
                yield event
            await run.result()
        finally:
            run.cancel()
            await run.settle()

    async def _run(
        self, question: str | UserMessage, session: History | None, handle: Run
    ) -> RunResult:
        message = user(question) if isinstance(question, str) else question
        history = InMemoryHistory() if session is None else session
        handle.turns = turns = self._turns(history, handle.emit)
        run = _Run(turns)
        with history.claim():
            try:
                await history.append(*transcript.close_open_calls(history.messages), message)
                handle.check()
                result = await self._within_time(run)
            except asyncio.CancelledError:
                if not handle.takes_cancellation():
                    raise
                result = await self._cut_short(run, "cancelled", "the run was cancelled")
            finally:
                await turns.cut_off()
        if session is not None and not handle.is_cancelled:
            self._compact_later(history, turns)
        handle.finish(result)
        return result

    async def _within_time(self, run: _Run) -> RunResult:
        limit = self.settings.max_seconds
        try:
            async with asyncio.timeout(limit) as clock:
                return await self._loop(run)
        except TimeoutError:
            if not clock.expired():
                raise
            detail = f"the run was ended after {limit:g} seconds"
            return await self._cut_short(run, "budget", detail)

    async def _cut_short(self, run: _Run, reason: StopReason, detail: str) -> RunResult:
        """End it in the middle of a turn; what the model had asked for by then is in the trace."""
        calls = tuple(await run.turns.cut_off())
        if run.turns.unfinished:
            run.taken.append(TurnTrace(len(run.taken) + 1, run.turns.unfinished, calls))
        return run.result(reason, detail)

    async def _loop(self, run: _Run) -> RunResult:
        while (stop := self._limit_reached(run)) is None:
            turn = await run.turns.take(len(run.taken) + 1)
            run.add(turn, self.settings.trace_packets)
            if run.turns.guard.stopped:
                return run.result("loop", run.turns.guard.stopped)
            if not turn.calls:
                return run.result(*_why_it_ends(turn))
        if stop.may_close:
            note = f"{self.closing_note}\n({stop.detail})".strip()
            closing = await run.turns.close(len(run.taken) + 1, note)
            run.add(closing, self.settings.trace_packets)
        return run.result(stop.reason, stop.detail)

    def _limit_reached(self, run: _Run) -> _Stop | None:
        settings, turns = self.settings, len(run.taken)
        if settings.max_tokens is not None and run.tokens >= settings.max_tokens:
            return _Stop(
                "budget", f"{run.tokens:,} tokens are used; {settings.max_tokens:,} were allowed"
            )
        if turns >= settings.max_turns:
            return _Stop("max_turns", f"the limit of turns is reached: {turns}", may_close=True)
        if settings.max_calls is not None and run.turns.calls_made >= settings.max_calls:
            detail = f"the limit of tool calls is reached: {settings.max_calls}"
            return _Stop("budget", detail, may_close=True)
        return None

    def _compact_later(self, history: History, turns: Turns) -> None:
        if self.compaction is not None and turns.room is not None:
            self.compaction.after_reply(history, turns.room, turns.emit)

    def _new_run(self, session: History | None) -> Run:
        try:
            session_id = "" if session is None else session.id
        except AttributeError:
            kind = type(session).__name__
            raise ConfigError(
                f"session= takes a conversation, and this is of the type {kind}: give what "
                "`await kernel.sessions.open(id)` returns, or an InMemoryHistory()"
            ) from None
        return Run(session_id, self.events)

    def _turns(self, history: History, emit: Emit) -> Turns:
        return Turns(
            client=self.client,
            issuer=self.issuer,
            registry=self.registry,
            runner=ToolRunner(self.settings, self.ambient, self.registry, self.workspace),
            settings=self.settings,
            history=history,
            instructions=self.instructions,
            approve=self.approve,
            emit=emit,
            compaction=self.compaction,
            writer=RememberingWriter(self._tool_writer),
        )


def _why_it_ends(turn: TurnTrace) -> tuple[StopReason, str]:
    """The reason for the end of a run whose last answer asked for no tool."""
    reply = turn.reply
    match reply.finish_reason:
        case "error" | "content_filter" | "length":
            return reply.finish_reason, f"the provider ended the answer: {reply.raw_finish_reason}"
        case _ if reply.message.text:
            return "answer", ""
        case _:
            return "empty", f"the answer has no text (finish reason {reply.raw_finish_reason!r})"
