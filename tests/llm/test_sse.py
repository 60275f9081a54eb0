"""Bytes to JSON chunks, checked against the rules of WHATWG HTML 9.2.6 and plain `json.loads`."""

import json
import re
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.errors import BadResponse, FreyaError, ResponseCut
from freya_teach.llm.sse import (
    ChunkDecoder,
    EventDecoder,
    LineBuffer,
    ServerEvent,
    lines_in,
    parse_json,
)
from tests import recordings
from tests.recordings import Recording
from tests.strategies import ANY_TEXT, cuts, json_values


def read(pieces: Iterable[bytes]) -> tuple[list[Any], bool]:
    """Return the chunks of a body and whether it said that it was complete."""
    decoder = ChunkDecoder()
    chunks = [chunk for piece in pieces for chunk in decoder.feed(piece)]
    return chunks + decoder.end(), decoder.finished


def outcome(pieces: Iterable[bytes]) -> object:
    """What came of a body: its chunks, or the error's type and words."""
    try:
        return read(pieces)
    except FreyaError as problem:
        return type(problem), str(problem)


def one_by_one(data: bytes, size: int = 1) -> list[bytes]:
    """Cut into pieces of this size."""
    return [data[start : start + size] for start in range(0, len(data), size)]


# ---- lines ---------------------------------------------------------------------------------


def lines_of(pieces: Iterable[bytes]) -> list[bytes]:
    """All lines that a buffer gives out, without their ends."""
    buffer = LineBuffer()
    texts = [*(buffer.feed(piece) for piece in pieces), buffer.end()]
    return [line for text in texts for line in lines_in(text)]


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a\r\nb\r\n"], [b"a", b"b"]),
        ([b"a\rb\r"], [b"a", b"b"]),
        ([b"a\r", b"\nb"], [b"a", b"b"]),
        ([b"a\r", b"b"], [b"a", b"b"]),
        ([b"a\r", b"", b"\nb"], [b"a", b"b"]),
        ([b"a\r", b"\r", b"\n"], [b"a", b""]),
        ([b"\n\r"], [b"", b""]),
        ([b"no end"], [b"no end"]),
        ([], []),
    ],
)
def test_a_line_ends_at_each_of_the_three_ends_wherever_the_pieces_are_cut(
    pieces: list[bytes], lines: list[bytes]
) -> None:
    assert lines_of(pieces) == lines


@given(
    data=st.lists(st.sampled_from([b"\r", b"\n", b"x", b"\xe4\xba\xac"])).map(b"".join),
    at=st.data(),
)
def test_lines_are_what_a_plain_split_at_the_three_ends_gives(
    data: bytes, at: st.DataObject
) -> None:
    expected = re.split(rb"\r\n|\n|\r", data)
    if expected[-1] == b"":  # behind the last end there is no line
        expected.pop()
    assert lines_of(at.draw(cuts(data))) == expected


# ---- events --------------------------------------------------------------------------------


def events_of(text: str) -> list[ServerEvent]:
    """All events that a decoder finds, the last one without its closing blank line too."""
    decoder = EventDecoder()
    return decoder.feed(text.encode()) + decoder.end()


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("data: one\n\ndata: two\n\n", ["one", "two"]),
        ("data:no space\n\n", ["no space"]),
        ("data:  two spaces\n\n", [" two spaces"]),
        ("data: several\ndata: lines\ndata\n\n", ["several\nlines\n"]),
        ("data:\n\n", [""]),
        (": a comment\n:another\ndata: x\n\n", ["x"]),
        ("id: 7\nretry: 10\nunknown: y\nno colon\ndata: x\n\n", ["x"]),
        ("database: x\n\n", []),
        ("event: ping\n\ndata: x\n\n", ["x"]),
        ("data: never closed", ["never closed"]),
        ("\n\n\n", []),
    ],
)
def test_events_follow_the_standard(text: str, data: list[str]) -> None:
    assert [found.decode() for _, found in events_of(text)] == data


def test_the_name_of_an_event_ends_with_it() -> None:
    events = events_of("event: error\ndata: 1\n\ndata: 2\n\nevent: lost\n\ndata: 3\n\n")
    assert events == [
        ("error", b"1"),
        ("", b"2"),
        ("", b"3"),
    ]


# ---- bodies --------------------------------------------------------------------------------

CHUNK = {"text": "北京 \u2028 is one line \x85 of 🌤"}
LINE = json.dumps(CHUNK, ensure_ascii=False)


