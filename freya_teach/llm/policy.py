"""What is done about each failure: ask again, ask another route, or say so. (chapter 5.3)

The whole policy is one table, `POLICY`, read from the top: the first row that fits decides.
`print(table())` shows it. Two ends of an answer are no failures of a route and have no row: one
that a content filter stopped is shown as it is, because asking somebody else until one says yes is
no way out; one whose call its own server could not read is asked for once more.

Source: what both providers' own clients retry (openai 3.57, google-genai 3.6.1), and the public
reports of what happens where a client retries what cannot pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from freya_teach.errors import (
    AuthError,
    BadResponse,
    ConnectionFailed,
    ContextOverflowError,
    LLMError,
    ModelNotFound,
    QuotaExhausted,
    RateLimited,
    RequestRefused,
    ResponseCut,
    ServerFailed,
)
from freya_teach.llm.protocol import Reply

Failover = Literal["no", "yes", "larger window"]


@dataclass(frozen=True, slots=True)
class Policy:
    """One row: a kind of failure, and what is done about it."""

    name: str
    error: type[LLMError]
    retries: int
    """How often the same route is asked again."""
    failover: Failover
    """Whether another route is asked, once this one is given up."""
    cool_down: float
    """Seconds for which the route is asked only after all others; a longer hint counts instead."""
    why: str
    status: int | None = None
    """The row is for this HTTP status only."""
    tell: bool = False
    """Somebody has to put it right: it is logged as an error, even if another route answers."""

    def fits(self, problem: LLMError) -> bool:
        """Whether this row is about that failure."""
        return isinstance(problem, self.error) and self.status in (None, problem.status)


POLICY: tuple[Policy, ...] = (
    Policy(
        "too large per minute",
        ContextOverflowError,
        0,
        "yes",
        0,
        "one request is above the account's tokens per minute: no waiting helps",
        status=429,
    ),
    Policy(
        "context overflow",
        ContextOverflowError,
        0,
        "larger window",
        0,
        "the same request is too large the next time too; make it smaller",
    ),
    Policy("rate limit", RateLimited, 2, "yes", 30, "it passes: wait as long as the hint says"),
    Policy(
        "hard quota",
        QuotaExhausted,
        0,
        "yes",
        3600,
        "no waiting helps before the day or the month is over, or money is paid in",
        tell=True,
    ),
    Policy(
        "auth",
        AuthError,
        0,
        "yes",
        600,
        "a key does not become right by being sent again; somebody has to know",
        tell=True,
    ),
    Policy(
        "model gone",
        ModelNotFound,
        0,
        "yes",
        600,
        "the settings name a model that is not there; somebody has to know",
        tell=True,
    ),
    Policy("server", ServerFailed, 2, "yes", 30, "overloaded or broken; mostly for a moment"),
    Policy("transport", ConnectionFailed, 2, "yes", 30, "the network, or a server that restarts"),
    Policy("transport", ResponseCut, 2, "yes", 30, "the answer ended in the middle"),
    Policy(
        "no answer of this wire",
        BadResponse,
        0,
        "yes",
        30,
        "a page, or another protocol: this address is no such server, or something is before it",
    ),
    Policy(
        "bad request",
        RequestRefused,
        0,
        "no",
        0,
        "a fault of ours: another provider may take it, which would only hide it",
    ),
    Policy("anything else", LLMError, 0, "no", 0, "nobody has thought of it: it is told"),
)

MALFORMED_RETRIES = 1
"""How often a route is asked again whose model wrote a call that its own server cannot read."""
MALFORMED_REASONS = {"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE"}

BACKOFF_SECONDS = 0.5
MAX_BACKOFF_SECONDS = 8.0


def policy_for(problem: LLMError, table: Sequence[Policy] = POLICY) -> Policy:
    """The first row that fits; the last one fits everything."""
    return next(row for row in table if row.fits(problem))


def table(rows: Sequence[Policy] = POLICY) -> str:
    """The table as text, a row for each kind of failure."""
    lines = [f"{'failure':24}{'error':26}{'retries':>7}  {'failover':15}{'cool-down':>9}"]
    for row in rows:
        error = row.error.__name__ + (f" {row.status}" if row.status else "")
        seconds = f"{row.cool_down:g} s"
        lines.append(f"{row.name:24}{error:26}{row.retries:>7}  {row.failover:15}{seconds:>9}")
    return "\n".join(lines)


def is_malformed(reply: Reply) -> bool:
    """Whether the model's call was unreadable to its own server, which ended the answer."""
    return reply.finish_reason == "error" and reply.raw_finish_reason in MALFORMED_REASONS


def wait_before(retry: int, hint: float | None, chance: float) -> float:
    """Seconds to wait before retry number `retry`, from 1. `chance` is a number in [0, 1).

    A hint is never undercut: up to a tenth is added, so that many clients that were sent away
    together do not come back together. Without one the wait doubles, up to 8 s, less a quarter.

    >>> wait_before(1, None, 0.0), wait_before(3, None, 0.0), wait_before(1, 20.0, 0.5)
    (0.5, 2.0, 21.0)
    """
    if hint is not None and hint > 0:
        return hint * (1 + chance / 10)
    backoff = min(BACKOFF_SECONDS * 2.0 ** (retry - 1), MAX_BACKOFF_SECONDS)
    return backoff * (1 - chance / 4)
