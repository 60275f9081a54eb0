"""Whatever comes over the wire: a result or a typed error, in bounded time and memory."""

import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freya_teach.errors import (
    BadResponse,
    FreyaError,
    ProviderError,
    TranscriptError,
    UnsupportedContent,
)
from freya_teach.lab.understand import HttpExchange, as_json, read_reply, understand
from freya_teach.llm import gemini, gemini_messages, openai, openai_messages
from freya_teach.llm.assembler import Assembler
from freya_teach.llm.protocol import Adapter, ModelRequest, Reply, Route
from freya_teach.llm.sse import parse_json
from tests import recordings
from tests.strategies import ANY_TEXT, cuts, json_values, mutations

ADAPTERS = {"openai": openai.ADAPTER, "gemini": gemini.ADAPTER}
READERS = {"openai": openai_messages.read_request, "gemini": gemini_messages.read_request}
WIRES = pytest.mark.parametrize("wire", ADAPTERS)
EXAMPLES = pytest.mark.parametrize(
    "examples", [100, pytest.param(2_000, marks=pytest.mark.soak)], ids="{} examples".format
)

RECORDED = [r for r in recordings.load() if r.is_model_call and len(r.raw) <= 8192]
RECORDED_REQUESTS = {
    wire: [
        r.request["body"]
        for r in recordings.load()
        if r.provider_wire == wire and len(json.dumps(r.request["body"])) <= 8192
    ]
    for wire in ADAPTERS
}
needs_recordings = pytest.mark.skipif(
    not RECORDED, reason=f"there are no recordings in {recordings.FOLDER}"
)


def hold(examples: int, check: Callable[..., None], **drawn: st.SearchStrategy[Any]) -> None:
    """Check a property on so many examples."""
    settings(max_examples=examples)(given(**drawn)(check))()


def reply_or_error(adapter: Adapter, pieces: list[bytes]) -> Reply | FreyaError:
    """What came of a body; an exception that is not ours goes through and fails the test."""
    try:
        return read_reply(adapter, pieces)
    except FreyaError as problem:
        return problem


# ---- bodies --------------------------------------------------------------------------------

WORDS = st.sampled_from(
    [
        *[b"data:", b"data: ", b"event: error", b": comment", b"id: 1", b"retry: 5", b"[DONE]"],
        *[b"\n", b"\n\n", b"\r\n", b"\r", b"\xef\xbb\xbf", b"\xef", b"\x00", b"\xff", b" "],
        *[b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"NaN", b"1e999", b"9" * 5000],
        *[b'{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}', b"<html>"],
        *[b'{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}'],
        *[b'{"error":{"message":"no"}}', b'"\\ud800"', "京\u2028".encode()],
    ]
)
ANY_BODY = st.binary(max_size=200) | st.lists(WORDS, max_size=12).map(b"".join)


@WIRES
@EXAMPLES
def test_any_bytes_in_any_pieces_are_a_reply_or_a_typed_error(wire: str, examples: int) -> None:
    def check(body: bytes, at: st.DataObject) -> None:
        assert isinstance(reply_or_error(ADAPTERS[wire], at.draw(cuts(body))), Reply | FreyaError)

    hold(examples, check, body=ANY_BODY, at=st.data())


@pytest.mark.parametrize(
    "start", [b" \xef\xbb\xbf", b"\xef\xbb\xbf\xef\xbb\xbf", b"\n\xef\xbb\xbf\n"]
)
def test_what_may_stand_before_a_body_is_the_same_wherever_it_is_cut(start: bytes) -> None:
    body = start + b'{"choices":[{"index":0,"message":{"content":"hi"}}]}'
    whole = reply_or_error(openai.ADAPTER, [body])
    assert isinstance(whole, Reply)
    for at in range(len(body)):
        assert reply_or_error(openai.ADAPTER, [body[:at], body[at:]]) == whole