@pytest.mark.parametrize(
    ("body", "finished"),
    [
        (f"data: {LINE}\n\ndata: [DONE]\n\n", True),
        (f"data: {LINE}\r\n\r\ndata: [DONE]\r\n\r\n", True),
        (f"data: {LINE}\r\rdata: [DONE]\r\r", True),
        (f"data: {LINE}\n\ndata: [DONE]", True),
        (f"data: {LINE}\n\ndata: [DONE]\n\ndata: behind the end\n\n", True),
        (f"data: {LINE}\n\n", False),
        (f"data: {LINE}", False),
        (f"\ufeffdata: {LINE}\n\n", False),
        (f"\n\n: OPENROUTER PROCESSING\n\ndata: {LINE}\n\n", False),
        (f"event: message\nid: 1\ndata: {LINE}\n\n", False),
        (f"data: {json.dumps(CHUNK, indent=1).replace(chr(10), chr(10) + 'data: ')}\n\n", False),
        (f"data: [{LINE}]\n\n", False),
        (LINE, True),
        (f"[{LINE}]", True),
        (f"\ufeff\n\n  {LINE}\n", True),
        (json.dumps(CHUNK, indent=2), True),
    ],
)
def test_the_same_chunk_is_read_from_every_kind_of_body(body: str, *, finished: bool) -> None:
    assert read([body.encode()]) == ([CHUNK], finished)
    assert read(one_by_one(body.encode())) == ([CHUNK], finished)


def test_an_array_streams_as_its_members() -> None:
    assert read([b'[{"n": 1},\r\n{"n": 2}]']) == ([{"n": 1}, {"n": 2}], True)


def test_a_chunk_is_given_as_soon_as_its_event_is_complete() -> None:
    decoder = ChunkDecoder()
    assert decoder.feed(b'data: {"n": 1}\n') == []
    assert decoder.feed(b"\n") == [{"n": 1}]
    assert decoder.feed(b'data: {"n": 2}\n\ndata: {"n"') == [{"n": 2}]
    assert decoder.feed(b": 3}\r\n\r\n") == [{"n": 3}]
    assert decoder.feed(b'data: {"n": 4}\r\r') == []
    assert decoder.feed(b"d") == [{"n": 4}], "behind a CR, anything but an LF is a new line"


@pytest.mark.parametrize(
    ("body", "chunk"),
    [
        (
            'event: error\ndata: {"message": "over capacity"}\n\n',
            {"error": {"message": "over capacity"}},
        ),
        ('event: error\ndata: {"error": {"code": 500}}\n\n', {"error": {"code": 500}}),
        ('data: {"error": {"code": 500}}\n\n', {"error": {"code": 500}}),
    ],
)
def test_an_event_named_error_is_an_error_chunk(body: str, chunk: dict[str, Any]) -> None:
    assert read([body.encode()]) == ([chunk], False)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<!doctype html><title>502 Bad Gateway</title>", "HTML page.*502 Bad Gateway"),
        (b"\n <html>", "HTML page"),
        (b"upstream connect error", "neither JSON nor an event stream.*upstream connect error"),
        (b"12", "neither JSON nor"),
        (b'"text"', "neither JSON nor"),
        (b'{"a": 1} {"b": 2}', "Extra data"),
        (b"{'a': 1}", "not JSON"),
        (b'{"a": "\xff"}', "byte 7 .* is not UTF-8"),
        (b"[1]", "a JSON object was expected, not '1'"),
        (b"[[{}]]", "a JSON object was expected"),
        (b"data: 5\n\n", "a JSON object was expected, not '5'"),
        (b"data: ping\n\n", "not JSON.*ping"),
        (b'data: {"a": "\xe4\xba"}\n\n', "is not UTF-8"),
        (b"data: {}garbage\n\n", "Extra data"),
        (b"[" * 100_000 + b"]" * 100_000, "not JSON"),
        (b'{"n": ' + b"9" * 5000 + b"}", "not JSON"),
    ],
)
def test_a_body_that_is_not_the_protocol_is_named(body: bytes, words: str) -> None:
    with pytest.raises(BadResponse, match=f"(?s){words}") as caught:
        read([body])
    assert type(caught.value) is BadResponse
    assert len(str(caught.value)) < 300, "a body of any size is quoted in a few words"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" \r\n\r\n ",
        b"\xef\xbb\xbf",
        b": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n",
        b"dat",
        b"event: message\n\n",
        b'data: {"choices": [{"delta": {"content": "hal',
        b'data: {"text": "\xe5\x8c',
        b'{"choices": [',
        b'{"a": {"b": 1}',
        b'[{"a": 1}',
        b'{"a": tru',
        b'{"text": "{braces}',
        b'{"text": "\xe5\x8c',
        b'[{"a": 1},',
    ],
)
def test_a_body_that_ends_too_early_is_cut_off(body: bytes) -> None:
    with pytest.raises(ResponseCut):
        read([body])
    with pytest.raises(ResponseCut):
        read(one_by_one(body))


# ---- any cut of anything -------------------------------------------------------------------

BODIES = st.sampled_from(
    [
        f"\ufeffdata: {LINE}\r\n\r\n: c\r\n\r\ndata: {LINE}\r\n\r\ndata: [DONE]\r\n\r\n",
        f"event: error\rdata: {LINE}\r\rdata: {LINE[:9]}",
        f"  [{LINE},\r\n{LINE}]",
        LINE[:20],
        "<html>北京</html>" + "x" * 900,
        "nothing of the kind: 北京" * 60,
        ": only a comment\n\n",
    ]
).map(str.encode)


