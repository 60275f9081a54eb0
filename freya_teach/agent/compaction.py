"""Keeps a conversation inside the model's window: carries out what `context` plans. (chapter 7.3)

Before a call, over 85 % of what a request may hold:

    giant results shortened → one summary, at most → truncation → it fits, or an error says why not

After a reply, over 65 %: one summary in the background, while nobody waits for it. In neither case
is anything locked while a model writes. A summary goes into the history as it is *then*: if its
beginning has been replaced meanwhile, the summary is thrown away. One that is empty, cut, late or
too long is thrown away, too; truncation needs no model.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol
from weakref import WeakKeyDictionary

from freya_teach.agent.history import History
from freya_teach.config import Settings
from freya_teach.context.compactor import (
    Budget,
    SummaryPlan,
    least,
    plan_giants,
    plan_summary,
    plan_truncation,
)
from freya_teach.context.material import material
from freya_teach.context.numbered import Numbered, Plan, summary_message
from freya_teach.context.room import Room, refused, room_for, too_large
from freya_teach.context.window import Size
from freya_teach.errors import ContextOverflowError, FreyaError, LLMError, NeedsSmaller
from freya_teach.events import ContextCompacted, Event
from freya_teach.llm.messages import Message, system
from freya_teach.llm.models import COMPATIBLE
from freya_teach.llm.overflow import read_overflow
from freya_teach.llm.protocol import (
    Delta,
    Exchange,
    ModelClient,
    ModelRequest,
    Reply,
    Route,
    ToolSpec,
    Usage,
)
from freya_teach.llm.request_tokens import REPLY_TOKENS
from freya_teach.llm.token_correction import Corrections

logger = logging.getLogger(__name__)

Emit = Callable[[Event], None]
Planner = Callable[[Numbered, Budget, Size], Plan | None]


class MessageCounter(Protocol):
    """Counts messages, best of all each of them only once."""

    def message(self, message: Message) -> int:
        """Tokens of one message."""
        ...

    def messages(self, messages: tuple[Message, ...]) -> int:
        """Tokens of all these messages."""
        ...

    def tools(self, tools: tuple[ToolSpec, ...]) -> int:
        """Tokens of the tools' definitions."""
        ...


def nobody(_: str) -> Route:
    """The route of whoever does not say: its window is the careful guess."""
    return Route("", "", "", facts=COMPATIBLE)


