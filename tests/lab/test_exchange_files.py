import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.lab.exchange_files import UnreadableFile, read_file, read_files, read_pair
from freya_teach.lab.understand import as_json, exchange_from_recording, understand
from tests.recordings import Recording, each

ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}]}
ANSWERED: dict[str, Any] = {
    "choices": [{"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}]
}
KEY = "not-a-real-key-but-secret"


def written(path: Path, content: object) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def result(exchange: Any) -> dict[str, Any]:
    told = as_json(understand(exchange))
    del told["file"]
    return told


def of_recording(recording: Recording) -> dict[str, Any]:
    response = {
        "status": recording.status,
        "headers": recording.headers,
        "body": recording.body,
    }
    return result(
        exchange_from_recording("one", {"request": recording.request, "response": response})
    )


def har(*entries: dict[str, Any]) -> dict[str, Any]:
    creator = {"name": "a test", "version": "1"}
    return {"log": {"version": "1.2", "creator": creator, "entries": list(entries)}}


def pairs(headers: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]


def entry(
    url: str,
    asked: object,
    content: dict[str, str],
    status: int = 200,
    *,
    sent: dict[str, str] | None = None,
    came: dict[str, str] | None = None,
) -> dict[str, Any]:
    """One entry as a browser exports it, with what HAR 1.2 demands and is read."""
    return {
        "startedDateTime": "2026-01-01T00:00:00.000Z",
        "request": {
            "method": "POST",
            "url": url,
            "headers": pairs(sent or {}),
            "postData": {"mimeType": "application/json", "text": json.dumps(asked)},
        },
        "response": {"status": status, "headers": pairs(came or {}), "content": content},
    }


def base64_of(data: bytes) -> dict[str, str]:
    return {"encoding": "base64", "text": base64.b64encode(data).decode()}


@each(lambda recording: recording.is_model_call)
def test_a_har_file_tells_what_its_recording_tells(recording: Recording, tmp_path: Path) -> None:
    about = recording.request["url"], recording.request["body"]
    status, headers, raw = recording.status, recording.headers, recording.raw
    entries = [
        entry(*about, content, status, came=headers)
        for content in (
            {"text": raw.decode()},
            base64_of(raw),
            base64_of(gzip.compress(raw)),
        )
    ]
    path = written(tmp_path / "page.har", har(*entries))
    assert [result(found) for found in read_file(path)] == 3 * [of_recording(recording)]


@each(lambda recording: recording.is_model_call and ":countTokens" not in recording.request["url"])
def test_a_pair_of_files_tells_what_its_recording_tells(
    recording: Recording, tmp_path: Path
) -> None:
    fields = "".join(f"{name}: {value}\r\n" for name, value in recording.headers.items())
    head = f"HTTP/1.1 {recording.status} Said\r\n{fields}\r\n".encode()
    sent = written(tmp_path / "sent.json", recording.request["body"])
    came = written(tmp_path / "came.txt", head + recording.raw)
    [exchange] = read_pair(sent, came)
    assert result(exchange) == of_recording(recording)
    [exchange] = read_pair(came, sent)
    assert result(exchange) == of_recording(recording)


def test_of_several_heads_the_last_one_counts(tmp_path: Path) -> None:
    heads = (
        b"HTTP/1.1 100 Continue\r\n\r\n"
        b"HTTP/1.1 302 Found\r\nLocation: /v1\r\n\r\n"
        b"HTTP/2 429 \r\nRetry-After: 7\r\n\r\n"
    )
    came = written(tmp_path / "came", heads + b'{"error": {"message": "Slow down"}}')
    [exchange] = read_pair(written(tmp_path / "sent", ASKED), came)
    assert (exchange.status, exchange.headers) == (429, {"retry-after": "7"})
    assert exchange.response == b'{"error": {"message": "Slow down"}}'


@pytest.mark.parametrize(
    "came",
    [
        json.dumps(ANSWERED).encode(),
        b"\xef\xbb\xbf" + json.dumps(ANSWERED).encode(),
        json.dumps(ANSWERED).encode("utf-16"),
        gzip.compress(json.dumps(ANSWERED).encode()),
        b"HTTP/1.1 200 OK\n\n" + json.dumps(ANSWERED).encode(),
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
        + gzip.compress(json.dumps(ANSWERED).encode()),
    ],
    ids=["no head", "byte order mark", "PowerShell", "gzip", "plain newlines", "head and gzip"],
)
def test_an_answer_is_read_however_it_was_kept(came: bytes, tmp_path: Path) -> None:
    sent = written(tmp_path / "sent", b"\xef\xbb\xbf" + json.dumps(ASKED).encode())
    [exchange] = read_pair(sent, written(tmp_path / "came", came))
    assert result(exchange)["text"] == "Hello"


@pytest.mark.parametrize(
    "head",
    [
        f"POST https://h.invalid/v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer {KEY}\r\n",
        f"### A question\n# @no-log\nPOST https://h.invalid/v1/chat/completions?key={KEY}\n",
        f"Content-Type: application/json\nx-goog-api-key: {KEY}\n",
    ],
    ids=["HTTP", "an editor's .http", "headers only"],
)
def test_a_question_may_have_a_head_whose_keys_are_not_told(head: str, tmp_path: Path) -> None:
    sent = written(tmp_path / "ask.http", head.encode() + b"\n" + json.dumps(ASKED).encode())
    refused = {"error": {"message": f"No such key: {KEY}"}}
    came = written(tmp_path / "came", b"HTTP/1.1 401 No\r\n\r\n" + json.dumps(refused).encode())
    [exchange] = read_pair(sent, came)
    told = result(exchange)
    assert told["messages"] == [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]
    assert told["error"]["provider_text"] == "No such key: [redacted]"


@pytest.mark.parametrize(
    ("sent", "url"),
    [
        ({"authorization": f"Bearer {KEY}"}, "https://h.invalid/v1/chat/completions"),
        ({"Authorization": f"bearer {KEY}"}, "https://h.invalid/v1/chat/completions"),
        ({"X-Api-Key": KEY}, "https://h.invalid/v1/chat/completions"),
        ({"cookie": f"lang=en; sid={KEY}"}, "https://h.invalid/v1/chat/completions"),
        ({}, f"https://h.invalid/v1/chat/completions?alt=sse&key={KEY}"),
        ({}, f"https://me:{KEY}@h.invalid/v1/chat/completions"),
    ],
)
def test_no_key_of_a_har_file_is_told(sent: dict[str, str], url: str, tmp_path: Path) -> None:
    quoted = json.dumps({"error": {"message": f"Key {KEY} is wrong", "param": KEY}})
    asked = {"messages": [{"role": "user", "content": f"My key is {KEY}"}]}
    path = written(tmp_path / "page.har", har(entry(url, asked, {"text": quoted}, 401, sent=sent)))
    [exchange] = read_file(path)
    told = result(exchange)
    assert told["error"]["provider_text"] == "Key [redacted] is wrong"
    assert KEY not in json.dumps(told)


def test_only_a_har_files_questions_to_models_are_told(tmp_path: Path) -> None:
    picture = entry("https://h.invalid/logo.png", {}, {})
    picture["request"].pop("postData")
    form = entry("https://h.invalid/form", {}, {})
    form["request"]["postData"] = {"mimeType": "text/plain", "text": "a=1&b=2"}
    asked = entry("https://h.invalid/v1/chat/completions", ASKED, {"text": json.dumps(ANSWERED)})
    path = written(tmp_path / "page.har", har(picture, form, asked, {"request": None}))
    assert [(found.name, result(found)["text"]) for found in read_file(path)] == [
        (f"{path}#2", "Hello")
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"Dear diary, today I asked a model.", "is not JSON"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\xff", "is no text"),
        (b"[" * 100_000, "is not JSON"),
        ([1, 2], "neither a recording"),
        ({"name": "freya"}, "neither a recording"),
        ({"request": "GET /", "response": []}, "neither a recording"),
        ({"request": {"url": "u"}, "response": {"status": "200"}}, "neither a recording"),
        (ASKED, "looks like half of an exchange"),
        (ANSWERED, "looks like half of an exchange"),
        (har(), "none of its 0 entries asks a model"),
        (har(entry("https://h.invalid/api", {"q": 1}, {})), "none of its 1 entries asks a model"),
        ({"log": {"entries": [None, 7, {"request": 7}]}}, "none of its 3 entries asks a model"),
        ({"log": 7}, "none of its 0 entries asks a model"),
    ],
)
def test_a_file_without_an_exchange_says_what_it_is(
    content: object, said: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "some.file", content)
    with pytest.raises(UnreadableFile) as caught:
        read_file(path)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)


