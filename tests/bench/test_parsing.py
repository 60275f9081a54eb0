"""What it costs to read a stream and to write a history, against the plainest code there is."""

import gc
import json
import time
from collections.abc import Callable, Iterator

import pytest

from freya_teach.llm import gemini, openai
from freya_teach.llm.messages import Message, ToolCall, ToolMessage, assistant, system, user
from freya_teach.llm.protocol import ModelRequest, Route, WireRequest
from freya_teach.llm.sse import EventDecoder
from tests.bench.pairs import HEADING, measure

PAIRS = 11
NETWORK_READ = 16_384
SPLIT_AIM, DUMPS_AIM, GROWTH_AIM = 4.0, 2.0, 15.0

CHUNK = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1700000000,
    "model": "some-model",
    "choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": None}],
}
"""A chunk of about the size that servers send for each token."""


@pytest.fixture(autouse=True)
def without_gc() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def cpu_seconds(action: Callable[[], object]) -> float:
    """CPU time of one run."""
    start = time.process_time()
    action()
    return time.process_time() - start


@pytest.mark.bench
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_events_are_found_at_a_quarter_of_the_speed_of_a_plain_split(
    report: dict[str, list[str]], end: str
) -> None:
    stream = f"data: {json.dumps(CHUNK)}{end}{end}".encode() * 20_000
    reads = [stream[at : at + NETWORK_READ] for at in range(0, len(stream), NETWORK_READ)]

    def split() -> None:
        for read in reads:
            read.split(b"\n")

    def decode() -> None:
        decoder = EventDecoder()
        for read in reads:
            decoder.feed(read)
        decoder.end()

    pairs = measure(lambda: cpu_seconds(split), lambda: cpu_seconds(decode), pairs=PAIRS, repeats=3)
    rows = report.setdefault(f"Events in 16 KB reads, against bytes.split\n{HEADING}", [])
    rows.append(pairs.row(f"20,000 events, lines end in {end!r}", SPLIT_AIM))
    assert pairs.ratio <= SPLIT_AIM


def history(size: int) -> list[Message]:
    """So many messages, half of them calls and their results."""
    messages: list[Message] = [system("You are a helpful assistant.")]
    for number in range(size // 4):
        call = ToolCall(f"call_{number}", "get_weather", f'{{"city": "Beijing", "day": {number}}}')
        messages += [user(f"What is the weather on day {number}?"), assistant(call)]
        messages += [ToolMessage(call.id, f"Day {number}: sunny, 21 degrees, light wind.")]
        messages += [assistant(f"On day {number} it is sunny, at 21 degrees.")]
    return messages[:size]


ROUTES = {
    "openai": (openai, Route("openai", "gpt-5", "http://localhost")),
    "gemini": (gemini, Route("gemini", "gemini-3-pro", "http://localhost")),
}
WIRES = pytest.mark.parametrize("wire", ROUTES)
BUILDING = f"A history in a provider's form, against\n{HEADING}"


def build(messages: list[Message], wire: str) -> Callable[[], WireRequest]:
    """Return a function that writes this history in the wire's form, all of it anew."""
    request = ModelRequest(tuple(messages))
    adapter, route = ROUTES[wire]
    return lambda: adapter.build_request(request, route)


@pytest.mark.bench
@WIRES
def test_a_long_history_is_built_in_twice_the_time_of_writing_its_json(
    report: dict[str, list[str]], wire: str
) -> None:
    ours = build(history(10_000), wire)
    body = json.loads(ours().body)
    pairs = measure(
        lambda: cpu_seconds(lambda: json.dumps(body)), lambda: cpu_seconds(ours), pairs=PAIRS
    )
    rows = report.setdefault(BUILDING, [])
    rows.append(pairs.row(f"{wire}, 10,000, json.dumps of them", DUMPS_AIM))
    assert pairs.ratio <= DUMPS_AIM


@pytest.mark.bench
@WIRES
def test_the_cost_of_a_history_grows_with_its_length_and_no_faster(
    report: dict[str, list[str]], wire: str
) -> None:
    short, long = build(history(1_000), wire), build(history(10_000), wire)
    pairs = measure(lambda: cpu_seconds(short), lambda: cpu_seconds(long), pairs=PAIRS)
    rows = report.setdefault(BUILDING, [])
    rows.append(pairs.row(f"{wire}, 10,000, 1,000 of them", GROWTH_AIM))
    assert pairs.ratio <= GROWTH_AIM
