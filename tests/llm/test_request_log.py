"""The request log: whole, private, and without the key wherever it may stand."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.ambient import Ambient
from freya_teach.llm import gemini, openai
from freya_teach.llm.messages import user
from freya_teach.llm.protocol import ModelRequest, Route, WireRequest
from freya_teach.llm.request_log import (
    REDACTED,
    RequestLog,
    redact,
    redacted_headers,
    secrets_of,
)
from tests.strategies import ANY_TEXT

KEY = "not-a-real-key-8472"
ADAPTERS = pytest.mark.parametrize(
    "adapter", [openai.ADAPTER, gemini.ADAPTER], ids=lambda a: a.name
)


def request(text: str = "Hi", adapter: Any = openai.ADAPTER, key: str = KEY) -> WireRequest:
    route = Route(adapter.name, "some-model", "https://api.example", key)
    return adapter.build_request(
        ModelRequest((user(text),), stream=True, max_output_tokens=8), route
    )


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@ADAPTERS
def test_a_line_holds_everything_but_the_key(adapter: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    wire = request("Hello, 北京", adapter)
    RequestLog(path, Ambient()).write(wire, 200, b'{"choices": "\xff"}', 1.5, "an error")
    (line,) = lines_of(path)
    assert line["time"].endswith("+00:00")
    assert line["request"]["method"] == "POST"
    assert line["request"]["url"] == wire.url
    assert line["request"]["headers"].keys() == wire.headers.keys()
    assert REDACTED in line["request"]["headers"].values()
    assert line["request"]["body"] == json.loads(wire.body)
    assert (line["status"], line["seconds"], line["error"]) == (200, 1.5, "an error")
    assert line["response"] == '{"choices": "\ufffd"}'
    assert KEY not in path.read_text(encoding="utf-8")
    assert "北京" in path.read_text(encoding="utf-8")


@ADAPTERS
def test_a_key_that_is_quoted_anywhere_is_taken_out(adapter: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    wire = request(f"my key is {KEY}", adapter)
    body = f'{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}'.encode()
    RequestLog(path, Ambient()).write(wire, 401, body, 0.1, f"refused: {KEY}")
    assert KEY not in path.read_text(encoding="utf-8")
    (line,) = lines_of(path)
    assert line["response"] == body.decode().replace(KEY, REDACTED)
    assert line["error"] == f"refused: {REDACTED}"


@pytest.mark.parametrize(
    ("url", "logged"),
    [
        ("https://a.example/v1?key=abc&alt=sse", "https://a.example/v1?key=[redacted]&alt=sse"),
        (
            "https://a.example/v1?alt=sse&API_KEY=abc",
            "https://a.example/v1?alt=sse&API_KEY=[redacted]",
        ),
        ("https://me:abc@a.example/v1", "https://[redacted]@a.example/v1"),
        ("https://a.example/v1?alt=sse", "https://a.example/v1?alt=sse"),
        ("https://a.example/people/@me", "https://a.example/people/@me"),
    ],
)
def test_a_key_in_a_url_is_taken_out(url: str, logged: str, tmp_path: Path) -> None:
    RequestLog(tmp_path / "log", Ambient()).write(WireRequest(url, {}, b"{}"), 200, b"", 0.0)
    assert lines_of(tmp_path / "log")[0]["request"]["url"] == logged


@pytest.mark.parametrize("key", ["1", "null", "e", '"', "\\", "choices", REDACTED])
def test_a_line_stays_json_whatever_the_key_is(key: str, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    RequestLog(path, Ambient()).write(request(key=key), None, b"1 null", 1.0)
    (line,) = lines_of(path)
    assert line["status"] is None
    assert line["seconds"] == 1.0


@given(text=ANY_TEXT, body=st.binary(max_size=30))
def test_any_text_and_any_bytes_are_one_line(
    text: str, body: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "log.jsonl"
    path.unlink(missing_ok=True)
    RequestLog(path, Ambient()).write(request(text), 200, body, 0.0)
    (line,) = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert line["response"] == body.decode("utf-8", "replace")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
def test_lines_are_added_to_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = RequestLog(path, Ambient())
    for number in range(3):
        log.write(request(), 200 + number, b"", 0.0)
    assert [(line["status"], line["error"]) for line in lines_of(path)] == [
        (200, ""),
        (201, ""),
        (202, ""),
    ]
    assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_a_place_that_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        RequestLog(tmp_path / "missing" / "log", Ambient()).write(request(), 200, b"", 0.0)


def test_every_header_that_holds_a_secret_is_known_by_name() -> None:
    headers = {"Authorization": "Bearer x", "X-Goog-Api-Key": "y", "api-key": "z", "accept": "*/*"}
    assert redacted_headers(headers | {"Cookie": "a", "proxy-authorization": "b"}) == {
        "Authorization": REDACTED,
        "X-Goog-Api-Key": REDACTED,
        "api-key": REDACTED,
        "accept": "*/*",
        "Cookie": REDACTED,
        "proxy-authorization": REDACTED,
    }
    assert secrets_of(WireRequest("", headers, b"")) == ("x", "y", "z")
    assert redact("x, y and z", ("x", "z")) == f"{REDACTED}, y and {REDACTED}"
