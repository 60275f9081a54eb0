"""Many writers on many sessions, with a disk that fails and writes that are cancelled."""

import asyncio
import os
import random
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from freya_teach import Ambient, SessionManager
from freya_teach.errors import SessionReadOnly
from freya_teach.llm.messages import Message, user
from tests.session.places import CountedDisk


@dataclass
class Told:
    """What one writer was told about its messages: stored, not stored, or nothing."""

    acknowledged: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)


async def write_one(sessions: SessionManager, session_id: str, text: str, way: str) -> None:
    session = await sessions.open(session_id)
    match way:
        case "append":
            await session.append(user(text))
        case "update":

            async def add(_: tuple[Message, ...]) -> list[Message]:
                await asyncio.sleep(0)
                return [user(text)]

            await session.update(add)
        case "wrong":
            await session.append(user(text), text)  # type: ignore[arg-type]


async def write(
    sessions: SessionManager, session_id: str, writer: int, count: int, chance: random.Random
) -> Told:
    """Write messages one after the other; some are cancelled after a few steps of the loop."""
    told = Told()
    for number in range(count):
        text = f"{session_id}/{writer}/{number}"
        way = chance.choice(["append", "append", "append", "update", "wrong"])
        task = asyncio.create_task(write_one(sessions, session_id, text, way))
        if chance.random() < 0.2:
            for _ in range(chance.randrange(12)):
                await asyncio.sleep(0)
            task.cancel()
        await asyncio.wait([task])
        if task.cancelled():
            told.cancelled.append(text)
        elif (problem := task.exception()) is None:
            told.acknowledged.append(text)
        else:
            assert isinstance(problem, SessionReadOnly | TypeError)
            told.failed.append(text)
    return told


async def storm(folder: Path, writers: int, on_sessions: int, count: int) -> list[Told]:
    chance, disk_chance = random.Random(1), random.Random(2)  # noqa: S311 - no secrets

    def fsync(handle: int) -> None:
        if disk_chance.random() < 0.02:
            raise OSError(5, "Input/output error")
        os.fsync(handle)

    async with SessionManager(folder, Ambient()) as sessions:
        ids = [(await sessions.create()).id for _ in range(on_sessions)]
    sessions = SessionManager(folder, Ambient(fsync=fsync))
    told = await asyncio.gather(
        *(write(sessions, ids[n % on_sessions], n, count, chance) for n in range(writers))
    )
    await sessions.close()
    async with SessionManager(folder, Ambient()) as sessions:
        for place, session_id in enumerate(ids):
            session = await sessions.open(session_id)
            assert session.torn_bytes == 0
            stored = defaultdict(list)
            for message in session.messages:
                owner, number, _ = message.text.split("/")
                assert owner == session_id, "a message of another session"
                stored[int(number)].append(message.text)
            assert set(stored) <= set(range(place, writers, on_sessions))
            for writer in range(place, writers, on_sessions):
                mine = told[writer]
                maybe = [text for text in stored[writer] if text in mine.cancelled]
                assert stored[writer] == sorted(mine.acknowledged + maybe, key=number_of)
    return told


def number_of(text: str) -> int:
    return int(text.rpartition("/")[2])


async def test_20_writers_on_5_sessions_find_their_own_messages_in_order(tmp_path: Path) -> None:
    told = await storm(tmp_path, 20, 5, 12)
    assert all(sum(map(len, kinds)) for kinds in zip(*map(counts, told), strict=True))


@pytest.mark.soak
async def test_200_writers_on_50_sessions_find_their_own_messages_in_order(tmp_path: Path) -> None:
    told = await storm(tmp_path, 200, 50, 20)
    sums = [sum(map(len, kinds)) for kinds in zip(*map(counts, told), strict=True)]
    print("acknowledged, failed, cancelled:", sums)
    assert sum(sums) == 200 * 20
    assert all(sums)


def counts(told: Told) -> tuple[list[str], list[str], list[str]]:
    return told.acknowledged, told.failed, told.cancelled


async def test_writers_of_one_session_share_fsyncs(tmp_path: Path) -> None:
    disk = CountedDisk()
    async with SessionManager(tmp_path, disk.ambient()) as sessions:
        session = await sessions.create()
        before = disk.count

        async def append(writer: int) -> None:
            for number in range(10):
                await session.append(user(f"{writer}/{number}"))

        await asyncio.gather(*map(append, range(20)))
        assert len(session.messages) == 200
        assert 10 <= disk.count - before <= 20  # 20 writers in step, or at worst two groups
