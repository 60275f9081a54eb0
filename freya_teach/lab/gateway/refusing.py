"""The provider says no, in its own words: statuses, headers and bodies of both. (chapter 5.3)

Each function returns a `Trouble`. OpenAI's error has `message`, `type`, `param` and `code`;
Google's has `code` (the status again), `message`, `status` (a word) and sometimes `details`.

Source: the error pages and OpenAPI file of OpenAI; google/rpc/error_details.proto; texts as
users of both have reported them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import httpx

from freya_teach.lab.gateway.trouble import Answer, Arrived, Trouble, arrival
from freya_teach.lab.gateway.wire import Sent
from freya_teach.llm.messages import Json

Says = Callable[[Arrived], Sent]
GOOGLE = "type.googleapis.com/google.rpc."
OPENAI_QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. For more "
    "information on this error, read the docs: "
    "https://platform.openai.com/docs/guides/error-codes/api-errors."
)
GEMINI_QUOTA = "You exceeded your current quota, please check your plan and billing details."
PER_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"
PER_DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"


def rate_limited(retry_after: float | None = None, retry_after_ms: float | None = None) -> Trouble:
    """429 that passes. OpenAI hints in a header (seconds, milliseconds), Gemini in `RetryInfo`.

    Without a number there is no hint, and the client has to choose a delay of its own.
    """
    seconds = retry_after if retry_after_ms is None else retry_after_ms / 1000
    headers = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
    if retry_after_ms is not None:
        headers["retry-after-ms"] = f"{retry_after_ms:g}"
    again = "" if seconds is None else f" Please try again in {seconds:g}s."
    text = (
        "Rate limit reached for {model} in organization org-x on requests per min (RPM): "
        f"Limit 3, Used 3, Requested 1.{again} "
        "Visit https://platform.openai.com/account/rate-limits to learn more."
    )

    def says(arrived: Arrived) -> Sent:
        if arrived.wire == "gemini":
            return _gemini_quota(arrived.model, PER_MINUTE, seconds)
        message = text.format(model=arrived.model)
        return replace(_openai(429, message, "requests", "rate_limit_exceeded"), headers=headers)

    return _refusing("rate_limited", says)


def quota_exhausted() -> Trouble:
    """429 that does not pass: no money left (OpenAI), or the day's requests are used (Gemini)."""

    def says(arrived: Arrived) -> Sent:
        if arrived.wire == "gemini":
            return _gemini_quota(arrived.model, PER_DAY)
        return _openai(429, OPENAI_QUOTA, "insufficient_quota", "insufficient_quota")

    return _refusing("quota_exhausted", says)


def server_error() -> Trouble:
    """500: the provider failed."""

    def says(arrived: Arrived) -> Sent:
        return SERVER_ERROR[arrived.wire]

    return _refusing("server_error", says)


def overloaded() -> Trouble:
    """503: the provider has more to do than it can."""
    return _either(
        "overloaded",
        _openai(
            503,
            "Our servers are currently overloaded. Please try again later.",
            "service_unavailable_error",
            "server_is_overloaded",
        ),
        _gemini(503, "The model is overloaded. Please try again later.", "UNAVAILABLE"),
    )


def bad_key() -> Trouble:
    """The key is wrong: 401 at OpenAI, and a 400 with a reason in its details at Gemini."""
    info = {"reason": "API_KEY_INVALID", "domain": "googleapis.com"}
    return _either(
        "bad_key",
        _openai(
            401,
            "Incorrect API key provided: sk-ab***yz. You can find your API key at "
            "https://platform.openai.com/account/api-keys.",
            code="invalid_api_key",
        ),
        _gemini(
            400,
            "API key not valid. Please pass a valid API key.",
            "INVALID_ARGUMENT",
            {"@type": f"{GOOGLE}ErrorInfo", **info},
        ),
    )


def model_gone() -> Trouble:
    """404: there is no such model, or not for this key."""

    def says(arrived: Arrived) -> Sent:
        name = arrived.model
        if arrived.wire == "gemini":
            text = (
                f"models/{name} is not found for API version v1beta, or is not supported for "
                "generateContent. Call ListModels to see the list of available models and their "
                "supported methods."
            )
            return _gemini(404, text, "NOT_FOUND")
        text = f"The model `{name}` does not exist or you do not have access to it."
        return _openai(404, text, code="model_not_found")

    return _refusing("model_gone", says)


def context_overflow() -> Trouble:
    """400: the request has more tokens than the model can read."""
    return _either(
        "context_overflow",
        _openai(
            400,
            "This model's maximum context length is 128000 tokens. However, your messages resulted "
            "in 202868 tokens (202767 in the messages, 101 in the functions). Please reduce the "
            "length of the messages or functions.",
            param="messages",
            code="context_length_exceeded",
        ),
        _gemini(
            400,
            "The input token count (1200293) exceeds the maximum number of tokens allowed "
            "(1048576).",
            "INVALID_ARGUMENT",
        ),
    )


# ---- the envelopes -------------------------------------------------------------------------


def _openai(
    status: int,
    message: str,
    kind: str = "invalid_request_error",
    code: str | None = None,
    param: str | None = None,
) -> Sent:
    error: Json = {"message": message, "type": kind, "param": param, "code": code}
    return Sent({"error": error}, status=status)


def _gemini(status: int, message: str, word: str, *details: Json) -> Sent:
    error: dict[str, Json] = {"code": status, "message": message, "status": word}
    if details:
        error["details"] = list(details)
    return Sent({"error": error}, status=status)


def _gemini_quota(model: str, quota: str, seconds: float | None = None) -> Sent:
    """Google's 429: which quota is used up, and after how long to try again, if that helps."""
    violation = {
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
        "quotaId": quota,
        "quotaDimensions": {"model": model, "location": "global"},
        "quotaValue": "10",
    }
    failure = {"@type": f"{GOOGLE}QuotaFailure", "violations": [violation]}
    if seconds is None:
        return _gemini(429, GEMINI_QUOTA, "RESOURCE_EXHAUSTED", failure)
    retry = {"@type": f"{GOOGLE}RetryInfo", "retryDelay": f"{seconds:g}s"}
    text = f"{GEMINI_QUOTA} Please retry in {seconds:g}s."
    return _gemini(429, text, "RESOURCE_EXHAUSTED", failure, retry)


SERVER_ERROR = {
    "openai": _openai(
        500,
        "The server had an error while processing your request. Sorry about that!",
        "server_error",
    ),
    "gemini": _gemini(
        500,
        "An internal error has occurred. Please retry or report in "
        "https://developers.generativeai.google/guide/troubleshooting",
        "INTERNAL",
    ),
}
"""Also what comes inside a stream that began with a 200."""


def _either(name: str, openai: Sent, gemini: Sent) -> Trouble:
    """A refusal that is the same whatever the model is."""
    return _refusing(name, lambda arrived: gemini if arrived.wire == "gemini" else openai)


def _refusing(name: str, says: Says) -> Trouble:
    """A trouble that answers in the gateway's place."""

    async def spoil(request: httpx.Request, _: Answer) -> httpx.Response:
        return says(await arrival(request)).response()

    return Trouble(name, spoil)
