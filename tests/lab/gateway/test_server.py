"""The gateway on a real socket: pieces leave at once, connections break, and nothing hangs."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from freya_teach import Settings, build_kernel
from freya_teach.errors import ConfigError
from freya_teach.lab.demo import QUESTION
from freya_teach.lab.gateway import Move, Question, Refused, answer, gateway
from freya_teach.lab.gateway.faults import (
    connection_refused,
    drop_after,
    html_page,
    read_timeout,
    stall,
)
from freya_teach.lab.gateway.server import LOOPBACK, Serving, is_loopback, serve
from freya_teach.lab.policy import assistant
from freya_teach.lab.sample_tools import calculate, get_current_weather

GUARD = 30
CHAT = "/v1/chat/completions"


def chat(text: str, *, stream: bool = False) -> dict[str, Any]:
    """Return a request of OpenAI's wire."""
    messages = [{"role": "user", "content": text}]
    return {"model": "gpt-5.6-terra", "messages": messages, "stream": stream}


def echo(question: Question) -> Move:
    return answer(f"You said {question.asked}")


@asynccontextmanager
async def asking(here: Serving) -> AsyncIterator[httpx.AsyncClient]:
    """Ask the server; whatever hangs fails the test."""
    async with asyncio.timeout(GUARD), httpx.AsyncClient(base_url=here.url, trust_env=False) as c:
        yield c


# ---- it is the same gateway ----------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("wire", ["openai", "gemini"])
async def test_the_kernel_does_the_task_with_two_tools_over_a_socket(
    wire: str, *, stream: bool
) -> None:
    asked = gateway(assistant)
    async with serve(asked) as here, asking(here) as http:
        settings = Settings(provider=wire, base_url=here.url, stream=stream)
        agent = build_kernel(settings, http).agent([get_current_weather, calculate])
        result = await agent.run(QUESTION)
    assert str(result) == "In Beijing: sunny, 15 °C. The calculation gives 120."
    assert [len(question.results) for question in asked.asked] == [0, 2]


async def test_what_a_server_sends_is_what_a_client_in_the_process_gets() -> None:
    for stream in (False, True):
        body = chat("Grüße, 你好 🌦", stream=stream)
        async with serve(gateway(echo)) as here, asking(here) as http:
            over_a_socket = await http.post(CHAT, json=body)
        async with gateway(echo).client() as http:
            inside = await http.post(f"http://gateway.test{CHAT}", json=body)
        assert over_a_socket.content == inside.content
        assert over_a_socket.headers["content-type"] == inside.headers["content-type"]


async def test_fifty_clients_at_once_get_their_own_answers() -> None:
    async with serve(gateway(echo)) as here, asking(here) as http:
        responses = await asyncio.gather(*(http.post(CHAT, json=chat(str(n))) for n in range(50)))
    texts = [response.json()["choices"][0]["message"]["content"] for response in responses]
    assert texts == [f"You said {n}" for n in range(50)]


async def test_a_refusal_and_a_page_come_with_their_status_and_headers() -> None:
    def no(_: Question, __: Any) -> None:
        raise Refused(418, {"error": {"message": "No."}})

    async with serve(gateway(echo, [no])) as here, asking(here) as http:
        refused = await http.post(CHAT, json=chat("Hi?"))
        unknown = await http.get("/")
    assert (refused.status_code, refused.json()) == (418, {"error": {"message": "No."}})
    assert unknown.json()["error"]["message"] == "Invalid URL (GET /)"
    async with serve(gateway(echo, troubles=[html_page(502)])) as here, asking(here) as http:
        page = await http.post(CHAT, json=chat("Hi?"))
    assert (page.status_code, page.headers["content-type"]) == (502, "text/html")


async def test_a_policy_that_fails_is_told_to_the_client_and_the_server_lives() -> None:
    said: list[str] = []

    def fails_once(question: Question) -> Move:
        if question.asked == "Fail.":
            raise ZeroDivisionError("a bug of yours")
        return echo(question)

    async with serve(gateway(fails_once), log=said.append) as here, asking(here) as http:
        broken = await http.post(CHAT, json=chat("Fail."))
        whole = await http.post(CHAT, json=chat("Hi?"))
    assert broken.status_code == 500
    expected = "The gateway failed. ZeroDivisionError: a bug of yours"
    assert broken.json()["error"]["message"] == expected
    assert whole.status_code == 200
    assert said == [f"POST {CHAT}  500  {expected}", f"POST {CHAT}  200"]


# ---- pieces and broken connections ---------------------------------------------------------


