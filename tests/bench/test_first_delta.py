"""How soon the first piece of an answer is handed on, against a bare httpx stream loop.

    request → [ server ] → first piece of text, in the hands of whoever shows it

Both ask the same server for the same answer, with the same tools, over a connection that is open
already; then the rest is read, which is not measured. The bare loop checks nothing. It is wall
time, since waiting counts for whoever waits. The server sends a word every few milliseconds. It is
judged with a server that thinks for 2 ms, a small part of what any model needs; the row without
thinking shows what is ours.
"""

import gc
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing

import httpx
import pytest

from freya_teach import Settings, build_kernel
from freya_teach.events import TextDelta
from tests.bench import client_process as bare
from tests.bench.conftest import program
from tests.bench.loopback_server import FINAL_TEXT
from tests.bench.pairs import HEADING, Pairs

PAIRS = 101
AIMS = {2: 1.2, 0: None}
"""Milliseconds that the server thinks → how often the time of the bare loop."""
BETWEEN = 3
"""Milliseconds between two words."""
MODEL = {"openai": "script", "gemini": "gemini-script"}

Ask = Callable[[], AsyncGenerator[str, None]]


def bare_openai(http: httpx.AsyncClient, address: str) -> Ask:
    """Yield the texts of a streamed answer on OpenAI's wire."""
    url, headers = f"{address}/v1/chat/completions", {"authorization": f"Bearer {bare.KEY}"}

    async def ask() -> AsyncGenerator[str, None]:
        messages = [
            {"role": "system", "content": bare.INSTRUCTIONS},
            {"role": "user", "content": bare.QUESTION},
        ]
        body: bare.Json = {"model": "script", "messages": messages, "tools": bare.OPENAI_TOOLS}
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        async for chunk in bare.events(http, url, headers, body):
            for choice in chunk["choices"]:
                if text := choice["delta"].get("content"):
                    yield text

    return ask


def bare_gemini(http: httpx.AsyncClient, address: str) -> Ask:
    """Yield the texts of a streamed answer on Gemini's wire."""
    url = f"{address}/v1beta/models/gemini-script:streamGenerateContent?alt=sse"

    async def ask() -> AsyncGenerator[str, None]:
        body = {
            "contents": [{"role": "user", "parts": [{"text": bare.QUESTION}]}],
            "systemInstruction": {"parts": [{"text": bare.INSTRUCTIONS}]},
            "tools": bare.GEMINI_TOOLS,
        }
        async for chunk in bare.events(http, url, {"x-goog-api-key": bare.KEY}, body):
            for part in chunk["candidates"][0]["content"]["parts"]:
                if part.get("text"):
                    yield part["text"]

    return ask


def ours(http: httpx.AsyncClient, address: str, wire: str) -> Ask:
    """Yield the texts that an agent tells of."""
    settings = Settings(
        provider=wire, model=MODEL[wire], base_url=address, api_key=bare.KEY, stream=True
    )
    agent = build_kernel(settings, http).agent(bare.TOOLS.values(), instructions=bare.INSTRUCTIONS)

    async def ask() -> AsyncGenerator[str, None]:
        async for event in agent.stream(bare.QUESTION):
            if isinstance(event, TextDelta):
                yield event.text

    return ask


async def first_piece(ask: Ask) -> float:
    """Seconds to the first piece. Raises unless the whole answer came after it."""
    started = time.perf_counter()
    async with aclosing(ask()) as texts:
        said = await anext(texts)
        seconds = time.perf_counter() - started
        said += "".join([text async for text in texts])
    assert said == FINAL_TEXT
    return seconds


@pytest.fixture(scope="module")
def paced_address() -> Iterator[str]:
    with program("paced_server.py") as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()


@pytest.fixture
def without_gc() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.bench
@pytest.mark.usefixtures("without_gc")
@pytest.mark.parametrize("thinking", AIMS)
@pytest.mark.parametrize("wire", ["openai", "gemini"])
async def test_the_first_piece_is_handed_on_almost_as_soon_as_by_a_bare_loop(
    paced_address: str, report: dict[str, list[str]], wire: str, thinking: int
) -> None:
    address = f"{paced_address}/{thinking}/{BETWEEN}"
    bare_loop = {"openai": bare_openai, "gemini": bare_gemini}[wire]
    async with (
        httpx.AsyncClient(trust_env=False) as first,
        httpx.AsyncClient(trust_env=False) as second,
    ):
        base, agent = bare_loop(first, address), ours(second, address, wire)
        for _ in range(5):
            await first_piece(base), await first_piece(agent)
        samples = [(await first_piece(base), await first_piece(agent)) for _ in range(PAIRS)]
    pairs = Pairs(*(list(side) for side in zip(*samples, strict=True)))
    heading = f"Time to the first piece of text\n{HEADING.replace('CPU,', 'wall')}"
    aim = AIMS[thinking]
    row = pairs.row(f"{wire}, after {thinking} ms of thinking", aim)
    report.setdefault(heading, []).append(row)
    assert aim is None or pairs.ratio <= aim
