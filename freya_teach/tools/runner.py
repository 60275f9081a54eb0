"""One tool call, run to an observation, whatever the model wrote and the tool does. (chapter 4.3)

    call → find the tool → parse the arguments → validate → run with a time limit → observation

`run` raises nothing but cancellation: a tool that does not exist, raises, exits or never
returns gives an observation with `is_error`. A sync tool runs in a daemon thread, so that one
that hangs cannot keep the program from ending; an async tool is cancelled. A sync tool's thread
cannot be stopped from outside: it goes on alone, and what it returns is thrown away.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import logging
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.errors import ToolError
from freya_teach.llm.messages import ToolCall
from freya_teach.tools import observation
from freya_teach.tools.tool import Tool, ToolContext

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of a call: the observation, whether it tells of a failure, and the seconds."""

    text: str
    is_error: bool
    seconds: float


class _NotRun(Exception):
    """The call was refused before the tool ran; the text is the observation."""


@dataclass(frozen=True, slots=True)
class ToolRunner:
    """Runs calls against the tools that are active."""

    settings: Settings
    ambient: Ambient

    async def run(
        self, call: ToolCall, active: Mapping[str, Tool], session_id: str = ""
    ) -> ToolResult:
        """Run one call. Never raises, except when it is cancelled itself."""
        started = self.ambient.monotonic()
        try:
            tool = _find(call, active)
            arguments = _validated(tool, call)
            if tool.context_parameter:
                arguments[tool.context_parameter] = ToolContext(call.id, session_id)
            text, is_error = await self._run_in_time(tool, arguments)
        except _NotRun as refusal:
            text, is_error = str(refusal), True
        text = observation.shorten(text, self.settings.max_observation_chars)
        return ToolResult(text, is_error, self.ambient.monotonic() - started)

    async def _run_in_time(self, tool: Tool, arguments: dict[str, Any]) -> tuple[str, bool]:
        seconds = tool.seconds or self.settings.tool_seconds
        work = asyncio.ensure_future(_started(tool, arguments))
        try:
            done, _ = await asyncio.wait({work}, timeout=seconds)
        finally:
            # subtle: not `await work`, which would wait for a tool that ignores its cancellation
            if not work.done():
                work.add_done_callback(_look_away)
                work.cancel()
        if not done:
            return observation.too_slow(tool.name, seconds), True
        return _outcome(tool, work)


def _find(call: ToolCall, active: Mapping[str, Tool]) -> Tool:
    if call.name not in active:
        raise _NotRun(observation.no_such_tool(call.name, active))
    return active[call.name]


def _validated(tool: Tool, call: ToolCall) -> dict[str, Any]:
    """The arguments in the tool's types. An empty text means that there are none."""
    try:
        raw = json.loads(call.arguments.strip() or "{}")
    except (ValueError, RecursionError) as problem:
        raise _NotRun(observation.not_json(tool.name, problem)) from None
    if not isinstance(raw, dict):
        raise _NotRun(observation.not_an_object(tool.name, raw))
    try:
        return tool.validate(raw)
    except ValidationError as problem:
        raise _NotRun(observation.invalid_arguments(tool.name, problem)) from None
    except Exception as problem:
        logger.info("checking the arguments of %s failed", tool.name, exc_info=problem)
        raise _NotRun(observation.failed(tool.name, problem)) from None


async def _started(tool: Tool, arguments: dict[str, Any]) -> Any:
    """Call an async function here and a sync one in a thread; await what either returns."""
    if inspect.iscoroutinefunction(tool.function):
        return await _guarded(tool.function(**arguments))
    value = await _in_daemon_thread(lambda: tool.function(**arguments))
    return await _guarded(value) if inspect.isawaitable(value) else value


async def _guarded(awaitable: Any) -> Any:
    """A tool that exits the program has merely failed: asyncio would let the exit through."""
    try:
        return await awaitable
    except SystemExit as problem:
        raise _no_result(problem) from problem


def _no_result(problem: BaseException) -> ToolError:
    return ToolError(f"The tool raised {type(problem).__name__} instead of returning a result.")


def _in_daemon_thread(work: Callable[[], Any]) -> asyncio.Future[Any]:
    """Asyncio's own thread pool is joined when Python exits, and one hanging tool would hang it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(value: Any, problem: BaseException | None) -> None:
        if future.done():
            return
        if problem is not None:
            future.set_exception(problem)
        else:
            future.set_result(value)

    def body() -> None:
        value: Any = None
        problem: BaseException | None = None
        try:
            value = context.run(work)
        except BaseException as raised:  # noqa: BLE001 - SystemExit and its like end the tool only
            # subtle: a future cannot hold a StopIteration
            fits = isinstance(raised, Exception) and not isinstance(raised, StopIteration)
            problem = raised if fits else _no_result(raised)
        try:
            loop.call_soon_threadsafe(deliver, value, problem)
        except RuntimeError:  # the loop is closed: nobody is waiting any more
            logger.info("a tool returned after its run had ended")

    if sys.platform == "emscripten":
        # subtle: a web page has no threads, so the tool holds up the loop and no time limit ends it
        loop.call_soon(body)
    else:
        threading.Thread(target=body, name="freya-tool", daemon=True).start()
    return future


def _outcome(tool: Tool, work: asyncio.Future[Any]) -> tuple[str, bool]:
    """The finished work as an observation, and whether it failed."""
    try:
        value = work.result()
    except KeyboardInterrupt:  # somebody wants the program to end
        raise
    except BaseException as problem:  # a cancellation too: it is the tool's own
        if not isinstance(problem, ToolError):
            logger.info("tool %s failed", tool.name, exc_info=problem)
        return observation.failed(tool.name, problem), True
    try:
        return observation.as_observation(value), False
    except ToolError as problem:
        return str(problem), True
    except Exception as problem:
        logger.info("the result of tool %s is no JSON", tool.name, exc_info=problem)
        kind = type(value).__name__
        return f"{tool.name} returned something that JSON cannot hold (a {kind}).", True


def _look_away(work: asyncio.Future[Any]) -> None:
    """Take the result of a tool that was given up, so that asyncio does not complain about it."""
    if not work.cancelled():
        work.exception()
