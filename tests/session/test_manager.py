"""All sessions of a folder: the list, the index, damage, and who may write."""

import asyncio
import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from itertools import count
from pathlib import Path

import pytest

from freya_teach import Ambient, SessionManager
from freya_teach.errors import (
    NoSuchSession,
    SessionBusy,
    SessionDamaged,
    SessionError,
    SessionInUse,
    SessionReadOnly,
    WriteFailed,
)
from freya_teach.llm.messages import user
from tests.session.places import NEEDS_LIMITS, NEEDS_RIGHTS, CountedDisk, disk_full_at

HOLDER = """
import asyncio, sys
from pathlib import Path
from freya_teach import Ambient, SessionManager
from freya_teach.llm.messages import user

async def hold():
    sessions = SessionManager(Path(sys.argv[1]), Ambient())
    session = await sessions.create("made by another")
    await session.append(user("not in any index"))
    print(session.id, flush=True)
    sys.stdin.read()

asyncio.run(hold())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


def ticking() -> Ambient:
    """A clock that goes on by a second each time it is asked."""
    seconds = count()

    def now(zone: tzinfo) -> datetime:
        return datetime.fromtimestamp(next(seconds), UTC).astimezone(zone)

    return Ambient(now=now)


def journal_in(folder: Path, session_id: str) -> Path:
    return folder / "sessions" / session_id / "journal.jsonl"


async def made(folder: Path, *texts: str) -> str:
    """A session with these messages, in a folder that has been given back."""
    async with SessionManager(folder, Ambient()) as sessions:
        session = await sessions.create("Title")
        for text in texts:
            await session.append(user(text))
        return session.id


async def test_the_list_says_what_the_sessions_are_the_latest_first(folder: Path) -> None:
    async with SessionManager(folder, ticking()) as sessions:
        first = await sessions.create("First")
        await sessions.create("Second")
        await first.append(user("12345678"), user("1234"))
        first.use_model("openai/m")
        before = await sessions.list()
    async with SessionManager(folder, ticking()) as sessions:
        after = await sessions.list()
    assert [(info.title, info.messages, info.tokens, info.model) for info in before] == [
        ("First", 2, 3, "openai/m"),
        ("Second", 0, 0, ""),
    ]
    assert before[0].created < before[1].created < before[0].updated
    assert [info.title for info in after] == ["First", "Second"]  # stored at the end: the model
    assert after[0].model == "openai/m"


async def test_what_is_given_out_is_a_copy(folder: Path) -> None:
    await made(folder, "one")
    async with SessionManager(folder, Ambient()) as sessions:
        (info,) = await sessions.list()
        session = await sessions.open(info.id)
        messages = session.messages
        await session.append(user("two"))
        assert len(messages) == 1


async def test_a_session_is_one_object_however_many_open_it(folder: Path) -> None:
    session_id = await made(folder)
    async with SessionManager(folder, Ambient()) as sessions:
        opened = await asyncio.gather(*(sessions.open(session_id) for _ in range(5)))
        assert len({id(session) for session in opened}) == 1


async def test_archived_sessions_are_listed_when_asked_for(folder: Path) -> None:
    session_id = await made(folder)
    async with SessionManager(folder, Ambient()) as sessions:
        await sessions.archive(session_id)
        assert await sessions.list() == []
    async with SessionManager(folder, Ambient()) as sessions:
        assert [info.id for info in await sessions.list(archived=True)] == [session_id]
        await sessions.archive(session_id, archived=False)
        await sessions.rename(session_id, "Back")
        assert [info.title for info in await sessions.list()] == ["Back"]


async def test_a_deleted_session_is_gone_and_takes_nothing_more(folder: Path) -> None:
    session_id = await made(folder, "one")
    async with SessionManager(folder, Ambient()) as sessions:
        session = await sessions.open(session_id)
        with session.claim(), pytest.raises(SessionBusy):
            await sessions.delete(session_id)
        await sessions.delete(session_id)
        with pytest.raises(SessionReadOnly, match="it was deleted"):
            await session.append(user("two"))
        with pytest.raises(NoSuchSession, match=f"there is no session '{session_id}'"):
            await sessions.open(session_id)
        assert await sessions.list() == []
    assert list((folder / "sessions").iterdir()) == []


@pytest.mark.parametrize("session_id", ["", "..", "../sessions", "/etc", "nobody"])
async def test_only_what_is_in_the_list_is_opened(folder: Path, session_id: str) -> None:
    async with SessionManager(folder, Ambient()) as sessions:
        for use in (sessions.open, sessions.delete, sessions.unload, sessions.repair):
            with pytest.raises(NoSuchSession):
                await use(session_id)


async def test_counted_ids_that_begin_at_1_again_take_the_next_free_one(folder: Path) -> None:
    for expected in ("session_1", "session_2"):
        numbers = count(1)
        ambient = Ambient(new_id=lambda prefix, n=numbers: f"{prefix}_{next(n)}")  # type: ignore[misc]
        async with SessionManager(folder, ambient) as sessions:
            assert (await sessions.create()).id == expected
    async with SessionManager(folder, Ambient(new_id=lambda _: "session_1")) as sessions:
        with pytest.raises(SessionError, match="1,000 new ids in a row were taken"):
            await sessions.create()


@pytest.mark.parametrize("index", [None, b"", b"garbage", b"{}", b'{"v":1,"sessions":[{"x":1}]}'])
async def test_an_index_that_is_lost_is_made_from_the_journals(
    folder: Path, index: bytes | None
) -> None:
    ids = {await made(folder, "one"), await made(folder, "one", "two")}
    async with SessionManager(folder, Ambient()) as sessions:
        before = await sessions.list()
    if index is None:
        (folder / "index.json").unlink()
    else:
        (folder / "index.json").write_bytes(index)
    async with SessionManager(folder, Ambient()) as sessions:
        assert await sessions.list() == before
    assert {info.id for info in before} == ids
    assert len(json.loads((folder / "index.json").read_bytes())["sessions"]) == 2


async def test_opening_a_session_reads_no_other_journal(folder: Path) -> None:
    others = [await made(folder, "one") for _ in range(3)]
    session_id = await made(folder, "mine")
    journal_in(folder, others[0]).write_bytes(b"garbage\n" * 3)
    journal_in(folder, others[1]).unlink()
    if hasattr(os, "mkfifo"):
        journal_in(folder, others[2]).unlink()
        os.mkfifo(journal_in(folder, others[2]))  # to open it would wait for ever
    async with SessionManager(folder, Ambient()) as sessions:
        assert (await sessions.open(session_id)).messages == (user("mine"),)
        assert {info.messages for info in await sessions.list()} == {1}


async def test_after_a_crash_only_journals_are_read_that_have_grown(folder: Path) -> None:
    same, grown = await made(folder, "one"), await made(folder, "one")
    (folder / "owner.json").write_text("{}", encoding="utf-8")  # nobody gave the folder back
    length = journal_in(folder, same).stat().st_size
    journal_in(folder, same).write_bytes(b"x" * length)
    journal = journal_in(folder, grown)
    journal.write_bytes(journal.read_bytes() + journal.read_bytes().splitlines(keepends=True)[-1])
    async with SessionManager(folder, Ambient()) as sessions:
        infos = {info.id: info for info in await sessions.list()}
    assert (infos[same].messages, infos[same].problem) == (1, "")
    assert infos[grown].messages == 2


async def test_a_folder_that_was_put_there_by_hand_is_found_and_one_that_was_taken_away_is_not(
    folder: Path,
) -> None:
    moved, stays = await made(folder, "one"), await made(folder, "two")
    (folder / "sessions" / moved).rename(folder / "sessions" / "by_hand")
    async with SessionManager(folder, Ambient()) as sessions:
        assert {info.id for info in await sessions.list()} == {"by_hand", stays}
        assert (await sessions.open("by_hand")).messages == (user("one"),)


def overwrite(path: Path, data: bytes) -> None:
    """Write in place: to free a file's blocks and take new ones is slow on some disks."""
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()


