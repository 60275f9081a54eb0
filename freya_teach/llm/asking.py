"""One request on its way from route to route: what was tried, and what came of it. (chapter 5.3)

It remembers whether a person has seen a word of an answer, for how long was waited, and which
failure is worth telling when nobody has answered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from freya_teach.errors import (
    AllRoutesFailed,
    Attempt,
    ContextOverflowError,
    LLMError,
    NeedsSmaller,
)
from freya_teach.llm.protocol import Delta, ModelRequest, ReasoningDelta, Route, TextDelta


@dataclass(slots=True)
class Asking:
    """One request on its way: what was tried for it, and whether any of it has been shown."""

    request: ModelRequest
    on_delta: Callable[[Delta], None]
    attempts: list[Attempt] = field(default_factory=list)
    routes_tried: int = 0
    has_shown: bool = False
    waiting: float = 0.0
    """Seconds that were waited before the next attempt."""
    waited: float = 0.0
    """Seconds that were waited in all."""
    failure: LLMError | None = None
    """The last failure of a route that was asked."""
    overflow: ContextOverflowError | None = None
    """A server has said that the request is too large for it."""
    too_small: NeedsSmaller | None = None
    """The largest window that is known to be too small."""

    def show(self, delta: Delta) -> None:
        """Pass a delta on, and remember if a person may have seen something of it."""
        if not self.has_shown and isinstance(delta, TextDelta | ReasoningDelta) and delta.text:
            self.has_shown = True
        self.on_delta(delta)

    def note(self, route: Route, error: str, status: int | None, seconds: float, said: str) -> None:
        """Keep what came of an attempt."""
        attempt = Attempt(route.name, error, status, seconds, self.waiting, said)
        self.attempts.append(attempt)
        self.waiting = 0.0

    def outcome(self) -> LLMError:
        """What to raise when all routes are done with. What can be cured comes first: the size."""
        problem = self.overflow or self.too_small or self.failure
        assert problem is not None
        if problem is self.failure and self.routes_tried > 1:
            problem = AllRoutesFailed(
                "no route has answered:\n  " + "\n  ".join(map(str, self.attempts)),
                provider=problem.provider,
                status=problem.status,
                provider_text=problem.provider_text,
                retry_after=problem.retry_after,
            )
            problem.__cause__ = self.failure
        problem.attempts = tuple(self.attempts)
        return problem
