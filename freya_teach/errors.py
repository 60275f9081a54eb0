"""Every exception the kernel raises, and who each one is written for. (chapter 2.3)

    FreyaError
    ├── ConfigError            operator: a setting is missing or makes no sense
    ├── PromptError            operator: a prompt's file or a template's placeholder is wrong
    ├── SessionBusy            developer: this history has a run in progress already
    ├── SessionError           operator: a stored session cannot be read or written
    │   ├── NoSuchSession         no session has this id, or it was deleted
    │   ├── SessionInUse          another process has the folder of sessions open
    │   ├── SessionDamaged        a journal's line is not what was written; names file and line
    │   ├── SessionReadOnly       the disk has failed a write; the session waits to be opened again
    │   ├── WriteFailed           this write is not stored (a full disk?); the next one may be
    │   └── NestedWrite           developer: a write inside a write on the same session
    ├── TranscriptError        developer: a call without its result, or a result without its call
    ├── UnsupportedContent     developer: a message part that this provider cannot carry
    ├── ToolError              MODEL: what went wrong in a tool and what to do next
    └── LLMError               operator: the other end of the wire
        ├── AllRoutesFailed    more than one route was asked, and none has answered
        ├── ConnectionFailed   nothing came back: DNS, refused, reset, time-out
        ├── BadResponse        something came back that is not the provider's protocol
        │   └── ResponseCut    the answer ended in the middle; its tool calls are not run
        └── ProviderError      the provider itself said no
            ├── AuthError             401, 403, or Gemini's 400 for a bad key
            ├── ModelNotFound         404
            ├── RateLimited           429 that passes with time
            ├── QuotaExhausted        429 that does not
            ├── ContextOverflowError  the request is larger than the model's window
            │   └── NeedsSmaller      no window is large enough, seen before anything was sent
            ├── RequestRefused        any other 4xx: our request is wrong
            └── ServerFailed          5xx, 408, 409, or an error inside a 200

A tool's own exceptions never appear here: the runner turns them into observations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


class FreyaError(Exception):
    """The root: catch this to catch everything the kernel raises on purpose."""

    kind: ClassVar[str] = "error"
    """A short name of the kind of error, for logs and other programs."""


class ConfigError(FreyaError):
    """A setting is missing or makes no sense; the message says which and where to set it."""

    kind = "config"


class PromptError(FreyaError):
    """A prompt cannot be read or filled in; the message names the files and what to change."""

    kind = "prompt"


class SessionBusy(FreyaError):
    """A second run was started on a history whose first run has not ended."""

    kind = "session_busy"


class SessionError(FreyaError):
    """A stored session, or the folder of all of them, cannot be used as it was asked."""

    kind = "session"


class NoSuchSession(SessionError):
    """No session has this id, or it has been deleted or closed."""

    kind = "no_such_session"


class SessionInUse(SessionError):
    """Another process has this folder of sessions open; the message says which."""

    kind = "session_in_use"


class SessionDamaged(SessionError):
    """A line of a journal is not what was written. `file` and `line` (from 1) say where."""

    kind = "session_damaged"

    def __init__(self, message: str, *, file: str, line: int) -> None:
        super().__init__(message)
        self.file = file
        self.line = line


class SessionReadOnly(SessionError):
    """The disk did not confirm a write, so nothing is added until the session is opened again."""

    kind = "session_read_only"


class WriteFailed(SessionError):
    """This write is not stored, and nothing of it is left behind; the next one may succeed."""

    kind = "write_failed"


class NestedWrite(SessionError):
    """A write was started inside a write on the same session, and would wait for itself."""

    kind = "nested_write"


class TranscriptError(FreyaError):
    """The history breaks the rule that every tool call has exactly one result."""

    kind = "transcript"


class UnsupportedContent(FreyaError):
    """A message part that this provider's wire has no place for; the message names its type."""

    kind = "unsupported_content"


class ToolError(FreyaError):
    """Raise this in a tool: the text is read by the model, so say what to do next.

    >>> raise ToolError("No city 'Bejing'. Use the English name, for example 'Beijing'.")
    Traceback (most recent call last):
    freya_teach.errors.ToolError: No city 'Bejing'. Use the English name, for example 'Beijing'.
    """

    kind = "tool"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One time that a route was asked, and what came of it."""

    route: str
    """`provider/model`."""
    error: str
    """The `kind` of what went wrong; empty for the attempt that was answered."""
    status: int | None
    """The HTTP status; None when there was no answer."""
    seconds: float
    """How long the attempt took."""
    waited: float = 0.0
    """Seconds that were waited before it."""
    said: str = ""
    """The message of what went wrong, without keys."""

    def __str__(self) -> str:
        waited = f" after a wait of {self.waited:.1f} s" if self.waited else ""
        said = f": {self.said}" if self.said else ""
        return f"{self.route}{waited}: {self.error or 'answered'}{said}"


class LLMError(FreyaError):
    """Something between us and the model failed.

    `provider` is the adapter's name, `status` the HTTP status (None when there was no answer),
    `provider_text` the other end's own words, `retry_after` seconds to wait if it named a number,
    `attempts` everything that was tried before this was raised.
    """

    kind = "llm"

    def __init__(
        self,
        message: str,
        *,
        provider: str = "",
        status: int | None = None,
        provider_text: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.status = status
        self.provider_text = provider_text
        self.retry_after = retry_after
        self.attempts: tuple[Attempt, ...] = ()


class AllRoutesFailed(LLMError):
    """More than one route was asked and none has answered; `attempts` tells of each, in order."""

    kind = "all_routes"


class ConnectionFailed(LLMError):
    """No answer came back: name not found, connection refused or reset, time-out."""

    kind = "connection"


class BadResponse(LLMError):
    """An answer came back that is not the provider's protocol, for example an HTML page."""

    kind = "bad_response"


class ResponseCut(BadResponse):
    """The answer ended before it was finished. What it had asked for is not carried out."""

    kind = "response_cut"


class ProviderError(LLMError):
    """The provider answered with an error of its own; `provider_text` is what it said."""

    kind = "provider"


class AuthError(ProviderError):
    """The key is missing, wrong, or not allowed to do this."""

    kind = "auth"


class ModelNotFound(ProviderError):
    """The provider does not know this model, or not on this endpoint."""

    kind = "model_not_found"


class RateLimited(ProviderError):
    """Too many requests for the moment; waiting `retry_after` seconds helps."""

    kind = "rate_limited"


class QuotaExhausted(ProviderError):
    """The account has no quota or money left; waiting does not help."""

    kind = "quota_exhausted"


class ContextOverflowError(ProviderError):
    """The request is larger than the model's window. Sending it again cannot help.

    `route` is the route it was meant for, `window` its window in tokens as far as it is known (0
    when it is not), `tokens` our own count of the request.
    """

    kind = "context_overflow"
    route = ""
    window = 0
    tokens = 0


class NeedsSmaller(ContextOverflowError):
    """The request fits into no route's window: nothing was sent. The fields are of the largest."""

    kind = "needs_smaller"


class RequestRefused(ProviderError):
    """The provider found a fault in our request: a bug on this side."""

    kind = "bad_request"


class ServerFailed(ProviderError):
    """The provider failed or is overloaded; the same request may pass later."""

    kind = "server"
