"""A model that writes summaries, or fails to, in every way in which models fail."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from freya_teach.llm.messages import assistant
from freya_teach.llm.protocol import (
    Delta,
    Exchange,
    FinishReason,
    ModelRequest,
    Reply,
    Usage,
    WireRequest,
)

SUMMARY = "Ada looks for her key. It is not in the kitchen."


@dataclass(frozen=True)
class Written:
    """A summary as it comes back, and why it ended."""

    text: str = SUMMARY
    finish: FinishReason = "stop"


Act = Written | Exception | Callable[[], Written | Awaitable[Written]]


@dataclass
class Writer:
    """Does one act per request, the last of them again and again, and keeps the requests."""

    acts: list[Act] = field(default_factory=lambda: [Written()])
    requests: list[ModelRequest] = field(default_factory=list)

    async def complete(self, request: ModelRequest, on_delta: Callable[[Delta], None]) -> Exchange:
        """Answer with the next act; nobody watches it being written."""
        del on_delta
        self.requests.append(request)
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        if isinstance(act, Exception):
            raise act
        if not isinstance(act, Written):
            done = act()
            act = await done if inspect.isawaitable(done) else done
        reply = Reply(assistant(act.text), act.finish, act.finish, Usage(70, 30, 100))
        return Exchange(WireRequest("", {}, b""), 200, b"", reply, 0.0)


async def never() -> Written:
    """Wait for ever."""
    await asyncio.Event().wait()
    return Written()