@st.composite
def damaged(draw: st.DrawFn, bodies: list[bytes]) -> bytes:
    """One of the bodies with some bytes changed, lost, repeated or put in, or two joined."""
    body = draw(st.sampled_from(bodies))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(body)))
        end = min(len(body), start + draw(st.integers(0, 40)))
        match draw(st.sampled_from(["flip", "delete", "double", "insert", "splice"])):
            case "flip" if start < len(body):
                flipped = bytes([body[start] ^ (1 << draw(st.integers(0, 7)))])
                body = body[:start] + flipped + body[start + 1 :]
            case "delete":
                body = body[:start] + body[end:]
            case "double":
                body = body[:end] + body[start:]
            case "insert":
                body = body[:start] + draw(st.binary(max_size=4) | WORDS) + body[start:]
            case "splice":
                other = draw(st.sampled_from(bodies))
                body = body[:start] + other[draw(st.integers(0, len(other))) :]
    return body


@needs_recordings
@WIRES
@EXAMPLES
def test_a_damaged_recording_is_a_reply_or_a_typed_error(wire: str, examples: int) -> None:
    def check(body: bytes, at: st.DataObject) -> None:
        pieces = at.draw(cuts(body))
        assert isinstance(reply_or_error(ADAPTERS[wire], pieces), Reply | FreyaError)

    hold(examples, check, body=damaged([r.raw for r in RECORDED]), at=st.data())


# ---- chunks --------------------------------------------------------------------------------


def assembled(adapter: Adapter, chunk: Any) -> Reply | FreyaError:
    """What came of a chunk that is the whole answer."""
    assembler = Assembler(frozenset(["get_weather"]))
    try:
        for delta in adapter.parse_chunk(chunk):
            assembler.add(delta)
        return assembler.finish(complete=True)
    except FreyaError as problem:
        return problem


@WIRES
@EXAMPLES
def test_any_json_object_as_a_chunk_is_a_reply_or_a_typed_error(wire: str, examples: int) -> None:
    chunks = st.dictionaries(KEYS, json_values(KEYS), max_size=5)

    def check(chunk: Any) -> None:
        assert isinstance(assembled(ADAPTERS[wire], chunk), Reply | FreyaError)

    hold(examples, check, chunk=chunks)


@needs_recordings
@WIRES
@EXAMPLES
def test_a_recorded_answer_gone_wrong_is_a_reply_or_a_typed_error(wire: str, examples: int) -> None:
    chunks = [r.body for r in RECORDED if r.provider_wire == wire and isinstance(r.body, dict)]

    def check(chunk: Any) -> None:
        body = json.dumps(chunk).encode()
        assert isinstance(reply_or_error(ADAPTERS[wire], [body]), Reply | FreyaError)

    hold(examples, check, chunk=st.sampled_from(chunks).flatmap(mutations))


# ---- requests ------------------------------------------------------------------------------

KEYS = st.sampled_from(
    [
        *["choices", "message", "delta", "finish_reason", "usage", "error", "code", "details"],
        *["messages", "role", "content", "type", "text", "image_url", "url", "tool_calls", "id"],
        *["function", "name", "arguments", "custom", "input", "tool_call_id", "refusal", "tools"],
        *["function_call", "functions", "description", "parameters", "max_tokens", "stream"],
        *["reasoning", "reasoning_content", "reasoning_details", "properties", "$ref", "$defs"],
        *["candidates", "contents", "parts", "functionCall", "functionResponse", "args"],
        *["response", "inlineData", "mimeType", "data", "fileData", "thoughtSignature", "thought"],
        *["systemInstruction", "functionDeclarations", "parametersJsonSchema"],
        *["generationConfig", "maxOutputTokens", "usageMetadata", "finishReason", "index"],
    ]
)
ROLES = st.sampled_from(
    ["system", "developer", "user", "assistant", "model", "tool", "function", None, ["user"]]
)
PARTS = json_values(KEYS) | st.lists(st.dictionaries(KEYS, json_values(KEYS), max_size=4))
TURNS = st.fixed_dictionaries(
    {"role": ROLES},
    optional={
        **dict.fromkeys(["content", "parts", "tool_calls", "function_call"], PARTS),
        **dict.fromkeys(["tool_call_id", "name", "reasoning", "reasoning_details"], PARTS),
    },
)
TOOLS = st.fixed_dictionaries(
    {"name": ANY_TEXT},
    optional=dict.fromkeys(["parameters", "parametersJsonSchema"], json_values(KEYS)),
).map(lambda tool: {"function": tool, "functionDeclarations": [tool]})
ANY_REQUEST = json_values(KEYS) | st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(["messages", "contents"], st.lists(TURNS, max_size=4)),
        "tools": st.lists(TOOLS, max_size=2) | json_values(KEYS),
        "systemInstruction": json_values(KEYS),
        **dict.fromkeys(["generationConfig", "max_tokens", "stream"], json_values(KEYS)),
    },
)


