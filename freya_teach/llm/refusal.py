"""A provider's error body to one of our exceptions. (chapter 5.3)

The class is decided by status, type and code. Words in a message decide only where a provider
gives nothing else (a window or a quota that is too small), and those words stand here: a
message may quote the user's text, and a user may write "quota" or "billing".

Bodies seen: `{"error": {…}}`, `{"error": "text"}`, `{"message": …, "code": …}`, `{"detail": …}`,
and each of them in an array of one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from freya_teach.errors import (
    AuthError,
    ContextOverflowError,
    ModelNotFound,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    RequestRefused,
    ServerFailed,
)
from freya_teach.llm.messages import Json
from freya_teach.llm.wirejson import as_dict, as_list, as_text, encode

KEY_CODES = {"API_KEY_INVALID", "FAILED_PRECONDITION"}
"""Gemini's two ways to say with a 400 that this key may not: it is wrong, or its region is."""
QUOTA_CODES = {
    "insufficient_quota",
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
}
OVERFLOW_CODES = {"context_length_exceeded", "exceed_context_size_error"}
OVERFLOW_WORDS = re.compile(
    r"maximum context length|input tokens exceed the configured limit"
    r"|exceeds the context window|exceeds the available context size"
    r"|prompt is too long|exceeds the maximum number of tokens allowed"
    r"|exceeded max context length",
    re.IGNORECASE,
)
NO_QUOTA_WORDS = re.compile(r"\blimit: 0(,|$)", re.MULTILINE)
"""Gemini's free tier for a model that has none: a 429 of the same codes as one that passes."""
SERVER_CODES = {"server_error", "server_is_overloaded", "service_unavailable_error"}
MODEL_CODES = {"model_not_found"}
RATE_CODES = {"rate_limit_exceeded", "rate_limit_error", "slow_down"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error body, whatever its shape, in the fields that matter."""

    status: int
    text: str
    codes: frozenset[str]
    """Everything the body offers as a symbol: code, type, status, reason, quota id."""
    retry_delay: str = ""


def raise_for_error(
    provider: str, status: int, body: Json, headers: Mapping[str, str] | None = None
) -> None:
    """Raise the `ProviderError` that this body means; return when it means none."""
    if status < 400 and not _is_error(as_dict(body)):
        return
    refusal = read_refusal(status, body)
    error = _class_of(refusal)
    where = f"HTTP {status}" if status >= 400 else "an error inside a 200"
    raise error(
        f"{provider} answered {where}: {refusal.text or 'no reason given'}",
        provider=provider,
        status=status,
        provider_text=refusal.text,
        retry_after=_retry_after(headers or {}, refusal.retry_delay),
    )


def read_refusal(status: int, body: Json) -> Refusal:
    """Find status, words and symbols in an error body of any of the known shapes."""
    if isinstance(body, list) and body:
        body = body[0]
    body = as_dict(body)
    error = body.get("error") or body
    if isinstance(error, str):
        return Refusal(status, error, frozenset())
    error = as_dict(error)
    text = as_text(error.get("message")) or as_text(error.get("detail"))
    if not text and error:
        text = encode(error).decode()
    details = [as_dict(detail) for detail in as_list(error.get("details"))]
    violations = [as_dict(v) for d in details for v in as_list(d.get("violations"))]
    symbols = [error.get(key) for key in ("code", "type", "status")]
    symbols += [detail.get("reason") for detail in details]
    symbols += [violation.get("quotaId") for violation in violations]
    delays = [as_text(detail.get("retryDelay")) for detail in details]
    for number in (error.get("status"), error.get("code")):  # inside a 200, the real status
        if status < 400 and isinstance(number, int) and 400 <= number < 600:
            status = number
    return Refusal(
        status,
        text,
        frozenset(symbol for symbol in symbols if isinstance(symbol, str)),
        next(filter(None, delays), ""),
    )


def _is_error(chunk: Mapping[str, Json]) -> bool:
    """Mistral and vLLM put the error's fields at the top, and "error" where its kind stands."""
    return bool(chunk.get("error")) or chunk.get("object") == "error"


def _class_of(refusal: Refusal) -> type[ProviderError]:
    return next((error for error, fits in RULES if fits(refusal)), RequestRefused)


def _says_overflow(refusal: Refusal) -> bool:
    """llama.cpp, older OpenAI models and Gemini tell it in words only.

    So does OpenAI of one request above the limit per minute: a 429 that no waiting cures.
    """
    if refusal.status == 429:
        return refusal.text.startswith("Request too large")
    if refusal.status not in (400, 413, 422) or "string_above_max_length" in refusal.codes:
        return False
    return bool(OVERFLOW_WORDS.search(refusal.text))


RULES: tuple[tuple[type[ProviderError], Callable[[Refusal], bool]], ...] = (
    (AuthError, lambda r: bool(r.codes & KEY_CODES)),
    (ContextOverflowError, lambda r: bool(r.codes & OVERFLOW_CODES) or _says_overflow(r)),
    (QuotaExhausted, lambda r: bool(r.codes & QUOTA_CODES)),
    (QuotaExhausted, lambda r: any("PerDay" in code for code in r.codes)),
    (QuotaExhausted, lambda r: r.status == 429 and bool(NO_QUOTA_WORDS.search(r.text))),
    (ModelNotFound, lambda r: bool(r.codes & MODEL_CODES)),
    (RateLimited, lambda r: r.status == 429 or bool(r.codes & RATE_CODES)),
    (AuthError, lambda r: r.status in (401, 403)),
    (ModelNotFound, lambda r: r.status == 404),
    (ServerFailed, lambda r: r.status >= 500 or r.status in (200, 408, 409)),
    (ServerFailed, lambda r: bool(r.codes & SERVER_CODES)),
)
"""The first rule that fits decides; what fits none is a fault in our request."""


def _retry_after(headers: Mapping[str, str], retry_delay: str) -> float | None:
    """Seconds to wait, from the header (ms, seconds or a date) or Gemini's RetryInfo."""
    hint = headers.get("retry-after-ms", "")
    if seconds := _number(hint):
        return seconds / 1000
    hint = headers.get("retry-after", "")
    if seconds := _number(hint):
        return seconds
    if hint:
        try:
            date = parsedate_to_datetime(hint)
        except (ValueError, OverflowError):
            return None
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(0.0, (date - datetime.now(UTC)).total_seconds())
    return _number(retry_delay.removesuffix("s"))


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,9}(\.\d+)?", text) else None
