import json
from dataclasses import replace
from typing import Any, get_args

import pytest

from freya_teach.lab.understand import (
    HttpExchange,
    as_json,
    exchange_from_recording,
    secrets_in,
    understand,
    wire_of,
)
from freya_teach.llm.protocol import FinishReason
from tests.recordings import Recording, each

ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}]}
ANSWERED: dict[str, Any] = {
    "choices": [{"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}
EXCHANGE = HttpExchange("one", "", ASKED, 200, {}, json.dumps(ANSWERED).encode())
TYPES = {
    "file": str,
    "messages": list,
    "text": str,
    "reasoning": str,
    "tool_calls": list,
    "finish_reason": str | None,
    "raw_finish_reason": str | None,
    "usage": dict,
    "error": dict | None,
    "note": str,
}
KINDS = {  # of the recordings whose status is an error
    400: {"bad_request", "context_overflow", "auth"},
    401: {"auth"},
    403: {"auth"},
    404: {"model_not_found"},
    429: {"rate_limited", "quota_exhausted"},
    500: {"server"},
}


def told(recording: Recording) -> dict[str, Any]:
    exchange = exchange_from_recording(
        recording.name,
        {
            "request": recording.request,
            "response": {
                "status": recording.status,
                "headers": recording.headers,
                "body": recording.body,
            },
        },
    )
    assert exchange
    return json.loads(json.dumps(as_json(understand(exchange))))


def plain_chunks(body: Any) -> list[dict[str, Any]]:
    """The JSON objects in a body, read as simply as recorded text allows."""
    if isinstance(body, str) and body.lstrip()[:1] in ("{", "["):
        body = json.loads(body)
    if isinstance(body, str):
        lines = body.replace("\r\n", "\n").split("\n")
        data = (line.removeprefix("data:").strip() for line in lines if line.startswith("data:"))
        body = [json.loads(line) for line in data if line and line != "[DONE]"]
    return body if isinstance(body, list) else [body]


def plain_usage(recording: Recording) -> tuple[int, int, int]:
    """Input, output and total tokens of the last chunk that counts them."""
    chunks = plain_chunks(recording.body)
    if recording.provider == "gemini":
        usage = [chunk["usageMetadata"] for chunk in chunks if chunk.get("usageMetadata")]
        last = usage[-1] if usage else {}
        went_in = last.get("promptTokenCount", 0) + last.get("toolUsePromptTokenCount", 0)
        came = last.get("candidatesTokenCount", 0) + last.get("thoughtsTokenCount", 0)
        return went_in, came, last.get("totalTokenCount", went_in + came)
    groq = [(chunk.get("x_groq") or {}).get("usage") for chunk in chunks]
    usage = [u for u in [*groq, *(chunk.get("usage") for chunk in chunks)] if u]
    last = usage[-1] if usage else {}
    went_in, came = last.get("prompt_tokens", 0), last.get("completion_tokens", 0)
    total = last.get("total_tokens", went_in + came)
    beside = (last.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    return went_in, came + (beside if went_in + came + beside == total else 0), total


@each(bool)
def test_every_recording_is_told_in_the_promised_form(recording: Recording) -> None:
    result = told(recording)
    wrong = {key: result[key] for key, kind in TYPES.items() if not isinstance(result[key], kind)}
    assert wrong == {}
    assert result["wire"] == recording.provider_wire
    assert (result["finish_reason"] is None) == bool(result["error"] or result["note"])
    assert result["finish_reason"] in (*get_args(FinishReason), None)
    assert all(set(call) == {"id", "name", "arguments"} for call in result["tool_calls"])


@each(lambda recording: recording.is_model_call and recording.status < 400)
def test_usage_is_what_a_plain_reading_finds(recording: Recording) -> None:
    result = told(recording)
    if result["error"]:  # inside a 200
        assert recording.kind.endswith("error_in_200")
        return
    assert tuple(result["usage"].values()) == plain_usage(recording)


@each(lambda recording: recording.is_model_call and recording.status < 400)
def test_input_and_output_are_never_less_than_the_whole(recording: Recording) -> None:
    usage = told(recording)["usage"]
    assert usage["input_tokens"] + usage["output_tokens"] == usage["total_tokens"]


@each(lambda recording: recording.status >= 400)
def test_every_refusal_has_a_kind_and_the_providers_words(recording: Recording) -> None:
    error = told(recording)["error"]
    assert error["status"] == recording.status
    assert error["kind"] in KINDS[recording.status]
    assert error["provider_text"]
    assert error["provider_text"] in error["message"]


@each(lambda recording: not recording.is_model_call and recording.status < 400)
def test_what_asked_no_model_says_what_it_is(recording: Recording) -> None:
    assert told(recording)["note"].startswith(
        {
            "count_tokens": f"a count of tokens: {recording.body.get('totalTokens')}",
            "models_list": f"a list of {len(recording.body.get('data', []))} models",
            "models_get": "the description of one model",
        }[recording.kind]
    )


@pytest.mark.parametrize(
    ("url", "request_body", "response", "wire"),
    [
        ("https://h.invalid/v1/chat/completions", None, b"", "openai"),
        ("https://h.invalid/v1beta/models/m:streamGenerateContent?alt=sse", None, b"", "gemini"),
        ("", {"messages": []}, b"", "openai"),
        ("", {"contents": []}, b"", "gemini"),
        ("", {}, b'{"choices": []}', "openai"),
        ("https://h.invalid/v1/messages?beta=true", {"messages": []}, b"", ""),
        ("https://h.invalid/v1/responses", {"input": "Hi"}, b"", ""),
        ("https://h.invalid/search", {"q": "Hi"}, b"", ""),
    ],
)
def test_the_wire_is_told_by_the_address_else_by_the_bodies(
    url: str, request_body: Any, response: bytes, wire: str
) -> None:
    exchange = replace(EXCHANGE, url=url, request=request_body, response=response)
    assert wire_of(exchange) == wire


def test_an_answer_is_told_even_where_the_question_cannot_be_read() -> None:
    strange = {"messages": [{"role": "no-such-role", "content": "Hi"}]}
    result = as_json(understand(replace(EXCHANGE, request=strange)))
    assert (result["text"], result["finish_reason"]) == ("Hello", "stop")
    assert "no-such-role" in result["error"]["message"]


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (b"", "response_cut"),
        (b"<html>Sign in</html>", "bad_response"),
        (b"\x00\xff\xfe", "bad_response"),
        (b'{"choices": [{"message": {"content": "Hel', "response_cut"),
        (b'{"error": {"message": "Busy", "code": 503}}', "server"),
    ],
)
def test_an_answer_that_is_none_is_an_error_of_a_kind(response: bytes, kind: str) -> None:
    result = as_json(understand(replace(EXCHANGE, response=response)))
    assert (result["finish_reason"], result["error"]["kind"]) == (None, kind)


def test_an_error_page_of_a_gateway_is_quoted() -> None:
    page = replace(EXCHANGE, status=502, response=b"\xef\xbb\xbf<h1>Bad gateway</h1>")
    error = as_json(understand(page))["error"]
    assert (error["kind"], error["status"]) == ("server", 502)
    assert "Bad gateway" in error["provider_text"]


def test_an_image_is_told_by_its_size_and_hash_not_its_bytes() -> None:
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}
    asked = {"messages": [{"role": "user", "content": [part]}]}
    [message] = as_json(understand(replace(EXCHANGE, request=asked)))["messages"]
    assert message["parts"] == [
        {
            "type": "image",
            "media_type": "image/png",
            "bytes": 5,
            "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        }
    ]


def test_a_key_that_the_server_quotes_is_not_told() -> None:
    refused = replace(
        EXCHANGE,
        status=401,
        response=json.dumps({"error": {"message": "Wrong key: no-key-needed"}}).encode(),
        secrets=secrets_in("https://h.invalid/", {"authorization": "Bearer no-key-needed"}),
    )
    assert as_json(understand(refused))["error"]["provider_text"] == "Wrong key: [redacted]"
    assert "no-key-needed" not in repr(replace(refused, response=b""))


@pytest.mark.parametrize(
    ("url", "headers", "secrets"),
    [
        ("https://h.invalid/m?alt=sse&key=not%2Da%2Dkey", {}, {"not%2Da%2Dkey", "not-a-key"}),
        ("https://h.invalid/", {"x-goog-api-key": "not-a-key"}, {"not-a-key"}),
        ("https://h.invalid/", {"cookie": "sid=not-a-key"}, {"sid=not-a-key", "not-a-key"}),
        ("https://me:not-a-key@h.invalid/", {}, {"me:not-a-key", "not-a-key"}),
        ("https://h.invalid/?q=how+many+people", {"accept": "application/json"}, set()),
        ("https://h.invalid/", {":authority": "api.openai.com", "api-key": "EMPTY"}, set()),
    ],
)
def test_secrets_are_found_by_their_names(
    url: str, headers: dict[str, str], secrets: set[str]
) -> None:
    assert set(secrets_in(url, headers)) == secrets


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"request": "GET", "response": "OK"},
        {"request": {"url": "https://h.invalid"}, "response": {"status": "200"}},
        {"request": {"url": None}, "response": {"status": 200}},
    ],
)
def test_json_of_another_kind_is_no_recording(data: Any) -> None:
    assert exchange_from_recording("one", data) is None