@dataclass(slots=True)
class Compaction:
    """Makes histories smaller, before a call, after a reply and after a refusal."""

    client: ModelClient
    settings: Settings
    guidance: str
    """The system prompt of a request for a summary."""
    new_counter: Callable[[], MessageCounter]
    """Makes the estimator of one conversation."""
    next_route: Callable[[str], Route] = nobody
    """The route that answered last → the one that will be asked next, with its window."""
    margin: float = 1.0
    """How far an estimate may be too low, as long as a server has not told its own count."""
    corrections: Corrections = field(default_factory=Corrections)
    """What the servers' own counts say about our estimates, by route."""
    _counters: WeakKeyDictionary[History, MessageCounter] = field(default_factory=WeakKeyDictionary)
    _fixed: tuple[ModelRequest, int] | None = None
    """The last request without a history, and its tokens: mostly the next one is the same."""
    _windows: dict[str, int] = field(default_factory=dict)
    """Windows that turned out to be smaller than known, by route, in tokens of our estimate."""
    _told: set[str] = field(default_factory=set)
    """The routes for which it was said that the window is a guess."""
    _tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    """Summaries that are being made in the background, by the history's identity."""
    _given_up: dict[str, int] = field(default_factory=dict)
    """The revision for which a summary failed in the background, by session: no second attempt."""
    _just_failed: set[str] = field(default_factory=set)
    """The sessions in which that was after the last reply: none for the next request either."""

    def room_for(self, history: History, request: ModelRequest) -> Room:
        """What the next request may hold; `request` is that one without the history."""
        if self._fixed is None or self._fixed[0] != request:
            counter = self.new_counter()
            messages = sum(map(counter.message, request.messages))
            self._fixed = request, REPLY_TOKENS + messages + counter.tools(request.tools)
        route = self.next_route(history.model)
        return room_for(route.facts, self._fixed[1], request.max_output_tokens, route.name)

    async def ask(
        self,
        history: History,
        room: Room,
        build: Callable[[tuple[Message, ...]], ModelRequest],
        on_delta: Callable[[Delta], None],
        emit: Emit,
    ) -> Exchange:
        """Make it fit and ask; once more when the provider finds it too large after all.

        Raises `LLMError`.
        """
        await self.before_call(history, room, emit)
        try:
            exchange = await self.client.complete(build(history.messages), on_delta)
        except ContextOverflowError as error:
            if not await self.make_smaller(history, room, error, emit):
                raise
            exchange = await self.client.complete(build(history.messages), on_delta)
        estimated = self._tokens(history) + room.fixed
        self.corrections.learn(exchange.route or room.route, estimated, exchange.reply.usage)
        return exchange

    async def before_call(self, history: History, room: Room, emit: Emit) -> None:
        """Make the history fit into a request. Raises `ContextOverflowError` when it cannot.

        Then the history is as it was, and no request has been sent. Where the window is only
        guessed, nothing is raised: the server will say.
        """
        room = self._as_known(room)
        budget = room.budget(self.settings.compact_before)
        over = self._tokens(history) > budget.trigger
        running = self._tasks.get(id(history))
        if over and running is not None:  # it has done half of what is needed here
            await asyncio.wait({running})
        fresh = running is None and history.id not in self._just_failed
        self._just_failed.discard(history.id)
        if over and self._tokens(history) > budget.trigger:
            self._tell_of_a_guess(room)
            try:
                await self._fit(history, room, budget, emit, may_summarise=fresh)
            except ContextOverflowError:
                if room.is_sure:
                    raise

    def after_reply(self, history: History, room: Room, emit: Emit) -> None:
        """Begin to summarise in the background, if that pays; return at once."""
        trigger = self.settings.compact_after
        if trigger is None or id(history) in self._tasks:
            return
        room = self._as_known(room)
        budget = room.budget(trigger)
        given_up = self._given_up.get(history.id) == history.revision
        if self._tokens(history) > budget.trigger and not given_up:
            task = asyncio.create_task(self._in_background(history, room, budget, emit))
            self._tasks[id(history)] = task
            task.add_done_callback(lambda _: self._tasks.pop(id(history), None))

    async def make_smaller(self, history: History, room: Room, error: LLMError, emit: Emit) -> bool:
        """After a refusal because of size: whether the history is smaller now, and may be sent.

        The provider's numbers count for more than ours, now and in later calls on this route.
        Raises `ContextOverflowError` when a window that we know of cannot hold the least of it.
        """
        before, told = self._tokens(history), read_overflow(error.provider_text)
        if isinstance(error, NeedsSmaller):
            answer = min(room.answer, error.window // 2)
            room = replace(room, window=error.window, answer=answer, route=error.route)
        # numbers of the server are compared as they are; without them, our own have to do
        room = refused(room if told.input_asked else self._as_known(room), before, told)
        budget = room.budget(self.settings.compact_before)
        try:
            await self._fit(history, room, budget, emit, may_summarise=True)
        except ContextOverflowError:
            if isinstance(error, NeedsSmaller):
                raise
            return False  # the provider's own words say more
        self._windows[room.route] = room.window
        return self._tokens(history) < before

    async def close(self) -> None:
        """Wait for the summaries in the background; each of them has its limit of seconds."""
        while tasks := set(self._tasks.values()):
            await asyncio.wait(tasks)

    # ---- carrying out ----------------------------------------------------------------------

    async def _fit(
        self, history: History, room: Room, budget: Budget, emit: Emit, *, may_summarise: bool
    ) -> None:
        before, usage, summarised = self._tokens(history), Usage(), False
        smallest = least(_numbered(history), self._counter(history).message)
        if smallest > budget.limit:
            raise too_large(smallest, room)
        await self._carry_out(plan_giants, history, budget)
        if may_summarise and self._tokens(history) > budget.trigger:
            summarised, usage = await self._summarise(history, room, budget)
        if self._tokens(history) > budget.trigger:
            await self._carry_out(plan_truncation, history, budget)
        after = self._tokens(history)
        if after > budget.limit:
            raise too_large(after, room)
        if after < before:
            fixed = room.fixed
            emit(ContextCompacted(before + fixed, after + fixed, summarised, usage))

    async def _carry_out(self, planner: Planner, history: History, budget: Budget) -> None:
        """Plan and replace; again, when somebody else has replaced in between."""
        size = self._counter(history).message
        while (plan := planner(_numbered(history), budget, size)) is not None:
            if await history.replace(plan.through, plan.by, revision=plan.revision):
                return

    async def _in_background(
        self, history: History, room: Room, budget: Budget, emit: Emit
    ) -> None:
        before, revision = self._tokens(history) + room.fixed, history.revision
        try:
            done, usage = await self._summarise(history, room, budget)
        except Exception:
            logger.exception("a summary in the background failed in session %s", history.id)
            done, usage = False, Usage()
        if not done:
            self._given_up[history.id] = revision
            self._just_failed.add(history.id)
            return
        after = self._tokens(history) + room.fixed
        emit(ContextCompacted(before, after, summarised=True, usage=usage))

    async def _summarise(self, history: History, room: Room, budget: Budget) -> tuple[bool, Usage]:
        """Ask for one summary and put it in; whether that was done, and what it cost."""
        most, size = self.settings.summary_tokens, self._counter(history).message
        plan = plan_summary(_numbered(history), budget, size, most)
        request = None if plan is None else self._request(plan, room, size)
        if plan is None or request is None:
            return False, Usage()
        try:
            async with asyncio.timeout(self.settings.summary_seconds):
                reply = (await self.client.complete(request, _ignore)).reply
        except (FreyaError, TimeoutError) as problem:
            logger.warning("no summary in session %s: %r", history.id, problem)
            return False, Usage()
        summary = summary_message(reply.message.text)
        if fault := _fault(reply, size(summary), plan):
            logger.warning("a summary in session %s was not used: %s", history.id, fault)
            return False, reply.usage
        done = await history.replace(plan.through, plan.by(summary), revision=plan.revision)
        return done, reply.usage

    def _request(self, plan: SummaryPlan, room: Room, size: Size) -> ModelRequest | None:
        """The request for a summary, whose input always fits; None when nothing is left of it."""
        answer = plan.max_tokens + self.settings.summary_reasoning_tokens
        answer = min(answer, room.window // 2)
        guidance = system(self.guidance)
        limit = int((room.window - answer) * self.settings.compact_before)
        limit -= size(guidance)
        text = material(plan.material, limit, size)
        return None if text is None else ModelRequest((guidance, text), max_output_tokens=answer)

    def _tell_of_a_guess(self, room: Room) -> None:
        """Say once that a conversation is made smaller for a window that is only guessed."""
        if not room.is_sure and room.route not in self._told:
            self._told.add(room.route)
            logger.warning(
                "nothing is known of %s, so its window is taken to be small and this conversation "
                "is made smaller. Say how large it is with Settings(models=…) or FREYA_MODELS",
                room.route or "this model",
            )

    def _tokens(self, history: History) -> int:
        return self._counter(history).messages(history.messages)

    def _counter(self, history: History) -> MessageCounter:
        """The estimator of this conversation, which knows the messages that it has counted."""
        counter = self._counters.get(history)
        if counter is None:
            counter = self._counters[history] = self.new_counter()
        return counter

    def _as_known(self, room: Room) -> Room:
        """The room in tokens of our estimate, with a window that was learned from a refusal."""
        correction = self.corrections.known.get(room.route)
        room = room.in_units_of(correction.factor if correction else self.margin)
        learned = self._windows.get(room.route, room.window)
        return replace(room, window=learned) if learned < room.window else room


def _numbered(history: History) -> Numbered:
    return Numbered(history.messages, history.first, history.revision)


def _fault(reply: Reply, tokens: int, plan: SummaryPlan) -> str:
    """Why a summary of so many tokens cannot be used, or nothing."""
    if reply.finish_reason != "stop":
        return f"it ended with {reply.raw_finish_reason!r}"
    if not reply.message.text.strip():
        return "it is empty"
    if tokens > plan.max_tokens:
        return f"it has {tokens:,} tokens; {plan.max_tokens:,} were allowed"
    return ""


def _ignore(_: Delta) -> None:
    """Nobody watches a summary being written."""
