"""One model call over real sockets: whatever the other end does, it ends in one of our errors."""

import asyncio
import gzip
import json
import logging
import socket
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.errors import (
    AuthError,
    BadResponse,
    ConfigError,
    ConnectionFailed,
    LLMError,
    RateLimited,
    RequestRefused,
    ResponseCut,
    ServerFailed,
    TranscriptError,
)
from freya_teach.llm import gemini, openai
from freya_teach.llm.client import HttpModelClient, ignore
from freya_teach.llm.messages import ToolCall, assistant, user
from freya_teach.llm.protocol import Adapter, Delta, Exchange, ModelRequest, Route, TextDelta
from freya_teach.llm.redaction import REDACTED
from freya_teach.llm.request_log import RequestLog, read_log
from tests.hostile_server import (
    Behaviour,
    Connection,
    answer,
    drip,
    head,
    serving,
    then_reset,
    then_silence,
    whole,
)

KEY = "not-a-real-key-8472"
SETTINGS = Settings(read_seconds=0.3, request_seconds=10, max_response_bytes=100_000)
GUARD = 20
"""Seconds after which a test takes a client for hung; no test comes near."""


@dataclass
class Asker:
    """A client of one server, and what it has reported."""

    http: httpx.AsyncClient
    url: str
    adapter: Adapter = openai.ADAPTER
    settings: Settings = SETTINGS
    ambient: Ambient = field(default_factory=Ambient)
    key: str = KEY
    log: RequestLog | None = None
    deltas: list[Delta] = field(default_factory=list)

    async def ask(
        self, *, stream: bool = False, on_delta: Callable[[Delta], None] = ignore
    ) -> Exchange:
        """Ask one question; a client that hangs fails the test."""

        def report(delta: Delta) -> None:
            self.deltas.append(delta)
            on_delta(delta)

        route = Route(self.adapter.name, "some-model", self.url, self.key)
        client = HttpModelClient(
            self.http, self.adapter, route, self.settings, self.ambient, self.log
        )
        async with asyncio.timeout(GUARD):
            return await client.complete(ModelRequest((user("Hi"),), (), stream), report)


@asynccontextmanager
async def asker(url: str, **more: Any) -> AsyncIterator[Asker]:
    async with httpx.AsyncClient(trust_env=False) as http:
        yield Asker(http, url, **more)


async def asked(behave: Behaviour, **more: Any) -> Exchange:
    """Ask a server that behaves like this once."""
    async with serving(behave) as server, asker(server.url, **more) as client:
        return await client.ask()


async def failure(behave: Behaviour, **more: Any) -> LLMError:
    """Ask a server that behaves like this and return what went wrong."""
    with pytest.raises(LLMError) as caught:
        await asked(behave, **more)
    return caught.value


def events(*values: Any, done: bool = True) -> bytes:
    """The values as an event stream."""
    lines = [f"data: {json.dumps(value)}\n\n" for value in values]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def chunked(*pieces: bytes, end: bool = True) -> bytes:
    """A complete response with `transfer-encoding: chunked`; without its end it is cut off."""
    body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return head("200 OK", "transfer-encoding: chunked") + body + (b"0\r\n\r\n" if end else b"")


USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
WHOLE = {"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}], "usage": USAGE}
PIECES = [
    {"choices": [{"delta": {"role": "assistant", "content": "Hel"}}]},
    {"choices": [{"delta": {"content": "lo."}, "finish_reason": "stop"}]},
    {"choices": [], "usage": USAGE},
]
GEMINI = {
    "candidates": [{"content": {"parts": [{"text": "Hello."}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
}
OK = whole(json.dumps(WHOLE).encode())
STREAM = events(*PIECES)
FIRST = events(PIECES[0], done=False)


# ---- when all is well ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("adapter", "body", "stream"),
    [
        (openai.ADAPTER, json.dumps(WHOLE).encode(), False),
        (openai.ADAPTER, STREAM, True),
        (gemini.ADAPTER, json.dumps(GEMINI).encode(), False),
        (gemini.ADAPTER, events(GEMINI, done=False), True),
        (gemini.ADAPTER, json.dumps([GEMINI]).encode(), True),
    ],
)
async def test_both_wires_give_the_same_reply_whole_or_streamed(
    adapter: Adapter, body: bytes, *, stream: bool
) -> None:
    async with serving(answer(whole(body))) as server, asker(server.url, adapter=adapter) as client:
        exchange = await client.ask(stream=stream)
    reply = exchange.reply
    assert (reply.message.text, reply.finish_reason, reply.usage.total_tokens) == (
        "Hello.",
        "stop",
        5,
    )
    assert (exchange.status, exchange.body) == (200, body)
    said = [delta.text for delta in client.deltas if isinstance(delta, TextDelta)]
    assert "".join(said) == "Hello."


@pytest.mark.parametrize(
    ("adapter", "line", "header"),
    [
        (
            openai.ADAPTER,
            b"POST /v1/chat/completions HTTP/1.1",
            b"authorization: Bearer " + KEY.encode(),
        ),
        (
            gemini.ADAPTER,
            b"POST /v1beta/models/some-model:streamGenerateContent?alt=sse HTTP/1.1",
            b"x-goog-api-key: " + KEY.encode(),
        ),
    ],
)
async def test_the_key_goes_over_the_wire_in_one_header_and_nowhere_else(
    adapter: Adapter, line: bytes, header: bytes
) -> None:
    async with serving(answer(OK)) as server, asker(server.url, adapter=adapter) as client:
        with suppress(BadResponse):  # the answer is OpenAI's for both
            await client.ask(stream=True)
    (request,) = server.requests
    lines = request.split(b"\r\n")
    assert lines[0] == line
    assert [found for found in lines if KEY.encode() in found] == [header]


async def test_a_delta_is_reported_while_the_answer_is_still_being_made() -> None:
    """The server says the rest only after the first word was seen on our side."""
    seen = asyncio.Event()

    async def behave(connection: Connection) -> None:
        await connection.send(head("200 OK", "transfer-encoding: chunked"))
        await connection.send_chunk(FIRST)
        await seen.wait()
        await connection.send_chunk(events(*PIECES[1:]))
        await connection.send_chunk(b"")

    async with serving(behave) as server, asker(server.url) as client:
        exchange = await client.ask(stream=True, on_delta=lambda _: seen.set())
    assert exchange.reply.message.text == "Hello."


async def test_an_answer_in_pieces_of_one_byte_is_the_same_answer() -> None:
    pieces = [b"1\r\n%b\r\n" % STREAM[at : at + 1] for at in range(len(STREAM))]
    behave = answer(head("200 OK", "transfer-encoding: chunked"), *pieces, b"0\r\n\r\n")
    assert (await asked(behave)).reply.message.text == "Hello."


async def test_streams_that_are_read_to_their_end_share_one_connection() -> None:
    async with serving(answer(chunked(STREAM))) as server, asker(server.url) as client:
        for _ in range(3):
            await client.ask(stream=True)
    assert (server.connections, len(server.requests)) == (1, 3)


async def test_the_seconds_of_a_call_are_those_of_the_clock_that_was_handed_in() -> None:
    clock = Ambient(monotonic=iter([10.0, 12.5]).__next__)
    assert (await asked(answer(OK), ambient=clock)).seconds == 2.5


async def test_a_packed_answer_is_unpacked() -> None:
    packed = gzip.compress(json.dumps(WHOLE).encode())
    exchange = await asked(answer(whole(packed, "200 OK", "content-encoding: gzip")))
    assert exchange.reply.message.text == "Hello."


async def test_a_broken_history_is_refused_before_anything_is_sent() -> None:
    async with serving(answer(OK)) as server, asker(server.url) as client:
        route = Route("openai", "some-model", server.url, KEY)
        broken = ModelRequest((user("?"), assistant(ToolCall("call_1", "f", "{}"))))
        with pytest.raises(TranscriptError):
            await HttpModelClient(client.http, openai.ADAPTER, route, SETTINGS, Ambient()).complete(
                broken
            )
    assert server.requests == []


# ---- when the connection fails -------------------------------------------------------------


async def test_a_refused_connection_names_the_host() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with asker(f"http://127.0.0.1:{port}") as client:
        with pytest.raises(ConnectionFailed, match=rf"no answer from 127\.0\.0\.1:{port}: Connect"):
            await client.ask()


@pytest.mark.parametrize(
    ("behave", "words"),
    [
        pytest.param(then_reset(), "no answer from", id="reset before the head"),
        pytest.param(answer(b"", close=True), "no answer from", id="closed before the head"),
        pytest.param(
            then_reset(b"HTTP/1.1 200 OK\r\ncon"), "no answer from", id="reset in the head"
        ),
        pytest.param(answer(b"SSH-2.0-Hi\r\n", close=True), "no answer from", id="not HTTP"),
        pytest.param(answer(b"\x00" * 200, close=True), "no answer from", id="zeros"),
        pytest.param(
            answer(b"HTTP/1.1 200 OK\r\nx: " + b"x" * 200_000), "no answer", id="long head"
        ),
        pytest.param(then_silence(), "no answer from .*ReadTimeout", id="silence before the head"),
    ],
)
async def test_what_ends_before_an_answer_began_is_a_failed_connection(
    behave: Behaviour, words: str
) -> None:
    problem = await failure(behave)
    assert type(problem) is ConnectionFailed
    assert (problem.provider, problem.status) == ("openai", None)
    with pytest.raises(ConnectionFailed, match=words):
        raise problem


@pytest.mark.parametrize(
    "behave",
    [
        pytest.param(then_reset(head("200 OK", "content-length: 900") + b'{"cho'), id="reset"),
        pytest.param(then_silence(head("200 OK", "content-length: 900") + b'{"cho'), id="silence"),
        pytest.param(
            answer(head("200 OK", "content-length: 900") + b'{"cho', close=True),
            id="less than its content-length",
        ),
        pytest.param(answer(head("200 OK", "content-length: 9") + STREAM), id="more than it"),
        pytest.param(answer(chunked(FIRST, end=False), close=True), id="chunked without an end"),
        pytest.param(answer(chunked(FIRST) + b"x", close=True), id="a stream without a finish"),
        pytest.param(answer(chunked(STREAM[:70])), id="a stream that ends in an event"),
        pytest.param(answer(head() + FIRST, close=True), id="a body that ends with the connection"),
        pytest.param(answer(head() + b'{"choices": [', close=True), id="a document likewise"),
        pytest.param(answer(whole(b"")), id="an empty body"),
        pytest.param(answer(whole(b"\r\n \r\n")), id="white space"),
        pytest.param(answer(whole(b": keep-alive\n\n")), id="comments only"),
        pytest.param(
            answer(head("200 OK", "transfer-encoding: chunked") + b"zz\r\n"), id="bad chunk"
        ),
    ],
)
async def test_what_ends_in_the_middle_of_an_answer_is_cut_off(behave: Behaviour) -> None:
    problem = await failure(behave)
    assert type(problem) is ResponseCut
    assert (problem.provider, problem.status) == ("openai", 200)
    assert "127.0.0.1" in str(problem)


@pytest.mark.parametrize("end", [then_reset, then_silence, answer])
async def test_what_goes_wrong_behind_done_costs_nothing(end: Callable[..., Behaviour]) -> None:
    """Some servers never close a stream that has said `[DONE]`."""
    exchange = await asked(end(chunked(STREAM, end=False)))
    assert exchange.reply.message.text == "Hello."


async def test_a_server_that_goes_on_behind_done_is_left() -> None:
    async def go_on(connection: Connection) -> None:
        await connection.send(head("200 OK", "transfer-encoding: chunked"))
        await connection.send_chunk(STREAM)
        while True:
            await connection.send_chunk(b": still here\n\n")
            await asyncio.sleep(0)

    settings = SETTINGS.model_copy(update={"closing_seconds": 0.05})
    exchange = await asked(go_on, settings=settings)
    assert exchange.reply.message.text == "Hello."


async def test_an_answer_that_drips_for_ever_is_given_up() -> None:
    settings = SETTINGS.model_copy(update={"request_seconds": 0.4})
    problem = await failure(drip(b": keep-alive\n\n"), settings=settings)
    assert type(problem) is ConnectionFailed
    assert "did not finish its answer within 0.4 s" in str(problem)
    assert (problem.provider, problem.status) == ("openai", 200)


@pytest.mark.parametrize(
    "behave",
    [
        pytest.param(drip(FIRST * 300), id="a stream without an end"),
        pytest.param(answer(whole(b"[" + b" " * 100_000)), id="a long document"),
        pytest.param(
            answer(whole(gzip.compress(b" " * 5_000_000), "200 OK", "content-encoding: gzip")),
            id="a packed one that is small",
        ),
    ],
)
async def test_more_than_an_answer_may_have_is_not_read(behave: Behaviour) -> None:
    problem = await failure(behave)
    assert type(problem) is BadResponse
    assert "larger than 100,000 bytes" in str(problem)


# ---- when something else comes back --------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "error", "words"),
    [
        (whole(b"<html>Sign in</html>"), BadResponse, r"127\.0\.0\.1.*HTML page.*Sign in"),
        (whole(b"ok"), BadResponse, "neither JSON nor an event stream came: 'ok'"),
        (whole(b"{}"), BadResponse, "holds no text"),
        (whole(b'{"choices": []}'), BadResponse, "holds no text"),
        (whole(b'{"message": "Hello."}'), BadResponse, "holds no text"),
        (whole(b'{"choices": [{"message": {"content": "\xff"}}]}'), BadResponse, "not UTF-8"),
        (whole(b"data: oops\n\n"), BadResponse, "not JSON"),
        (whole(b'"x"', "200 OK", "content-encoding: gzip"), BadResponse, "cannot be unpacked"),
        (head("204 No Content"), BadResponse, "HTTP 204 instead of an answer"),
        (whole(OK, "201 Created"), BadResponse, "HTTP 201"),
        (whole(b"", "304 Not Modified"), BadResponse, "HTTP 304"),
        (
            whole(b"", "302 Found", "location: https://other.example/login"),
            BadResponse,
            "HTTP 302 instead of an answer → other.example",
        ),
        (whole(b"", "302 Found", "location: http://["), BadResponse, "HTTP 302 .* an answer$"),
        (whole(b'{"error": {"message": "No.", "code": 400}}'), RequestRefused, "inside a 200: No."),
        (whole(events({"error": {"message": "No."}})), ServerFailed, "inside a 200: No."),
        (whole(b'[{"error": {"code": 429}}]'), RateLimited, "inside a 200"),
        (
            whole(b'{"error": {"message": "No."}}', "401 Unauthorized"),
            AuthError,
            r"^openai answered HTTP 401: No\.$",
        ),
        (whole(b"<html>Bad Gateway</html>", "502 Bad Gateway"), ServerFailed, "<html>Bad Gateway"),
        (whole(b"", "503 Service Unavailable"), ServerFailed, "HTTP 503: Service Unavailable"),
        (whole(b"\xff\xfe", "500 Internal"), ServerFailed, "HTTP 500"),
        (whole(b"x", "500 Internal", "content-encoding: gzip"), ServerFailed, "HTTP 500"),
        (whole(b"x" * 200_000, "500 Internal"), ServerFailed, "HTTP 500: xxx"),
        (whole(b"[]", "500 Internal"), ServerFailed, "HTTP 500"),
        (whole(b"null", "418 I'm a teapot"), RequestRefused, "HTTP 418: no reason given"),
    ],
)
async def test_what_is_not_an_answer_is_a_typed_error(
    response: bytes, error: type[LLMError], words: str
) -> None:
    problem = await failure(answer(response))
    assert type(problem) is error
    assert problem.provider == "openai"
    assert problem.status == int(response[9:12])
    with pytest.raises(error, match=words):
        raise problem


@pytest.mark.parametrize("end", [then_reset, then_silence, lambda b: answer(b, close=True)])
async def test_the_status_of_a_refusal_counts_even_if_its_body_is_broken(
    end: Callable[[bytes], Behaviour],
) -> None:
    start = head("429 Too Many Requests", "content-length: 90", "retry-after: 7") + b'{"err'
    problem = await failure(end(start))
    assert type(problem) is RateLimited
    assert (problem.status, problem.retry_after) == (429, 7.0)


async def test_a_redirect_is_not_followed_even_by_a_client_that_would() -> None:
    """On the way to another host, httpx takes off `authorization` but not `x-goog-api-key`."""
    async with serving(answer(OK)) as other:
        moved = answer(whole(b"", "307 Temporary Redirect", f"location: {other.url}/"))
        async with (
            serving(moved) as server,
            httpx.AsyncClient(trust_env=False, follow_redirects=True) as http,
        ):
            with pytest.raises(BadResponse, match="HTTP 307"):
                await Asker(http, server.url, gemini.ADAPTER).ask()
    assert other.requests == []


@pytest.mark.parametrize(
    "url", ["127.0.0.1:9", "", "ftp://127.0.0.1", "http://", "http://[::1", "http://127.0.0.1:port"]
)
async def test_an_address_that_is_none_is_a_setting_to_be_mended(url: str) -> None:
    async with asker(url) as client:
        with pytest.raises(ConfigError, match="is no address of a server"):
            await client.ask()


# ---- the key -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (whole(f'{{"error": {{"message": "bad key {KEY}"}}}}'.encode(), "401 No"), AuthError),
        (whole(f"<html>{KEY}</html>".encode(), "500 No"), ServerFailed),
        (whole(f"<html>{KEY}</html>".encode()), BadResponse),
        (whole(f"no {KEY}".encode()), BadResponse),
        (whole(f'{{"{KEY}"'.encode()), ResponseCut),
    ],
)
@pytest.mark.parametrize("adapter", [openai.ADAPTER, gemini.ADAPTER], ids=lambda a: a.name)
async def test_a_key_that_the_server_quotes_is_in_no_text_of_the_error(
    response: bytes, error: type[LLMError], adapter: Adapter
) -> None:
    problem = await failure(answer(response), adapter=adapter)
    assert type(problem) is error
    shown = "".join(traceback.format_exception(problem)) + problem.provider_text
    assert KEY not in shown
    assert REDACTED in shown


@pytest.mark.parametrize(
    "key", [KEY + "\n", " " + KEY, KEY + "\r\nx-evil: 1", KEY + "…", "“" + KEY + "”", KEY + "\x00"]
)
async def test_a_key_that_no_header_can_carry_is_found_before_anything_is_sent(key: str) -> None:
    async with serving(answer(OK)) as server, asker(server.url, key=key) as client:
        with pytest.raises(ConfigError, match="the API key holds") as caught:
            await client.ask()
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert server.requests == []


async def test_a_password_in_the_address_is_in_no_text_of_the_error() -> None:
    async with serving(then_reset()) as server:
        url = server.url.replace("http://", f"http://me:{KEY}@")
        async with asker(url) as client:
            with pytest.raises(ConnectionFailed) as caught:
                await client.ask()
    assert KEY not in str(caught.value)


# ---- the log -------------------------------------------------------------------------------


def exchange_in(folder: Path) -> dict[str, Any]:
    """The one exchange in the one file of a log."""
    (path,) = folder.iterdir()
    (exchange,) = read_log(path)
    return exchange


@pytest.mark.parametrize(
    ("behave", "status", "error"),
    [
        (answer(OK), 200, ""),
        (then_reset(), None, "ConnectionFailed: "),
        (answer(whole(f"no {KEY}".encode(), "401 No")), 401, "AuthError: "),
        (answer(whole(b"<html>A whole page</html>")), 200, "BadResponse: "),
        (then_reset(chunked(FIRST, end=False)), 200, "ResponseCut: "),
    ],
)
async def test_each_call_leaves_one_exchange_with_all_that_came_back(
    behave: Behaviour, status: int | None, error: str, tmp_path: Path
) -> None:
    problem = ""
    try:
        await asked(behave, log=RequestLog(tmp_path, Ambient()))
    except LLMError as caught:
        problem = f"{type(caught).__name__}: {caught}"
    exchange = exchange_in(tmp_path)
    assert (exchange["reply"]["status"], exchange["reply"]["error"]) == (status, problem)
    assert problem.startswith(error)
    assert KEY not in str(exchange)
    assert exchange["request"]["body"]["messages"] == [{"role": "user", "content": "Hi"}]
    said = {"": "Hello.", "BadResponse: ": "A whole page", "ResponseCut: ": "Hel"}
    assert said.get(error, "") in exchange["reply"]["body"]


async def test_the_request_stands_in_the_log_before_it_is_sent(tmp_path: Path) -> None:
    """A program that dies while it waits has left what it asked for."""
    seen: list[dict[str, Any]] = []

    async def look(_: httpx.Request) -> httpx.Response:
        seen.append(exchange_in(tmp_path))
        return httpx.Response(200, json=WHOLE)

    async with httpx.AsyncClient(transport=httpx.MockTransport(look)) as http:
        await Asker(http, "http://127.0.0.1:1", log=RequestLog(tmp_path, Ambient())).ask()
    assert seen[0]["request"]["body"]["messages"] == [{"role": "user", "content": "Hi"}]
    assert seen[0]["reply"] is None
    assert exchange_in(tmp_path)["id"] == seen[0]["id"]
    assert exchange_in(tmp_path)["reply"]["status"] == 200


async def test_a_log_that_cannot_be_written_costs_no_answer_and_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    in_its_place = tmp_path / "a file"
    in_its_place.write_text("", encoding="utf-8")
    log = RequestLog(in_its_place / "log", Ambient())
    with caplog.at_level(logging.WARNING):
        exchanges = [await asked(answer(OK), log=log) for _ in range(2)]
    assert [exchange.reply.message.text for exchange in exchanges] == ["Hello."] * 2
    assert caplog.text.count("cannot be written") == 1


# ---- leaving early -------------------------------------------------------------------------


async def test_cancelling_closes_the_connection_and_is_logged(tmp_path: Path) -> None:
    first_word = asyncio.Event()
    settings = SETTINGS.model_copy(update={"read_seconds": 600.0})
    async with (
        serving(then_silence(chunked(FIRST, end=False))) as server,
        asker(server.url, settings=settings, log=RequestLog(tmp_path, Ambient())) as client,
        asyncio.timeout(GUARD),
    ):
        asking = asyncio.create_task(client.ask(stream=True, on_delta=lambda _: first_word.set()))
        await first_word.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await server.client_left.wait()
    reply = exchange_in(tmp_path)["reply"]
    assert (reply["status"], reply["error"]) == (200, "CancelledError")
    assert "Hel" in reply["body"]


async def test_a_listener_that_fails_ends_the_call_and_closes_the_connection(
    tmp_path: Path,
) -> None:
    def fail(_: Delta) -> None:
        raise ZeroDivisionError("a fault of the listener")

    async with (
        serving(then_silence(chunked(FIRST, end=False))) as server,
        asker(server.url, log=RequestLog(tmp_path, Ambient())) as client,
        asyncio.timeout(GUARD),
    ):
        with pytest.raises(ZeroDivisionError):
            await client.ask(stream=True, on_delta=fail)
        await server.client_left.wait()
    assert exchange_in(tmp_path)["reply"]["error"] == "ZeroDivisionError: a fault of the listener"


async def test_a_deadline_around_the_call_is_the_callers_and_not_a_failure_of_the_wire() -> None:
    settings = SETTINGS.model_copy(update={"read_seconds": 600.0})
    async with serving(then_silence()) as server, asker(server.url, settings=settings) as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await client.ask()
