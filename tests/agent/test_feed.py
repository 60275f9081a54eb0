"""The way from a run to a slow reader: bounded, in order, and no letter is lost."""

import asyncio
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.agent.feed import Feed
from freya_teach.events import Event, ReasoningDelta, TextDelta, ToolStatus, TurnStarted
from freya_teach.llm.messages import ToolCall

CALL = ToolCall("call_1", "look", "{}")


def event(kind: str, text: str, run: int) -> Event:
    """Make an event of this kind."""
    match kind:
        case "text":
            return TextDelta(text, run=run)
        case "reasoning":
            return ReasoningDelta(text, run=run)
        case _:
            return ToolStatus(CALL, "completed", text, run=run)


KINDS = st.tuples(
    st.sampled_from(["text", "text", "reasoning", "tool"]), st.sampled_from([1, 1, 1, 2])
)
ORDERS = st.lists(st.one_of(KINDS, KINDS, KINDS, st.integers(1, 4)), min_size=8, max_size=60)
"""Kind and run of the events that are put, and between them how many are read."""


def said(events: list[Event], run: int) -> list[object]:
    """What one run has told: between two tools the whole text and the whole thinking."""
    of_run = [event for event in events if event.run == run]
    told: list[object] = []
    for is_tool, group in groupby(of_run, lambda event: isinstance(event, ToolStatus)):
        if is_tool:
            told += group
            continue
        pieces = list(group)
        told.append("".join(e.text for e in pieces if isinstance(e, TextDelta)))
        told.append("".join(e.text for e in pieces if isinstance(e, ReasoningDelta)))
    return told


async def read_all(feed: Feed) -> list[Event]:
    """Read to the end."""
    feed.close()
    return [event async for event in feed]


@given(ORDERS, st.integers(0, 5))
async def test_whatever_the_readers_speed_each_run_is_told_whole_and_in_order(
    order: list[tuple[str, int] | int], limit: int
) -> None:
    feed, put, got = Feed(limit), list[Event](), list[Event]()
    for number, step in enumerate(order):
        if isinstance(step, int):
            got += [await anext(feed) for _ in range(min(step, len(feed)))]
        else:
            put.append(event(step[0], f"{number} ", step[1]))
            feed.put(put[-1])
    got += await read_all(feed)
    for run in (1, 2):
        assert said(got, run) == said(put, run)


@given(st.lists(KINDS, max_size=200), st.integers(0, 20))
async def test_with_nobody_reading_no_more_wait_than_is_promised(
    order: list[tuple[str, int]], limit: int
) -> None:
    feed, runs = Feed(limit), len({run for _, run in order})
    for kind, run in order:
        feed.put(event(kind, "piece", run))
    tools = sum(kind == "tool" for kind, _ in order)
    assert len(feed) <= limit + 3 * tools + 2 * runs


async def test_a_long_answer_waits_as_few_events_for_a_reader_who_sleeps() -> None:
    feed = Feed(limit=4)
    for number in range(10_000):
        feed.put(TextDelta(f"{number} "))
    assert len(feed) == 4
    assert "".join(e.text for e in await read_all(feed) if isinstance(e, TextDelta)) == "".join(
        f"{number} " for number in range(10_000)
    )


async def test_below_the_limit_each_piece_stays_as_it_came() -> None:
    feed = Feed()
    for piece in ("It is", " sunny", "."):
        feed.put(TextDelta(piece))
    assert await read_all(feed) == [TextDelta("It is"), TextDelta(" sunny"), TextDelta(".")]


async def test_a_joined_piece_says_whose_it_is() -> None:
    feed = Feed(limit=1)
    feed.put(TextDelta("It is", session="s1", run=3))
    feed.put(TextDelta(" sunny.", session="s1", run=3))
    [piece] = await read_all(feed)
    assert (piece, piece.session, piece.run) == (TextDelta("It is sunny."), "s1", 3)


async def test_what_comes_after_the_close_is_dropped_and_the_end_stays_the_end() -> None:
    feed = Feed()
    feed.put(TurnStarted(1))
    assert await read_all(feed) == [TurnStarted(1)]
    feed.put(TurnStarted(2))
    assert len(feed) == 0
    with pytest.raises(StopAsyncIteration):
        await anext(feed)


async def test_a_reader_who_is_cancelled_while_waiting_loses_nothing() -> None:
    feed = Feed()
    reader = asyncio.ensure_future(anext(feed))
    await asyncio.sleep(0)
    reader.cancel()
    feed.put(TurnStarted(1))
    await asyncio.wait({reader})
    assert reader.cancelled()
    assert await anext(feed) == TurnStarted(1)
