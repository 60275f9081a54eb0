"""One tool call, run to an observation, whatever the model wrote and the tool does. (chapter 4.3)

    call → find the tool → parse the arguments → validate → run with a time limit → observation

`run` raises nothing but cancellation: a tool that does not exist, raises, exits or never
returns gives an observation with `is_error`. A tool whose time is over, or whose run is cancelled,
learns it from `ToolContext.cancel`; an async one is cancelled as well.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.errors import ToolError
from freya_teach.llm.messages import ToolCall
from freya_teach.tools import observation
from freya_teach.tools.arguments import NotAnObject, NotJson, read_arguments
from freya_teach.tools.context import CancelToken
from freya_teach.tools.invoke import invoke
from freya_teach.tools.observation import Observation
from freya_teach.tools.registry import LIST_TOOLBOXES
from freya_teach.tools.tool import Active, Tool, ToolContext

if TYPE_CHECKING:
    from freya_teach.tools.workspace import Workspace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of a call: the observation, whether it tells of a failure, and the seconds."""

    text: str
    is_error: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call whose arguments have been looked at. Without a tool, `problem` says why not."""

    call: ToolCall
    tool: Tool | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    """What had to be understood of the arguments; it stands at the end of the observation."""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ToolRunner:
    """Runs calls against the tools that are active."""

    settings: Settings
    ambient: Ambient
    known: Container[str] = ()
    """The names of all tools that there are, also those that are not active."""
    workspace: Workspace | None = None

    async def run(
        self,
        call: ToolCall,
        tools: Mapping[str, Tool],
        session_id: str = "",
        active: Active | None = None,
    ) -> ToolResult:
        """Run one call. Never raises, except when it is cancelled itself."""
        return await self.run_prepared(self.prepare(call, tools), session_id, active)

    def prepare(self, call: ToolCall, tools: Mapping[str, Tool]) -> Prepared:
        """Find the tool and check the arguments, and do nothing yet. Never raises."""
        tool = tools.get(call.name)
        if tool is None:
            return Prepared(call, problem=self._no_tool(call.name, tools))
        try:
            return Prepared(call, tool, *read_arguments(tool, call.arguments))
        except Exception as problem:  # noqa: BLE001 - a tool's own validator may raise anything
            return Prepared(call, problem=_why_not(tool, problem))

    def _no_tool(self, name: str, tools: Mapping[str, Tool]) -> str:
        """There is none of this name, or the session has it not on."""
        if name not in self.known:
            return observation.no_such_tool(name, tools)
        look = f" To see what can be switched on, call {LIST_TOOLBOXES}."
        return observation.not_available(name, tools) + (look if LIST_TOOLBOXES in tools else "")

    async def run_prepared(
        self,
        prepared: Prepared,
        session_id: str = "",
        active: Active | None = None,
        cancel: CancelToken | None = None,
    ) -> ToolResult:
        """Run a call that was prepared. Never raises, except when it is cancelled itself.

        A tool that has not begun when `cancel` is set does not begin any more.
        """
        started = self.ambient.monotonic()
        if prepared.tool is None:
            found = self._problem(prepared.problem)
        else:
            call_id = prepared.call.id
            context = ToolContext(
                call_id,
                session_id,
                active,
                self.workspace,
                self.ambient,
                cancel or CancelToken(),
            )
            found = await self._run_in_time(prepared.tool, prepared.arguments, context)
        note = observation.fit(prepared.note, self.settings.max_observation_chars)
        seconds = self.ambient.monotonic() - started
        return ToolResult(found.text + note, found.is_error, seconds)

    async def _run_in_time(
        self, tool: Tool, arguments: dict[str, Any], context: ToolContext
    ) -> Observation:
        if tool.context_parameter:
            arguments = {**arguments, tool.context_parameter: context}
        seconds = tool.seconds or self.settings.tool_seconds
        work = asyncio.create_task(_begin(tool, arguments, context.cancel))
        try:
            await _end_of(work, seconds)
        finally:
            # subtle: not `await work`, which would wait for a tool that ignores its cancellation
            if is_given_up := not work.done():
                context.cancel.cancel()
                work.cancel()
        if is_given_up:
            return self._problem(observation.too_slow(tool.name, seconds))
        return self._outcome(tool.name, work)

    def _outcome(self, name: str, work: asyncio.Future[Any]) -> Observation:
        """What the finished work has returned, or why it has not."""
        try:
            value = work.result()
        except KeyboardInterrupt:  # somebody wants the program to end
            raise
        except BaseException as problem:  # a cancellation too: it is the tool's own
            if not isinstance(problem, ToolError):
                logger.info("tool %s failed", name, exc_info=problem)
            root = self.settings.workspace_dir
            return self._problem(observation.failed(name, problem, root))
        limit = self.settings.max_observation_chars
        save_over = min(self.settings.save_over_chars, limit)
        return observation.result(name, value, limit, save_over, self.workspace)

    def _problem(self, text: str) -> Observation:
        limit = self.settings.max_observation_chars
        return Observation(observation.fit(text, limit), is_error=True)


async def _end_of(work: asyncio.Task[Any], seconds: float) -> None:
    """Return when the work has ended or its time is over; it goes on in the second case.

    For speed: `asyncio.wait`, which waits for any number of tasks, takes 17 µs for a call, this 13.
    """
    loop = asyncio.get_running_loop()
    ended = loop.create_future()

    def end(work: asyncio.Task[Any] | None = None) -> None:
        # asyncio complains of a failure that nobody has seen, and a tool may fail in the same
        # moment in which its run is cancelled
        if work is not None and not work.cancelled():
            work.exception()
        if not ended.done():
            ended.set_result(None)

    work.add_done_callback(end)
    clock = loop.call_later(seconds, end)
    try:
        await ended
    finally:
        clock.cancel()


async def _begin(tool: Tool, arguments: dict[str, Any], cancel: CancelToken) -> Any:
    """Call the tool, unless it was given up in the moment between being ready and beginning."""
    if cancel.cancelled:
        raise asyncio.CancelledError
    return await invoke(tool, arguments)


def _why_not(tool: Tool, problem: Exception) -> str:
    """What the model reads when its arguments cannot be used."""
    match problem:
        case NotJson():
            return observation.not_json(tool.name, problem.why, tool.parameters)
        case NotAnObject():
            return observation.not_an_object(tool.name, problem.value, tool.parameters)
        case ValidationError():
            return observation.invalid_arguments(tool.name, problem, tool.parameters)
        case _:
            logger.info("checking the arguments of %s failed", tool.name, exc_info=problem)
            return observation.failed(tool.name, problem)
