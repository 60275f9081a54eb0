"""A stream says the same wherever the network cuts it: all recorded streams, all two-way cuts."""

from collections.abc import Callable
from functools import partial

import pytest

from freya_teach.errors import FreyaError
from freya_teach.lab.understand import read_reply
from freya_teach.llm.sse import ChunkDecoder
from tests import recordings
from tests.recordings import Recording

Read = Callable[[list[bytes]], object]
SMALL = 4096
"""Bytes of a stream whose cuts are all tried in the fast lane."""


def is_stream(recording: Recording) -> bool:
    """Whether the answer came as events, be it an error."""
    return isinstance(recording.body, str)


def outcome(recording: Recording, pieces: list[bytes]) -> object:
    """The reply in these pieces, or all that its error says."""
    try:
        return read_reply(recording.adapter, pieces)
    except FreyaError as problem:
        return type(problem), str(problem), vars(problem)


def in_sizes(data: bytes, size: int) -> list[bytes]:
    """Cut into pieces of this size."""
    return [data[start : start + size] for start in range(0, len(data), size)]


@recordings.each(is_stream)
def test_a_stream_says_the_same_whole_line_by_line_and_byte_by_byte(recording: Recording) -> None:
    whole = outcome(recording, [recording.raw])
    assert outcome(recording, recording.raw.splitlines(keepends=True)) == whole
    assert outcome(recording, in_sizes(recording.raw, 1)) == whole


@recordings.each(is_stream)
def test_a_line_may_end_in_any_of_the_three_ways(recording: Recording) -> None:
    whole = outcome(recording, [recording.raw])
    lines = recording.raw.splitlines()
    for end in (b"\n", b"\r\n", b"\r"):
        body = end.join([*lines, b""])
        assert outcome(recording, [body]) == whole
        assert outcome(recording, in_sizes(body, 1)) == whole


def chunks(pieces: list[bytes]) -> object:
    """The JSON chunks in these pieces: a reply depends on nothing else, but costs more."""
    decoder = ChunkDecoder()
    try:
        found = [chunk for piece in pieces for chunk in decoder.feed(piece)] + decoder.end()
    except FreyaError as problem:
        return type(problem), str(problem), vars(problem)
    return found, decoder.finished


def unlike_the_whole(body: bytes, read: Read) -> list[int]:
    """The places at which a cut changes what is read: there should be none."""
    whole = read([body])
    return [at for at in range(1, len(body)) if read([body[:at], body[at:]]) != whole]


@recordings.each(lambda recording: is_stream(recording) and len(recording.raw) <= SMALL)
def test_a_small_stream_says_the_same_wherever_it_is_cut_in_two(recording: Recording) -> None:
    assert unlike_the_whole(recording.raw, chunks) == []


@pytest.mark.soak
@recordings.each(is_stream)
def test_any_stream_gives_the_same_reply_wherever_it_is_cut_in_two(recording: Recording) -> None:
    assert unlike_the_whole(recording.raw, partial(outcome, recording)) == []
