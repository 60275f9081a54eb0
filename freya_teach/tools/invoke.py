"""How a tool's function is called: an async one here, a sync one in a thread. (chapter 4.3)

The thread is a daemon, so that a tool that hangs cannot keep the program from ending. It cannot
be stopped from outside: when it has been given up it goes on alone, and its result is dropped.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import sys
import threading
from collections.abc import Callable
from typing import Any

from freya_teach.errors import ToolError
from freya_teach.tools.tool import Tool

logger = logging.getLogger(__name__)


async def invoke(tool: Tool, arguments: dict[str, Any]) -> Any:
    """Call an async function here and a sync one in a thread; await what either returns."""
    if inspect.iscoroutinefunction(tool.function):
        return await _guarded(tool.function(**arguments))
    value = await in_daemon_thread(lambda: tool.function(**arguments))
    return await _guarded(value) if inspect.isawaitable(value) else value


async def _guarded(awaitable: Any) -> Any:
    """A tool that exits the program has merely failed: asyncio would let the exit through."""
    try:
        return await awaitable
    except SystemExit as problem:
        raise _no_result(problem) from problem


def _no_result(problem: BaseException) -> ToolError:
    return ToolError(f"The tool raised {type(problem).__name__} instead of returning a result.")


def in_daemon_thread(work: Callable[[], Any]) -> asyncio.Future[Any]:
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
