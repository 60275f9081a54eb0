"""One run in which a person is the model: the harness asks, and waits for a move. (chapter 2.2)

    the agent's task ──▶ HTTP ──▶ gateway ──▶ policy(question) … waits …
    a button, or play() ──▶ send() ──▶ the policy returns the move

Nothing here blocks: the agent runs as a task beside the notebook, and waits for a future.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

import httpx

from freya_teach.errors import FreyaError
from freya_teach.lab.gateway.question import Move, Question
from freya_teach.lab.views.form import Form
from freya_teach.llm.messages import Json
from freya_teach.llm.wirejson import as_dict
from freya_teach.trace import RunResult

Phase = Literal["not started", "your move", "harness at work", "over", "failed", "left"]
Run = Callable[["Sitting"], Awaitable[RunResult]]
"""Runs the agent with `sitting.policy` as its model."""


@dataclass(eq=False, slots=True)
class Sitting:
    """What has been asked and answered so far. `changed` is called whenever that changes."""

    run: Run
    changed: Callable[[], None]
    asked: list[Question] = field(default_factory=list)
    packets: list[dict[str, Json]] = field(default_factory=list)
    """The bodies that were really sent, one for each question."""
    moves: list[Move] = field(default_factory=list)
    form: Form = field(default_factory=Form)
    result: RunResult | None = None
    problem: str = ""
    phase: Phase = "not started"
    _reply: asyncio.Future[Move] | None = None
    task: asyncio.Task[None] | None = None
    _settled: asyncio.Event = field(default_factory=asyncio.Event)

    def start(self) -> None:
        """Let the agent run, once. Raises `RuntimeError` where no event loop is running."""
        if self.phase == "not started":
            loop = asyncio.get_running_loop()
            self.phase = "harness at work"
            self.task = loop.create_task(self._sit())

    async def policy(self, question: Question) -> Move:
        """Ask the person, and wait."""
        self.asked.append(question)
        self.form = Form(question.tools)
        self._reply = asyncio.get_running_loop().create_future()
        self._settle("your move")
        return await self._reply

    async def watch(self, request: httpx.Request) -> None:
        """Keep the body of a request that is on its way (an event hook of httpx)."""
        self.packets.append(as_dict(json.loads(request.content)))

    def send(self) -> None:
        """Send the move in the form, if it is the person's turn and no field is bad."""
        move = self.form.move() if self.phase == "your move" else None
        if move is not None and self._reply is not None and not self._reply.done():
            self.moves.append(move)
            self.phase = "harness at work"
            self._settled.clear()
            self._reply.set_result(move)
        self.changed()

    def add(self) -> None:
        """Put the call in the form among those that go out together."""
        self.form.add()
        self.changed()

    async def settled(self) -> None:
        """Wait until it is the person's turn, or the run has ended."""
        await self._settled.wait()

    def leave(self) -> None:
        """Get up: the run is cancelled, if it has not ended."""
        if self.phase in ("over", "failed", "left"):
            return
        if self.task is not None:
            self.task.cancel()
        self._settle("left")

    async def _sit(self) -> None:
        try:
            self.result = await self.run(self)
        except Exception as problem:  # noqa: BLE001 - a learner reads words, and no trace
            self.problem = _in_words(problem)
            self._settle("failed")
        else:
            self._settle("over")

    def _settle(self, phase: Phase) -> None:
        self.phase = phase
        self._settled.set()
        self.changed()


def _in_words(problem: Exception) -> str:
    if isinstance(problem, FreyaError):
        return str(problem)
    return f"{type(problem).__name__}: {problem}"