async def test_a_piece_arrives_while_the_next_is_not_made_yet() -> None:
    go_on = asyncio.Event()

    async def held(_: float) -> None:
        await go_on.wait()

    asked = gateway(echo, troubles=[stall(40, 60, held)])
    async with (
        serve(asked) as here,
        asking(here) as http,
        http.stream("POST", CHAT, json=chat("Hi?", stream=True)) as response,
    ):
        pieces = response.aiter_raw()
        first = await anext(pieces)
        assert first.startswith(b"data: ")
        assert len(first) == 40
        go_on.set()
        rest = b"".join([piece async for piece in pieces])
    assert (first + rest).endswith(b"data: [DONE]\n\n")


async def raw(here: Serving, body: dict[str, Any]) -> bytes:
    """Every byte that comes back until the server closes the connection."""
    reader, writer = await asyncio.open_connection(LOOPBACK, int(here.url.rpartition(":")[2]))
    content = json.dumps(body).encode()
    writer.write(b"POST %b HTTP/1.1\r\nhost: gateway\r\n" % CHAT.encode())
    writer.write(b"content-length: %d\r\n\r\n%b" % (len(content), content))
    async with asyncio.timeout(GUARD):
        came = await reader.read()
    writer.close()
    await writer.wait_closed()
    return came


async def test_a_dropped_answer_is_a_connection_that_ends_before_the_promised_length() -> None:
    async with serve(gateway(echo, troubles=[drop_after(10)])) as here:
        head, _, body = (await raw(here, chat("Hi?"))).partition(b"\r\n\r\n")
        assert body == b'{"id": "ch'
        assert b"content-length: 3" in head.lower()  # three hundred and some
        came = await raw(here, chat("Hi?", stream=True))
        assert came.endswith(b'\r\na\r\ndata: {"id\r\n')
        assert b"\r\n0\r\n" not in came


async def test_a_refused_connection_is_one_that_is_closed_without_a_word() -> None:
    async with serve(gateway(echo, troubles=[connection_refused()])) as here:
        assert await raw(here, chat("Hi?")) == b""


async def test_the_server_stops_while_a_client_still_waits() -> None:
    said: list[str] = []
    waiting = asyncio.Event()

    def log(line: str) -> None:
        said.append(line)
        waiting.set()

    async with asyncio.timeout(GUARD):
        async with serve(gateway(echo, troubles=[read_timeout()]), log=log) as here:
            client = asyncio.create_task(raw(here, chat("Hi?")))
            await waiting.wait()
        assert await client == b""
    assert said == [f"POST {CHAT}  left waiting"]


async def test_a_client_that_leaves_ends_what_was_made_for_it() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def for_ever(_: float) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with serve(gateway(echo, troubles=[stall(40, 60, for_ever)])) as here:
        async with asking(here) as http:
            asking_task = asyncio.create_task(http.post(CHAT, json=chat("Hi?", stream=True)))
            await begun.wait()
            asking_task.cancel()
        async with asyncio.timeout(GUARD):
            await ended.wait()


# ---- where it listens ----------------------------------------------------------------------


async def test_it_listens_on_this_machine_only_unless_told_otherwise() -> None:
    async with serve(gateway(echo)) as here:
        assert here.url.startswith("http://127.0.0.1:")
        assert here.openai == f"{here.url}/v1"
        assert here.gemini == here.url


async def test_a_port_that_is_taken_is_an_error_that_says_what_to_do() -> None:
    async with serve(gateway(echo)) as here:
        port = int(here.url.rpartition(":")[2])
        with pytest.raises(ConfigError, match=rf"127\.0\.0\.1, port {port}: .*Choose another"):
            async with serve(gateway(echo), port):
                pass
    async with serve(gateway(echo), port) as again:
        assert again.url == here.url


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "no..name", ""])
async def test_a_host_that_is_not_this_machine_is_told_and_no_port_is_blamed(host: str) -> None:
    with pytest.raises(ConfigError, match=r"that is no address of this machine") as told:
        async with serve(gateway(echo), 8080, host=host):
            pass
    assert str(told.value).startswith(f"the gateway cannot listen on {host or 'an empty host'}: ")
    assert "port" not in str(told.value)


@pytest.mark.skipif(not socket.has_ipv6, reason="this Python has no IPv6")
async def test_an_address_with_colons_stands_in_brackets() -> None:
    try:
        async with serve(gateway(echo), host="::1") as here, asking(here) as http:
            assert here.url.startswith("http://[::1]:")
            assert (await http.post(CHAT, json=chat("Hi?"))).status_code == 200
    except ConfigError:
        pytest.skip("this machine has no IPv6 loopback")


@pytest.mark.parametrize(
    ("host", "only_here"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),  # noqa: S104 - named, not listened on
        ("::", False),
        ("", False),
        ("example.org", False),
    ],
)
def test_it_is_known_which_addresses_only_this_machine_can_reach(
    host: str, *, only_here: bool
) -> None:
    assert is_loopback(host) is only_here