def read_and_built_again(wire: str, body: Any) -> None:
    """Read a request and build what was understood for both wires; only our errors may come."""
    try:
        request = READERS[wire](body)
    except FreyaError:
        return
    assert isinstance(request, ModelRequest)
    for adapter in ADAPTERS.values():
        for model in ("any-model", "gemini-3-pro"):
            try:
                built = adapter.build_request(request, Route("any", model, "http://localhost"))
            except FreyaError:
                continue
            assert isinstance(json.loads(built.body), dict)


@WIRES
@EXAMPLES
def test_any_json_as_a_request_is_read_and_built_again_or_a_typed_error(
    wire: str, examples: int
) -> None:
    def check(body: Any) -> None:
        read_and_built_again(wire, body)

    hold(examples, check, body=ANY_REQUEST)


@needs_recordings
@WIRES
@EXAMPLES
def test_a_recorded_request_gone_wrong_is_read_and_built_again_or_a_typed_error(
    wire: str, examples: int
) -> None:
    def check(body: Any) -> None:
        read_and_built_again(wire, body)

    hold(examples, check, body=st.sampled_from(RECORDED_REQUESTS[wire]).flatmap(mutations))


PIXEL_IN_CHINESE = "data:image/png;base64,京"


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        ("openai", {"messages": [{"role": "tool", "content": "a result of no call"}]}),
        ("openai", {"messages": [{"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": PIXEL_IN_CHINESE}}]}]}),
        ("gemini", {"contents": [{"parts": [
            {"inlineData": {"mimeType": "image/png", "data": "京"}}]}]}),
    ],
)  # fmt: skip
def test_a_request_that_means_nothing_is_a_typed_error(wire: str, body: Any) -> None:
    with pytest.raises((TranscriptError, UnsupportedContent)):
        READERS[wire](body)


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": ["x"], "properties": {"a": {}}},
        {"properties": ["a"]},
        {"properties": {"a": {"type": "integer", "exclusiveMinimum": "1"}}},
        {"properties": {"a": {"type": "integer", "exclusiveMaximum": 1e999}}},
        {"properties": {"a": {"$ref": ["x"]}}},
    ],
    ids=str,
)
def test_a_tool_whose_schema_is_none_is_declared_or_a_typed_error(schema: Any) -> None:
    tool = {"name": "f", "parameters": schema}
    read_and_built_again("openai", {"tools": [{"function": tool}]})


# ---- whole exchanges -----------------------------------------------------------------------

HEADERS = st.dictionaries(
    st.sampled_from(["retry-after", "retry-after-ms", "content-type"]),
    ANY_TEXT
    | st.sampled_from(["3", "1.5", "٣", "Wed, 21 Oct 2015 07:28:00 GMT"])
    | st.from_regex(
        r"\w{3}, \d\d? \w{3} \d{1,5} \d\d:\d\d:\d\d( [+-]\d{4,7}| GMT)?", fullmatch=True
    ),
)
ERROR_BODIES = ANY_BODY | json_values(KEYS).map(lambda value: json.dumps(value).encode())
URLS = st.sampled_from(
    ["http://x/v1/chat/completions", "http://x/v1beta/models/m:generateContent", "http://x", ""]
)


@EXAMPLES
def test_nothing_is_raised_for_any_exchange(examples: int) -> None:
    def check(**exchange: Any) -> None:
        understood = understand(HttpExchange("any.json", **exchange))
        json.dumps(as_json(understood))
        if exchange["status"] >= 400 and understood.wire:
            assert isinstance(understood.error, ProviderError)

    hold(
        examples,
        check,
        url=URLS,
        request=ANY_REQUEST,
        status=st.integers(-1, 700) | st.sampled_from([200, 400, 401, 429, 500]),
        headers=HEADERS,
        response=ERROR_BODIES,
    )


# ---- bounds --------------------------------------------------------------------------------


