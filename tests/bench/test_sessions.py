"""What a stored session costs: an append, the list, and its turn in the queue."""

import asyncio
import gc
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from freya_teach import Ambient, Session, SessionManager
from freya_teach.llm.messages import user
from freya_teach.session.disk import Disk
from freya_teach.session.models import Record, State
from freya_teach.session.store import SessionStore
from freya_teach.session.writer import WriteQueue
from tests.bench.pairs import HEADING, measure

Report = dict[str, list[str]]
APPEND_AIM, LIST_AIM, QUEUE_AIM = 1.5, 2.0, 1 / 0.3
APPENDS = 200
"""Appends in one sample, one after the other."""
SESSIONS = 10_000
WRITERS, SHARED, WRITES = 200, 50, 20
"""Tasks, the sessions that they share, and the writes of each task."""


@pytest.fixture(autouse=True)
def without_gc() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def no_sync(_: int) -> None: ...


async def cpu_of_appends(session: Session) -> float:
    started = time.process_time()
    for _ in range(APPENDS):
        await session.append(user("How warm is it in Beijing today?"))
    return time.process_time() - started


@pytest.mark.bench
def test_message_10_000_costs_little_more_than_message_100(report: Report, tmp_path: Path) -> None:
    with asyncio.Runner() as runner:
        sessions = SessionManager(tmp_path, Ambient(fsync=no_sync))

        def with_messages(count: int) -> Session:
            session = runner.run(sessions.create())
            runner.run(session.append(*[user("How warm is it in Beijing today?")] * count))
            return session

        pairs = measure(
            lambda: runner.run(cpu_of_appends(with_messages(100))),
            lambda: runner.run(cpu_of_appends(with_messages(10_000))),
            pairs=9,
        )
        runner.run(sessions.close())
    row = pairs.row("message 10,000 against message 100", APPEND_AIM, units=APPENDS)
    report.setdefault(f"One append, without fsync\n{HEADING}", []).append(row)
    assert pairs.ratio <= APPEND_AIM


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of 10,000 sessions with an index."""
    folder = tmp_path_factory.mktemp("many")
    store = SessionStore(folder, Disk(no_sync))
    store.make_folders()
    for number in range(SESSIONS):
        state = State(title=f"Talk number {number}", model="openai/gpt-5.6-terra")
        time_ = f"2026-11-30T12:{number // 60 % 60:02}:{number % 60:02}+00:00"
        store.create(f"session_{number:012x}", Record(time_, (user("Hello"),), state=state))
    store.write_index(store.infos().values())
    return folder


@pytest.mark.bench
def test_listing_10_000_sessions_takes_at_most_twice_the_reading_of_the_index(
    report: Report, many: Path
) -> None:
    """From nothing: take the folder, read the index, look which sessions are there, sort."""
    with asyncio.Runner() as runner:

        def read() -> float:
            started = time.process_time()
            found = len(json.loads((many / "index.json").read_bytes())["sessions"])
            seconds = time.process_time() - started
            assert found == SESSIONS
            return seconds

        def list_all() -> float:
            sessions = SessionManager(many, Ambient(fsync=no_sync))
            started = time.process_time()
            infos = runner.run(sessions.list())
            seconds = time.process_time() - started
            assert len(infos) == SESSIONS
            runner.run(sessions.close())
            return seconds

        pairs = measure(read, list_all, pairs=9)
    row = pairs.row("listing against json.loads", LIST_AIM)
    report.setdefault(f"Listing 10,000 sessions\n{HEADING}", []).append(row)
    assert pairs.ratio <= LIST_AIM


async def cpu_of_turns(turn: Callable[[int], AbstractAsyncContextManager[object]]) -> float:
    async def write(writer: int) -> None:
        for _ in range(WRITES):
            async with turn(writer % SHARED):
                await asyncio.sleep(0)

    started = time.process_time()
    await asyncio.gather(*map(write, range(WRITERS)))
    return time.process_time() - started


@pytest.mark.bench
def test_a_turn_in_the_queue_costs_little_more_than_a_plain_lock(report: Report) -> None:
    def plain() -> float:
        locks: dict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        return asyncio.run(cpu_of_turns(lambda key: locks[key]))

    def ours() -> float:
        queues = {key: WriteQueue(str(key)) for key in range(SHARED)}
        return asyncio.run(cpu_of_turns(lambda key: queues[key].turn()))

    pairs = measure(plain, ours, pairs=15)
    units = WRITERS * WRITES // 1_000
    row = pairs.row("a turn against an asyncio.Lock", round(QUEUE_AIM, 2), units=units)
    report.setdefault(f"1,000 turns, 200 writers on 50 sessions\n{HEADING}", []).append(row)
    assert pairs.ratio <= QUEUE_AIM