async def test_a_torn_last_line_is_cut_off_and_reported_at_every_byte(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    session_id = await made(folder, "kept", "torn")
    journal = journal_in(folder, session_id)
    first, kept, torn = journal.read_bytes().splitlines(keepends=True)
    async with SessionManager(folder, Ambient(fsync=lambda _: None)) as sessions:
        for cut in range(len(torn)):
            overwrite(journal, first + kept + torn[:cut])
            caplog.clear()
            session = await sessions.open(session_id)
            assert session.messages == (user("kept"),)
            assert session.torn_bytes == cut
            told = f"session {session_id}: its last write had not ended, {cut} bytes of it were"
            assert [told in record.getMessage() for record in caplog.records] == [True] * bool(cut)
            await session.append(user("next"))
            await sessions.unload(session_id)
            assert (await sessions.open(session_id)).messages == (user("kept"), user("next"))
            await sessions.unload(session_id)


async def test_damage_names_file_and_line_and_nothing_is_overwritten(folder: Path) -> None:
    session_id = await made(folder, "one", "two", "three")
    journal = journal_in(folder, session_id)
    damaged = journal.read_bytes().replace(b"two", b"2wo")
    journal.write_bytes(damaged)
    async with SessionManager(folder, Ambient()) as sessions:
        for _ in range(2):
            with pytest.raises(SessionDamaged) as problem:
                await sessions.open(session_id)
            assert (problem.value.file, problem.value.line) == (str(journal), 3)
            assert f"{journal}, line 3, is damaged: it does not fit its chec" in str(problem.value)
        assert journal.read_bytes() == damaged
        (copy,) = journal.parent.glob("journal.damaged-*")  # one, though it was opened twice
        assert copy.read_bytes() == damaged
        assert copy.name in str(problem.value)


async def test_a_repair_keeps_what_comes_before_the_damage_and_all_of_it_aside(
    folder: Path,
) -> None:
    session_id = await made(folder, "one", "two", "three")
    journal = journal_in(folder, session_id)
    damaged = journal.read_bytes().replace(b"two", b"2wo")
    journal.write_bytes(damaged)
    async with SessionManager(folder, Ambient()) as sessions:
        copy = await sessions.repair(session_id)
        session = await sessions.open(session_id)
        assert session.messages == (user("one"),)
        await session.append(user("on"))
        assert await sessions.repair(session_id) is None
    assert copy is not None
    assert copy.read_bytes() == damaged


async def test_a_repair_of_a_journal_that_is_damaged_from_its_first_line_leaves_an_empty_session(
    folder: Path,
) -> None:
    session_id = await made(folder, "one")
    journal_in(folder, session_id).write_bytes(b"")
    (folder / "index.json").unlink()
    async with SessionManager(folder, Ambient()) as sessions:
        (info,) = await sessions.list()
        assert "line 1, is damaged: it is not there" in info.problem
        await sessions.repair(session_id)
        assert (await sessions.open(session_id)).messages == ()
        assert [info.problem for info in await sessions.list()] == [""]


async def test_what_a_crash_has_left_of_a_new_or_deleted_session_is_cleared_away(
    folder: Path,
) -> None:
    await made(folder)
    (folder / "sessions" / ".unfinished-session_1" / "snapshots").mkdir(parents=True)
    (folder / "owner.json").write_text("{}", encoding="utf-8")  # nobody gave the folder back
    async with SessionManager(folder, Ambient()) as sessions:
        assert len(await sessions.list()) == 1
    assert len(list((folder / "sessions").iterdir())) == 1


@NEEDS_RIGHTS
@pytest.mark.parametrize("which", [1, 2, 3])  # the journal, its folder, the folder of sessions
async def test_a_session_that_could_not_be_made_leaves_nothing(folder: Path, which: int) -> None:
    disk = CountedDisk()
    async with SessionManager(folder, disk.ambient()) as sessions:
        disk.fails_at = disk.count + which
        with pytest.raises(WriteFailed, match="cannot be used: Input/output error"):
            await sessions.create()
        assert await sessions.list() == []
        assert list((folder / "sessions").iterdir()) == []
        await sessions.create()


@NEEDS_RIGHTS
async def test_a_session_that_could_not_be_deleted_is_still_there(folder: Path) -> None:
    session_id = await made(folder, "one")
    disk = CountedDisk()
    async with SessionManager(folder, disk.ambient()) as sessions:
        disk.fails_at = disk.count + 1
        with pytest.raises(WriteFailed):
            await sessions.delete(session_id)
        assert (await sessions.open(session_id)).messages == (user("one"),)
        await sessions.delete(session_id)


async def test_an_index_that_cannot_be_written_is_told_and_made_anew_next_time(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    disk = CountedDisk()
    sessions = SessionManager(folder, disk.ambient())
    session = await sessions.create()
    await session.append(user("one"))
    disk.fails = True
    await sessions.close()
    assert "index.json cannot be written: Input/output error. It will be" in caplog.text
    async with SessionManager(folder, Ambient()) as again:
        assert [info.messages for info in await again.list()] == [1]


async def test_what_a_session_has_not_stored_when_it_closes_is_told(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    disk = CountedDisk()
    sessions = SessionManager(folder, disk.ambient())
    session = await sessions.create()
    session.activate_skill("poet")
    disk.fails = True
    await sessions.close()
    assert f"session {session.id} could not be closed: " in caplog.text


async def test_a_manager_that_was_closed_takes_the_folder_again_when_it_is_used(
    folder: Path,
) -> None:
    sessions = SessionManager(folder, Ambient())
    session = await sessions.create()
    await sessions.close()
    await sessions.close()
    with pytest.raises(SessionReadOnly, match="the sessions were closed"):
        await session.append(user("one"))
    assert (await sessions.open(session.id)) is not session
    await sessions.close()


async def test_the_same_process_cannot_have_a_folder_twice(folder: Path) -> None:
    async with SessionManager(folder, Ambient()):
        with pytest.raises(SessionInUse, match=f"in use by process {os.getpid()} on"):
            await SessionManager(folder, Ambient()).list()
    async with SessionManager(folder, Ambient()):
        pass


@pytest.fixture
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a process that has the folder, and a session in it."""
    command = [sys.executable, "-c", HOLDER, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8") as started:
        yield started


async def test_a_second_process_is_told_who_holds_the_folder_until_that_one_is_dead(
    folder: Path, holder: subprocess.Popen[str]
) -> None:
    assert holder.stdout
    session_id = holder.stdout.readline().strip()
    sessions = SessionManager(folder, Ambient())
    with pytest.raises(SessionInUse, match=rf"process {holder.pid} on .*, since 2.*End it, or use"):
        await sessions.list()
    with pytest.raises(SessionInUse):  # asking has not taken it away
        await sessions.open(session_id)
    holder.kill()  # it has no chance to say goodbye
    holder.wait()
    async with sessions:
        assert [(info.id, info.messages) for info in await sessions.list()] == [(session_id, 1)]
        await (await sessions.open(session_id)).append(user("two"))


async def test_whoever_was_cancelled_while_the_folder_was_taken_can_ask_again(
    folder: Path,
) -> None:
    disk = CountedDisk()
    sessions = SessionManager(folder, disk.ambient())
    disk.hold()
    task = asyncio.create_task(sessions.create())
    await disk.until_it_waits()
    task.cancel()
    await asyncio.sleep(0)
    disk.gate.set()
    await asyncio.wait([task])
    assert task.cancelled()
    assert await sessions.list() == []
    await sessions.close()


async def test_a_session_whose_making_was_cancelled_is_there_whole_or_not_at_all(
    folder: Path,
) -> None:
    disk = CountedDisk()
    async with SessionManager(folder, disk.ambient()) as sessions:
        disk.hold()
        task = asyncio.create_task(sessions.create("cancelled"))
        await disk.until_it_waits()
        task.cancel()
        await asyncio.sleep(0)
        disk.gate.set()
        await asyncio.wait([task])
        assert task.cancelled()
        (info,) = await sessions.list()
        assert (await sessions.open(info.id)).title == "cancelled"


@NEEDS_LIMITS
async def test_on_a_full_disk_everything_can_be_read_and_nothing_is_lost(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    session_id, damaged = await made(folder, "one"), await made(folder, "two")
    journal_in(folder, damaged).write_bytes(b"damaged line\n")
    with disk_full_at(10):
        sessions = SessionManager(folder, Ambient())
        assert len(await sessions.list()) == 2
        session = await sessions.open(session_id)
        assert session.messages == (user("one"),)
        with pytest.raises(WriteFailed):
            await session.append(user("two"))
        with pytest.raises(SessionDamaged, match="no copy could be made: File too large"):
            await sessions.open(damaged)
    assert "owner.json cannot be written" in caplog.text
    await session.append(user("three"))  # there is room again; then comes a crash
    copy = folder.with_name("after the crash")
    shutil.copytree(folder, copy)
    await sessions.close()
    async with SessionManager(copy, Ambient()) as sessions:
        infos = {info.id: info for info in await sessions.list()}
        assert (infos[session_id].messages, infos[damaged].messages) == (2, 0)
        assert "line 1, is damaged" in infos[damaged].problem


@NEEDS_RIGHTS
async def test_a_place_that_is_no_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(WriteFailed, match=r"the sessions in .*file cannot be used: "):
        await SessionManager(tmp_path / "file", Ambient()).list()


async def test_nothing_is_logged_when_all_is_well(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        await made(folder, "one")
        await made(folder, "two")
    assert caplog.records == []