def nested(value: Any, depth: int) -> bytes:
    """The value as JSON, with arrays and objects, so many inside each other, for each "deep"."""
    opened, closed = '[{"properties":' * (depth // 2), "}]" * (depth // 2)
    return json.dumps(value).replace('"deep"', f"{opened}1{closed}").encode()


@pytest.mark.parametrize("depth", [10, 190, 250, 490, 900, *range(930, 995, 2)])
def test_nesting_of_any_depth_is_a_reply_or_a_typed_error(depth: int) -> None:
    deep = "deep"
    call = {"functionCall": {"name": "f", "args": {"x": deep}}}
    details = {"reasoning_details": [{"x": deep}, {"x": deep}]}
    answers = {
        "gemini": [{"candidates": [{"content": {"parts": [call, {"fileData": {"x": deep}}]}}]}],
        "openai": [
            {"choices": [{"index": 0, "message": details}]},
            {"choices": [{"index": 0, "message": {"function_call": {"arguments": deep}}}]},
        ],
    }
    for wire, adapter in ADAPTERS.items():
        for answer in [*answers[wire], {"error": {"x": deep}}]:
            outcome = reply_or_error(adapter, [nested(answer, depth)])
            assert isinstance(outcome, Reply | BadResponse | ProviderError)
            tool = {"name": "f", "parameters": {"properties": {"x": deep}}}
            request = {
                "messages": [{"role": "user", "content": [{"type": "file", "x": deep}]}],
                "contents": [{"parts": [call]}, {"role": deep}],
                "tools": [{"function": tool, "functionDeclarations": [tool]}],
            }
            try:
                parsed = parse_json(nested(request, depth))
            except BadResponse:
                continue
            read_and_built_again(wire, parsed)


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "arrays that never close": lambda size: b"[" * size,
    "arrays that never close, in an event": lambda size: b"data: " + b"[" * size + b"\n\n",
    "objects that never close": lambda size: b'{"a":' * (size // 5),
    "an endless line": lambda size: b"data: " + b"x" * size,
    "an endless text": lambda size: b'data: {"a": "' + b"x" * size,
    "an endless line of no kind": lambda size: b"x" * size,
    "white space": lambda size: b" " * size,
    "empty lines": lambda size: b"data: 1" + b"\n" * size,
    "line ends of the third kind": lambda size: b": \r" + b"\r" * size,
    "empty events": lambda size: b"data:\n\n" * (size // 7),
    "comment lines": lambda size: b": c\n" * (size // 4),
    "names of events": lambda size: b"event: x\n" * (size // 9),
    "data lines of one event": lambda size: b"data: x\n" * (size // 8),
    "empty objects": lambda size: b"data: {}\n\n" * (size // 10),
    "pieces of text": lambda size: (
        b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n' * (size // 58)
    ),
    "pieces of a call": lambda size: (
        b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1",'
        b'"function":{"name":"f","arguments":"x"}}]}}]}\n\n' * (size // 116)
    ),
}
EACH_HOSTILE = pytest.mark.parametrize("kind", HOSTILE)
NETWORK_READ = 16_384


def read_hostile(kind: str, size: int) -> Callable[[], Reply | FreyaError]:
    """Return a function that reads such a body of this size, in pieces of 16 KB."""
    body = HOSTILE[kind](size)
    pieces = [body[at : at + NETWORK_READ] for at in range(0, len(body), NETWORK_READ)]
    return lambda: reply_or_error(openai.ADAPTER, pieces)


def cpu_seconds(action: Callable[[], object]) -> float:
    """CPU time of one run."""
    start = time.process_time()
    action()
    return time.process_time() - start


@EACH_HOSTILE
def test_a_hostile_body_four_times_as_long_takes_about_four_times_the_time(kind: str) -> None:
    once, four_times = read_hostile(kind, 200_000), read_hostile(kind, 800_000)
    pairs = [(cpu_seconds(once), cpu_seconds(four_times)) for _ in range(3)]
    shorter, longer = (min(times) for times in zip(*pairs, strict=True))
    # a square would be 16; what takes no time has no ratio
    assert longer <= 9 * max(shorter, 0.002)


@EACH_HOSTILE
def test_a_hostile_body_takes_memory_in_proportion_to_its_size(kind: str) -> None:
    size = 300_000
    read = read_hostile(kind, size)
    tracemalloc.start()
    try:
        read()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= 12 * size