def test_a_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    for path in (tmp_path, missing):
        with pytest.raises(UnreadableFile, match="cannot be read"):
            read_file(path)


@pytest.mark.parametrize(
    "command",
    [
        f"curl https://h.invalid/v1/chat/completions -H 'Authorization: Bearer {KEY}' -d '{{}}'",
        f"#!/bin/sh\ncurl -H 'Authorization: Bearer {KEY}' -d '{{}}'",
        f"$ curl.exe -H 'Authorization: Bearer {KEY}'",
    ],
)
def test_a_curl_command_is_told_from_what_it_sends(command: str, tmp_path: Path) -> None:
    sent = written(tmp_path / "ask.sh", command.encode())
    with pytest.raises(UnreadableFile, match="is a curl command") as caught:
        read_pair(sent, written(tmp_path / "came", ANSWERED))
    assert KEY not in str(caught.value)


def test_two_files_are_a_pair_only_when_neither_is_a_whole_exchange(tmp_path: Path) -> None:
    whole = written(
        tmp_path / "whole.json",
        {
            "request": {"url": "https://h.invalid/v1/chat/completions", "body": ASKED},
            "response": {"status": 200, "headers": {}, "body": ANSWERED},
        },
    )
    sent, came = written(tmp_path / "sent", ASKED), written(tmp_path / "came", ANSWERED)
    [[pair]] = read_files([sent, came])
    assert pair.name == f"{sent} + {came}"
    first, second = read_files([whole, sent])
    assert [found.name for found in first] == [str(whole)]
    assert isinstance(second, UnreadableFile)
    assert [type(found) for found in read_files([sent, came, whole])] == [
        UnreadableFile,
        UnreadableFile,
        list,
    ]


def test_a_pair_of_another_kind_is_no_exchange(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a", {"a": 1}), written(tmp_path / "b", {"b": 2})
    [problem] = read_files([first, second])
    assert "neither OpenAI's Chat Completions nor Gemini's" in str(problem)


BEGINNINGS = [
    b"",
    b"HTTP/1.1 ",
    b"POST /v1/chat/completions ",
    b"\xff\xfe",
    b"\x1f\x8b",
    b"{",
    b"a: ",
]
ANY_FILE = st.builds(bytes.__add__, st.sampled_from(BEGINNINGS), st.binary(max_size=60))


@settings(max_examples=100)
@given(first=ANY_FILE, second=ANY_FILE)
def test_whatever_two_files_hold_nothing_but_a_polite_word_comes_of_it(
    first: bytes, second: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    asked = written(folder / "asked", ASKED)
    one, other = written(folder / "one", first), written(folder / "other", second)
    for paths in ([one, other], [asked, one], [one, asked], [one]):
        for found in read_files(paths):
            if not isinstance(found, UnreadableFile):
                assert all(result(exchange)["messages"] for exchange in found)