@given(body=BODIES, at=st.data())
def test_any_cut_of_a_body_gives_the_same_result(body: bytes, at: st.DataObject) -> None:
    assert outcome(at.draw(cuts(body))) == outcome([body]) == outcome(one_by_one(body))


@given(
    body=st.binary(max_size=60) | ANY_TEXT.map(lambda t: f"data: {t}".encode("utf-8", "replace")),
    at=st.data(),
)
def test_any_bytes_give_chunks_or_a_typed_error_and_the_same_for_any_cut(
    body: bytes, at: st.DataObject
) -> None:
    assert outcome(at.draw(cuts(body))) == outcome([body])


@given(value=st.dictionaries(ANY_TEXT, ANY_TEXT), at=st.data())
def test_what_json_can_write_comes_back_through_a_stream(value: Any, at: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")
    expected = json.loads(json.dumps(value))
    assert read(at.draw(cuts(b"data: " + text + b"\r\n\r\n"))) == ([expected], False)
    assert read(at.draw(cuts(text))) == ([expected], True)


def plain_chunks(recording: Recording) -> list[Any]:
    """The chunks of a body by the shortest way that works when nothing goes wrong."""
    if not isinstance(recording.body, str):
        return recording.body if isinstance(recording.body, list) else [recording.body]
    lines = re.split(r"\r\n|\n|\r", recording.body)
    data = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
    return [json.loads(text) for text in data if text not in ("", "[DONE]")]


@recordings.each(lambda _: True)
def test_a_recorded_body_gives_the_chunks_of_a_plain_reading_in_any_pieces(
    recording: Recording,
) -> None:
    expected = plain_chunks(recording)
    for size in (len(recording.raw), 7, 1):
        assert read(one_by_one(recording.raw, size))[0] == expected


@recordings.each(lambda r: r.status == 200 and not isinstance(r.body, str))
def test_a_recorded_document_that_lacks_its_end_is_cut_off(recording: Recording) -> None:
    raw = recording.raw
    for end in {0, 1, 2, len(raw) // 3, len(raw) // 2, *range(len(raw) - 40, len(raw))}:
        with pytest.raises(ResponseCut):
            read([raw[: max(end, 0)]])


# ---- size ----------------------------------------------------------------------------------

MEGABYTE = 1_000_000


def seconds(pieces: list[bytes]) -> float:
    """The processor time of reading them, at best."""
    times = []
    for _ in range(3):
        started = time.process_time()
        decoder = ChunkDecoder()
        for piece in pieces:
            decoder.feed(piece)
        decoder.end()
        times.append(time.process_time() - started)
    return min(times)


@pytest.mark.parametrize(
    "body",
    [
        lambda size: b'data: {"text": "' + b"x" * size + b'"}\n\n',
        lambda size: b'data: {"text": "' + b"\\r" * (size // 2) + b'"}\r',
        lambda size: b'{"text": "' + b"x" * size + b'"}',
        lambda size: b"\n" * size + b"{}",
        lambda size: b": keep-alive\n\n" * (size // 14) + b"data: {}\n\n",
        lambda size: b"x" * size + b"\ndata: {}\n\n",
    ],
    ids=[
        "one event",
        "one event with a bare CR",
        "one document",
        "padding",
        "comments",
        "no field",
    ],
)
def test_the_time_for_a_long_body_in_small_pieces_grows_with_its_length(
    body: Callable[[int], bytes],
) -> None:
    """Five times the bytes: about five times the time, where joining them anew takes 25 times."""
    small = seconds(one_by_one(body(MEGABYTE), 1024))
    large = seconds(one_by_one(body(5 * MEGABYTE), 1024))
    assert large / small < 15


def test_a_5_mb_line_arrives_whole() -> None:
    text = "北" * (5 * MEGABYTE // 3)
    raw = f'data: {{"text": "{text}"}}\n\n'.encode()
    assert read(one_by_one(raw, 1024)) == ([{"text": text}], False)


def test_parse_json_quotes_what_it_could_not_read() -> None:
    with pytest.raises(BadResponse, match=r"Expecting value: line 1 column 7 .*'{\"a\": oops}'"):
        parse_json(b'{"a": oops}')


@given(
    st.builds(json.dumps, json_values(ANY_TEXT), ensure_ascii=st.booleans())
    .map(lambda text: text.encode("utf-8", "surrogatepass"))
    .flatmap(lambda data: st.sampled_from([data, data[:-1], data + b" ", data + b",", data[1:]]))
    | st.sampled_from(
        [b"1e999", b"NaN", b"-0", b"1E5", b'{"a":1,"a":2}', b'"\\u0000"', b"\xef\xbb\xbf1"]
    )
    | st.binary(max_size=12)
)
def test_the_same_is_json_for_parse_json_as_for_python_and_means_the_same(data: bytes) -> None:
    try:
        expected = repr(json.loads(data.decode("utf-8")))
    except ValueError:
        with pytest.raises(BadResponse):
            parse_json(data)
    else:
        assert repr(parse_json(data)) == expected
