"""A provider's error to one of ours: refusals that were reported in public, and recorded ones."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from freya_teach.llm.refusal import raise_for_error
from tests import recordings
from tests.recordings import Recording
from tests.strategies import ANY_TEXT, json_values


def refusal(status: int, body: Any, headers: Mapping[str, str] | None = None) -> ProviderError:
    """Return the error that this answer means."""
    with pytest.raises(ProviderError) as caught:
        raise_for_error("someone", status, body, headers)
    return caught.value


def openai_error(message: str, type_: str = "invalid_request_error", code: Any = None) -> Any:
    return {"error": {"message": message, "type": type_, "param": None, "code": code}}


def gemini_error(code: int, status: str, message: str = "No.", *details: Any) -> Any:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def quota(*ids: str) -> Any:
    return {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaId": id_} for id_ in ids],
    }


BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
TOO_LONG = "Invalid 'messages[2].tool_calls[0].id': string too long."


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        # the key
        (401, openai_error("Incorrect API key provided", code="invalid_api_key"), AuthError),
        (403, gemini_error(403, "PERMISSION_DENIED"), AuthError),
        (401, gemini_error(401, "UNAUTHENTICATED"), AuthError),
        (400, gemini_error(400, "INVALID_ARGUMENT", "API key not valid.", BAD_KEY), AuthError),
        (400, gemini_error(400, "FAILED_PRECONDITION"), AuthError),
        # the model
        (404, openai_error("The model `x` does not exist", code="model_not_found"), ModelNotFound),
        (400, openai_error("The model `x` does not exist", code="model_not_found"), ModelNotFound),
        (404, gemini_error(404, "NOT_FOUND"), ModelNotFound),
        (404, openai_error("This model is only supported in v1/responses"), ModelNotFound),
        # a limit that time cures
        (429, openai_error("Rate limit reached", "tokens", "rate_limit_exceeded"), RateLimited),
        (429, openai_error("Slow down", "rate_limit_error", "slow_down"), RateLimited),
        (429, gemini_error(429, "RESOURCE_EXHAUSTED"), RateLimited),
        (
            429,
            gemini_error(
                429,
                "RESOURCE_EXHAUSTED",
                "Quota exceeded, limit: 10, model: x",
                quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"),
            ),
            RateLimited,
        ),
        (429, "Too Many Requests", RateLimited),
        # a limit that it does not
        (
            429,
            openai_error("No credit", "insufficient_quota", "insufficient_quota"),
            QuotaExhausted,
        ),
        (429, openai_error("No credit", "x", "credit_balance_exhausted"), QuotaExhausted),
        (429, openai_error("No credit", "insufficient_quota", "x_limit_exceeded"), QuotaExhausted),
        (429, openai_error("Spent", "x", "project_spend_limit_exceeded"), QuotaExhausted),
        (429, openai_error("Spent", "x", "organization_spend_limit_exceeded"), QuotaExhausted),
        (429, openai_error("Spent", "x", "organization_usage_limit_exceeded"), QuotaExhausted),
        (
            429,
            gemini_error(
                429, "RESOURCE_EXHAUSTED", "No.", quota("RequestsPerMinute", "RequestsPerDay-Free")
            ),
            QuotaExhausted,
        ),
        (
            429,
            gemini_error(429, "RESOURCE_EXHAUSTED", "* Quota exceeded, limit: 0, model: x\n* more"),
            QuotaExhausted,
        ),
        # a request that is too large
        (400, openai_error("Too long", code="context_length_exceeded"), ContextOverflowError),
        (400, openai_error("This model's maximum context length is 4096"), ContextOverflowError),
        (400, openai_error("Input tokens exceed the configured limit"), ContextOverflowError),
        (400, openai_error("Your input exceeds the context window"), ContextOverflowError),
        (400, openai_error("exceeds the available context size"), ContextOverflowError),
        (400, openai_error("x", "exceed_context_size_error", 400), ContextOverflowError),
        (400, openai_error("prompt is too long: 9 > 8"), ContextOverflowError),
        (
            400,
            gemini_error(
                400,
                "INVALID_ARGUMENT",
                "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            ),
            ContextOverflowError,
        ),
        (413, {"detail": "prompt is too long"}, ContextOverflowError),
        (
            429,
            openai_error(
                "Request too large for gpt-4o on tokens per min: Limit 30000, Requested 30601.",
                "tokens",
                "rate_limit_exceeded",
            ),
            ContextOverflowError,
        ),
        # the server
        (500, openai_error("The server had an error", "server_error"), ServerFailed),
        (502, "<html>Bad Gateway</html>", ServerFailed),
        (503, gemini_error(503, "UNAVAILABLE"), ServerFailed),
        (504, gemini_error(504, "DEADLINE_EXCEEDED"), ServerFailed),
        (529, {}, ServerFailed),
        (408, {}, ServerFailed),
        (409, {}, ServerFailed),
        (400, openai_error("x", "service_unavailable_error", "server_is_overloaded"), ServerFailed),
        # our own fault
        (400, openai_error("Invalid parameter: messages with role 'tool'"), RequestRefused),
        (400, openai_error(TOO_LONG, code="string_above_max_length"), RequestRefused),
        (
            400,
            openai_error(TOO_LONG + " maximum context length", code="string_above_max_length"),
            RequestRefused,
        ),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, RequestRefused),
        (400, gemini_error(400, "INVALID_ARGUMENT", "Please use a valid role"), RequestRefused),
        (418, None, RequestRefused),
        # words of the user, which a refusal may quote
        (400, openai_error("Invalid value: 'my quota and billing, limit: 0'"), RequestRefused),
        (500, openai_error("could not read 'maximum context length'"), ServerFailed),
    ],
)
def test_an_error_is_classed_by_its_status_and_its_codes(
    status: int, body: Any, error: type[ProviderError]
) -> None:
    found = refusal(status, body)
    assert type(found) is error
    assert (found.provider, found.status) == ("someone", status)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 429, "message": "x"}, RateLimited),
        ({"code": 503, "message": "x"}, ServerFailed),
        ({"code": 400, "message": "x"}, RequestRefused),
        ({"code": "content_filter", "status": 400, "message": "x"}, RequestRefused),
        ({"code": "insufficient_quota", "message": "x"}, QuotaExhausted),
        ({"code": "rate_limit_exceeded", "message": "x"}, RateLimited),
        ({"code": "slow_down", "message": "x"}, RateLimited),
        ({"type": "rate_limit_error", "message": "x"}, RateLimited),
        ({"code": 7, "message": "x"}, ServerFailed),
        ({"message": "x"}, ServerFailed),
        ("overloaded", ServerFailed),
        (["odd"], ServerFailed),
        (True, ServerFailed),
    ],
)
def test_an_error_inside_a_200_is_classed_by_the_status_that_it_names(
    error: Any, kind: type[ProviderError]
) -> None:
    found = refusal(200, {"error": error})
    assert (type(found), found.status) == (kind, 200)
    assert "an error inside a 200" in str(found)


@pytest.mark.parametrize(
    "body", [{}, {"error": None}, {"error": {}}, {"choices": []}, [], None, "x"]
)
def test_a_200_without_an_error_raises_nothing(body: Any) -> None:
    raise_for_error("someone", 200, body)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"error": {"message": "No."}}, "No."),
        ({"error": "No."}, "No."),
        ([{"error": {"message": "No."}}], "No."),
        ({"object": "error", "message": "No.", "code": 400}, "No."),
        ({"message": "No.", "code": "x"}, "No."),
        ({"detail": "No."}, "No."),
        ({"detail": [{"msg": "No."}]}, '{"detail":[{"msg":"No."}]}'),
        ({"error": {"code": 9}}, '{"code":9}'),
        ({}, ""),
        (None, ""),
        ("No.", ""),
    ],
)
def test_the_providers_own_words_are_found_in_every_known_shape(body: Any, text: str) -> None:
    found = refusal(400, body)
    assert found.provider_text == text
    assert str(found) == f"someone answered HTTP 400: {text or 'no reason given'}"


# ---- when to come again --------------------------------------------------------------------


def retry_info(delay: Any) -> Any:
    return gemini_error(429, "RESOURCE_EXHAUSTED", "No.", {"retryDelay": delay})


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({}, {}, None),
        ({"Retry-After": "7"}, {}, 7.0),
        ({"retry-after": "0.5"}, {}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, {}, 0.25),
        ({"retry-after-ms": "0", "retry-after": "1"}, {}, 1.0),
        ({"retry-after": "soon"}, {}, None),
        ({"retry-after": "-1"}, {}, None),
        ({"retry-after": "nan"}, {}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, {}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00"}, {}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 -0000"}, {}, 0.0),
        ({"retry-after": "Mon, 99999999999999999999 Jan 2026 00:00:00 GMT"}, {}, None),
        ({}, retry_info("34.074824224s"), 34.074824224),
        ({}, retry_info("48s"), 48.0),
        ({}, retry_info(None), None),
        ({}, retry_info("a while"), None),
        ({"retry-after": "2"}, retry_info("48s"), 2.0),
    ],
)
def test_the_seconds_to_wait_come_from_the_headers_or_from_the_body(
    headers: dict[str, str], body: Any, seconds: float | None
) -> None:
    assert refusal(429, body, httpx.Headers(headers)).retry_after == seconds


def test_a_date_is_turned_into_seconds_from_now() -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    assert 3500 < (refusal(429, {}, {"retry-after": at}).retry_after or 0) <= 3600


# ---- anything at all -----------------------------------------------------------------------

KEYS = st.sampled_from(
    [
        *["error", "message", "code", "status", "type", "detail", "details", "reason"],
        *["violations", "quotaId", "retryDelay", "object"],
    ]
)
DATES = st.from_regex(r"(\w{3}, )?[0-9]{1,20} \w{3} [0-9]{1,6} [0-9:]{1,8}( [+-][0-9]{1,9})?")


@given(
    status=st.integers(200, 599),
    body=st.dictionaries(KEYS, json_values(KEYS), max_size=4) | json_values(KEYS),
    hint=ANY_TEXT | DATES | st.floats().map(str),
)
def test_any_body_with_any_status_is_one_of_our_errors_or_none(
    status: int, body: Any, hint: str
) -> None:
    headers = {"retry-after": hint, "retry-after-ms": hint}
    if status < 400:
        with suppress(ProviderError):
            raise_for_error("someone", status, body, headers)
    else:
        found = refusal(status, body, headers)
        assert found.status == status
        assert found.retry_after is None or found.retry_after >= 0


# ---- recordings ----------------------------------------------------------------------------

EXPECTED: dict[int, type[ProviderError]] = {
    400: RequestRefused,
    401: AuthError,
    403: AuthError,
    404: ModelNotFound,
    429: RateLimited,
    500: ServerFailed,
}


@recordings.each(lambda r: r.status >= 400)
def test_a_recorded_refusal_is_classed_by_the_table_and_quoted(recording: Recording) -> None:
    found = refusal(recording.status, recording.body, httpx.Headers(recording.headers))
    too_long = re.search("max context length", str(recording.body))
    assert type(found) is (ContextOverflowError if too_long else EXPECTED[recording.status])
    assert found.provider_text
    assert found.provider_text in str(recording.body).replace("\\n", "\n").replace("\\'", "'")
    if recording.status == 429:
        assert found.retry_after == (48.0 if recording.provider == "gemini" else 1.0)
