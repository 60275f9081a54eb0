"""Each trouble does what it is called, on both wires, in the process and over a socket."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach import Settings
from freya_teach.ambient import Ambient
from freya_teach.errors import (
    AuthError,
    BadResponse,
    ConfigError,
    ConnectionFailed,
    ContextOverflowError,
    FreyaError,
    ModelNotFound,
    QuotaExhausted,
    RateLimited,
    ResponseCut,
    ServerFailed,
)
from freya_teach.lab.gateway import Gateway, Move, Question, Trouble, answer, call, gateway
from freya_teach.lab.gateway.days import DAYS, troubles_of
from freya_teach.lab.gateway.faults import (
    chunked,
    connection_refused,
    content_filter,
    cut_stream,
    delayed,
    drop_after,
    error_in_stream,
    html_page,
    malformed_call,
    read_timeout,
    stall,
)
from freya_teach.lab.gateway.refusing import (
    bad_key,
    context_overflow,
    model_gone,
    overloaded,
    quota_exhausted,
    rate_limited,
    server_error,
)
from freya_teach.lab.gateway.server import serve
from freya_teach.llm.client import HttpModelClient
from freya_teach.llm.messages import user
from freya_teach.llm.protocol import ModelRequest, Reply, Route
from freya_teach.llm.proxy import ADAPTERS
from freya_teach.tools.tool import tool
from tests import recordings

WIRES = pytest.mark.parametrize("wire", ["openai", "gemini"])
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
PLACES = pytest.mark.parametrize("place", ["in the process", "over a socket"])
MODELS = {"openai": "gpt-5.6-terra", "gemini": "gemini-3.8-flash"}
PATHS = {
    "openai": "/v1/chat/completions",
    "gemini": "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
}
BODIES: dict[str, Any] = {
    "openai": {
        "model": MODELS["openai"],
        "stream": True,
        "messages": [{"role": "user", "content": "Hi?"}],
    },
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hi?"}]}]},
}
WORDS = "The weather in Zürich is as good as it was on each day of the week before."


@tool
def one() -> str:
    """Do one thing."""
    return "done"


class Door(NamedTuple):
    """A client, and the address at which it finds a gateway."""

    http: httpx.AsyncClient
    url: str


@asynccontextmanager
async def opened(asked: Gateway, place: str) -> AsyncIterator[Door]:
    """A gateway in this process, or one behind a real socket."""
    if place == "in the process":
        async with asked.client() as http:
            yield Door(http, "http://gateway.test")
        return
    async with serve(asked) as here, httpx.AsyncClient(trust_env=False) as http:
        yield Door(http, here.url)


def says(_: Question) -> Move:
    return answer(WORDS)


async def ask(door: Door, wire: str, *, stream: bool) -> Reply:
    """Ask once, without any retry. A client that hangs fails the test."""
    route = Route(wire, MODELS[wire], door.url)
    client = HttpModelClient(
        door.http, ADAPTERS[wire], route, Settings(read_seconds=0.2), Ambient()
    )
    async with asyncio.timeout(30):
        return (await client.complete(ModelRequest((user("Hi?"),), (one.spec,), stream))).reply


async def failure(trouble: Trouble, wire: str, *, stream: bool, place: str) -> FreyaError:
    """What the kernel makes of this trouble."""
    async with opened(gateway(says, troubles=[trouble]), place) as door:
        with pytest.raises(FreyaError) as caught:
            await ask(door, wire, stream=stream)
    return caught.value


# ---- what the kernel makes of each ---------------------------------------------------------

FAILS: dict[str, tuple[Callable[[], Trouble], type[FreyaError]]] = {
    "rate_limited": (lambda: rate_limited(retry_after=2), RateLimited),
    "quota_exhausted": (quota_exhausted, QuotaExhausted),
    "server_error": (server_error, ServerFailed),
    "overloaded": (overloaded, ServerFailed),
    "bad_key": (bad_key, AuthError),
    "model_gone": (model_gone, ModelNotFound),
    "context_overflow": (context_overflow, ContextOverflowError),
    "error_in_stream": (error_in_stream, ServerFailed),
    "html_page": (lambda: html_page(200), BadResponse),
    "connection_refused": (connection_refused, ConnectionFailed),
    "read_timeout": (read_timeout, ConnectionFailed),
    "drop_after": (lambda: drop_after(30), ResponseCut),
}


@PLACES
@STREAMS
@WIRES
@pytest.mark.parametrize("name", FAILS)
async def test_a_trouble_is_the_error_that_it_stands_for(
    name: str, wire: str, place: str, *, stream: bool
) -> None:
    make, error = FAILS[name]
    caught = await failure(make(), wire, stream=stream, place=place)
    assert type(caught) is error


@PLACES
@WIRES
async def test_a_cut_stream_ends_in_good_order_and_without_a_finish(wire: str, place: str) -> None:
    for events in (None, 0, 1):
        caught = await failure(cut_stream(events), wire, stream=True, place=place)
        assert isinstance(caught, BadResponse)
    caught = await failure(cut_stream(), wire, stream=False, place=place)
    assert isinstance(caught, BadResponse)


@PLACES
@STREAMS
@WIRES
async def test_a_filter_stops_the_answer_before_its_first_word(
    wire: str, place: str, *, stream: bool
) -> None:
    async with opened(gateway(says, troubles=[content_filter()]), place) as door:
        reply = await ask(door, wire, stream=stream)
    assert (reply.finish_reason, reply.message.text) == ("content_filter", "")


@STREAMS
async def test_a_malformed_call_is_text_on_openais_wire_and_a_reason_on_geminis(
    *, stream: bool
) -> None:
    asked = gateway(lambda _: call("one"), troubles=[malformed_call()])
    async with opened(asked, "in the process") as door:
        reply = await ask(door, "openai", stream=stream)
        with pytest.raises(json.JSONDecodeError):
            json.loads(reply.message.tool_calls[0].arguments)
        reply = await ask(door, "gemini", stream=stream)
        assert reply.raw_finish_reason == "MALFORMED_FUNCTION_CALL"


@STREAMS
@WIRES
async def test_a_turn_without_calls_has_none_that_could_be_malformed(
    wire: str, *, stream: bool
) -> None:
    asked = gateway(says, troubles=[malformed_call()])
    async with opened(asked, "in the process") as door:
        assert (await ask(door, wire, stream=stream)).message.text == WORDS


@PLACES
@STREAMS
@WIRES
async def test_what_comes_late_or_in_small_pieces_is_the_same_answer(
    wire: str, place: str, *, stream: bool
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    troubles = [delayed(3, sleep), chunked(1), stall(25, 60, sleep)]
    async with opened(gateway(says, troubles=troubles), place) as door:
        assert (await ask(door, wire, stream=stream)).message.text == WORDS
    assert slept == [3, 60]


@pytest.mark.parametrize(
    "trouble", [cut_stream(), error_in_stream(), malformed_call(), content_filter()]
)
async def test_what_spoils_an_answer_leaves_a_refusal_as_it_is(trouble: Trouble) -> None:
    async with gateway(says, troubles=[trouble]).client() as http:
        response = await http.post(f"http://g.test{PATHS['openai']}", json={"messages": []})
    assert response.status_code == 400
    assert response.json()["error"]["message"] == "you must provide a model parameter"


async def test_a_list_of_models_is_of_the_wire_that_its_address_tells() -> None:
    troubles = [content_filter(), overloaded().on(wire="gemini")]
    async with gateway(says, troubles=troubles).client() as http:
        openai = await http.get("http://g.test/v1/models")
        gemini = await http.get("http://g.test/v1beta/models")
    assert openai.json()["object"] == "list"
    assert gemini.json()["error"]["status"] == "UNAVAILABLE"


# ---- the hints of a 429 --------------------------------------------------------------------


@WIRES
@pytest.mark.parametrize(
    ("trouble", "seconds"),
    [
        (rate_limited(retry_after=2), 2),
        (rate_limited(retry_after_ms=1500), 1.5),
        (rate_limited(retry_after=9, retry_after_ms=250), 0.25),
        (rate_limited(), None),
    ],
    ids=["seconds", "milliseconds", "both", "none"],
)
async def test_a_429_hints_at_the_delay_in_the_way_of_its_provider(
    trouble: Trouble, seconds: float | None, wire: str
) -> None:
    caught = await failure(trouble, wire, stream=False, place="in the process")
    assert isinstance(caught, RateLimited)
    assert caught.retry_after == seconds


async def test_openai_hints_in_headers_and_gemini_in_the_body() -> None:
    async with gateway(says, troubles=[rate_limited(2, 1500)]).client() as http:
        openai = await http.post(f"http://g.test{PATHS['openai']}", json=BODIES["openai"])
        gemini = await http.post(f"http://g.test{PATHS['gemini']}", json=BODIES["gemini"])
    assert (openai.headers["retry-after"], openai.headers["retry-after-ms"]) == ("2", "1500")
    assert not {"retry-after", "retry-after-ms"} & set(gemini.headers)
    retry = gemini.json()["error"]["details"][-1]
    assert retry == {
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": "1.5s",
    }


GONE = re.compile(r"is not found for API version|The model `[\w-]+` does not exist")


@recordings.each(
    lambda r: r.status == 404 and r.provider in MODELS and bool(GONE.search(str(r.body)))
)
async def test_a_model_that_is_gone_is_told_in_the_recorded_words(recording: Any) -> None:
    async with gateway(says, troubles=[model_gone()]).client() as http:
        sent = recording.request
        response = await http.post(sent["url"], json=sent["body"])
    assert response.status_code == recording.status
    assert response.json() == recording.body


# ---- bytes ---------------------------------------------------------------------------------


async def body_of(wire: str, *troubles: Trouble) -> tuple[list[bytes], httpx.TransportError | None]:
    """The pieces in which a stream arrives, and how it broke, if it did."""
    pieces: list[bytes] = []
    take = pieces.append
    async with gateway(says, troubles=troubles).client() as http:
        try:
            async with http.stream(
                "POST", f"http://g.test{PATHS[wire]}", json=BODIES[wire]
            ) as response:
                async for piece in response.aiter_raw():
                    take(piece)
        except httpx.TransportError as broken:
            return pieces, broken
    return pieces, None


@WIRES
@settings(max_examples=50)
@given(size=st.integers(0, 1200))
async def test_a_dropped_body_is_the_first_bytes_of_the_whole(wire: str, size: int) -> None:
    whole = b"".join((await body_of(wire))[0])
    pieces, broken = await body_of(wire, drop_after(size))
    assert b"".join(pieces) == whole[:size]
    assert (broken is not None) == (size < len(whole))


@WIRES
@settings(max_examples=50)
@given(size=st.integers(1, 400))
async def test_no_piece_is_larger_than_was_said_and_none_is_lost(wire: str, size: int) -> None:
    whole = b"".join((await body_of(wire))[0])
    pieces, broken = await body_of(wire, chunked(size))
    assert broken is None
    assert b"".join(pieces) == whole
    assert all(0 < len(piece) <= size for piece in pieces)


@WIRES
@settings(max_examples=50)
@given(size=st.integers(1, 400), dropped=st.integers(0, 1200))
async def test_troubles_add_up(wire: str, size: int, dropped: int) -> None:
    whole = b"".join((await body_of(wire))[0])
    pieces, _ = await body_of(wire, chunked(size), drop_after(dropped))
    assert b"".join(pieces) == whole[:dropped]
    assert all(len(piece) <= size for piece in pieces)


# ---- whom it strikes -----------------------------------------------------------------------


async def statuses(troubles: list[Trouble], wires: list[str]) -> list[int]:
    async with gateway(says, troubles=troubles).client() as http:
        return [
            (await http.post(f"http://g.test{PATHS[w]}", json=BODIES[w])).status_code for w in wires
        ]


async def test_a_trouble_strikes_the_requests_of_its_numbers() -> None:
    troubles = [server_error().on(1, 3), overloaded().on(2)]
    assert await statuses(troubles, ["openai"] * 4) == [500, 503, 500, 200]


async def test_numbers_count_the_requests_of_the_wire_and_the_model_that_are_named() -> None:
    both = ["openai", "gemini", "gemini", "openai", "gemini"]
    assert await statuses([overloaded().on(2, wire="gemini")], both) == [200, 200, 503, 200, 200]
    assert await statuses([overloaded().on(1, model=MODELS["gemini"])], both) == [
        200,
        503,
        200,
        200,
        200,
    ]
    assert await statuses([overloaded().on(wire="openai")], both) == [503, 200, 200, 503, 200]
    assert await statuses([overloaded().on(model="another")], both) == [200] * 5


async def test_the_first_trouble_of_a_list_is_nearest_to_the_client() -> None:
    assert await statuses([overloaded(), server_error()], ["openai"]) == [503]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"model": 7}'])
async def test_a_request_that_is_none_meets_the_trouble_all_the_same(body: bytes) -> None:
    async with gateway(says, troubles=[overloaded()]).client() as http:
        response = await http.post(f"http://g.test{PATHS['openai']}", content=body)
    assert response.status_code == 503


# ---- days ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DAYS)
async def test_a_day_has_troubles_and_says_what_they_do(name: str) -> None:
    assert troubles_of(name)
    assert DAYS[name].about


async def test_a_flaky_day_gets_better() -> None:
    async with gateway(says, troubles=troubles_of("flaky")).client() as http:
        url = f"http://g.test{PATHS['openai']}"
        assert (await http.post(url, json=BODIES["openai"])).status_code == 500
        with pytest.raises(httpx.RemoteProtocolError):
            await http.post(url, json=BODIES["openai"])
        assert (await http.post(url, json=BODIES["openai"])).status_code == 200


def test_a_day_that_there_is_not_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"no trouble called 'flacky'; there are:\n  flaky: "):
        troubles_of("flacky")
