"""One stored conversation: what is acknowledged, what fails alone, what is found again."""

import asyncio
import os
import stat
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from freya_teach import Ambient, History, InMemoryHistory, Session, SessionManager
from freya_teach.errors import NestedWrite, SessionBusy, SessionReadOnly, WriteFailed
from freya_teach.llm.messages import Message, ToolCall, ToolMessage, assistant, system, user
from freya_teach.llm.transcript import LOST_RESULT, check
from tests.session.places import NEEDS_LIMITS, NEEDS_RIGHTS, CountedDisk, disk_full_at, read_only


@pytest.fixture
def disk() -> CountedDisk:
    return CountedDisk()


@pytest.fixture
async def sessions(tmp_path: Path, disk: CountedDisk) -> AsyncIterator[SessionManager]:
    async with SessionManager(tmp_path / "sessions", disk.ambient()) as manager:
        yield manager


@pytest.fixture
async def session(sessions: SessionManager) -> Session:
    return await sessions.create()


def journal_of(sessions: SessionManager, session: Session) -> Path:
    return sessions.folder / "sessions" / session.id / "journal.jsonl"


async def stored(sessions: SessionManager, session: Session) -> Session:
    """The session as a restart would find it."""
    await sessions.unload(session.id)
    return await sessions.open(session.id)


def texts(session: History) -> list[str]:
    return [message.text for message in session.messages]


async def test_it_fits_the_view_that_the_agent_has(session: Session) -> None:
    fits: History = session
    fits.use_model("openai/m")
    fits.activate_toolbox("web")
    fits.deactivate_toolbox("default")
    fits.activate_skill("poet")
    await fits.append(user("one"), assistant("two"))
    assert [message.role for message in fits.messages] == ["user", "assistant"]
    assert (fits.model, fits.active_toolboxes, fits.active_skill) == ("openai/m", ("web",), "poet")


async def test_all_of_it_is_found_again(sessions: SessionManager, session: Session) -> None:
    await session.append(user("one"))
    session.use_model("openai/m")
    session.activate_toolbox("web")
    await session.append(assistant("two"), user("three"))
    session.activate_skill("poet")  # after the last write: stored when it is closed
    await session.rename("Numbers")
    again = await stored(sessions, session)
    assert again is not session
    assert texts(again) == ["one", "two", "three"]
    assert (again.model, again.active_toolboxes) == ("openai/m", ("default", "web"))
    assert (again.active_skill, again.title) == ("poet", "Numbers")


async def test_an_append_returns_after_its_fsync_and_is_not_seen_before(
    session: Session, disk: CountedDisk
) -> None:
    disk.hold()
    task = asyncio.create_task(session.append(user("one")))
    await disk.until_it_waits()
    assert (task.done(), session.messages) == (False, ())
    disk.gate.set()
    await task
    assert texts(session) == ["one"]


async def test_appends_that_come_while_the_disk_works_share_the_next_fsync(
    session: Session, disk: CountedDisk
) -> None:
    before = disk.count
    disk.hold()
    first = asyncio.create_task(session.append(user("first")))
    await disk.until_it_waits()
    others = [asyncio.create_task(session.append(user(str(n)))) for n in range(20)]
    await asyncio.sleep(0)
    disk.gate.set()
    await asyncio.gather(first, *others)
    assert disk.count - before == 2
    assert texts(session) == ["first", *map(str, range(20))]


async def test_a_slow_disk_of_one_session_holds_up_neither_another_nor_the_loop(
    sessions: SessionManager, session: Session, disk: CountedDisk
) -> None:
    other = await sessions.create()
    disk.hold()
    slow = asyncio.create_task(session.append(user("slow")))
    await disk.until_it_waits()
    disk.began.clear()
    quick = asyncio.create_task(other.append(user("quick")))
    await disk.until_it_waits()  # the second fsync has begun beside the first
    assert not slow.done()
    disk.gate.set()
    await asyncio.gather(slow, quick)


async def test_after_a_failed_fsync_it_is_cut_back_and_read_only_until_it_is_opened_again(
    sessions: SessionManager, session: Session, disk: CountedDisk
) -> None:
    await session.append(user("kept"))
    journal = journal_of(sessions, session)
    before = journal.read_bytes()
    disk.fails = True
    with pytest.raises(SessionReadOnly, match=r"journal.jsonl takes no more: Input/output error"):
        await session.append(user("lost"))
    disk.fails = False
    assert journal.read_bytes() == before
    with pytest.raises(SessionReadOnly, match="Open the session again to go on"):
        await session.append(user("still not"))
    with pytest.raises(SessionReadOnly):
        await session.replace(0, [], revision=0)
    assert texts(session) == ["kept"]
    again = await sessions.open(session.id)
    await again.append(user("goes on"))
    assert texts(again) == ["kept", "goes on"]
    assert texts(session) == ["kept"]  # the old one has stopped for good


async def test_all_that_wait_for_a_failed_fsync_are_told(
    session: Session, disk: CountedDisk
) -> None:
    disk.hold()
    tasks = [asyncio.create_task(session.append(user("0")))]
    await disk.until_it_waits()
    tasks += [asyncio.create_task(session.append(user(str(n)))) for n in (1, 2)]
    await asyncio.sleep(0)
    disk.fails = True
    disk.gate.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [SessionReadOnly] * 3
    assert session.messages == ()


@NEEDS_LIMITS
async def test_a_full_disk_fails_the_write_that_does_not_fit_and_no_other(
    sessions: SessionManager, session: Session
) -> None:
    await session.append(user("kept"))
    journal = journal_of(sessions, session)
    before = journal.read_bytes()
    with disk_full_at(len(before) + 1_000):
        with pytest.raises(WriteFailed, match=r"journal.jsonl cannot be written: .* stands as bef"):
            await session.append(user("x" * 5_000))
        assert journal.read_bytes() == before
        results = await asyncio.gather(
            *(session.append(user(text)) for text in ("small", "x" * 5_000, "also small")),
            return_exceptions=True,
        )
    assert [type(result) for result in results] == [type(None), WriteFailed, type(None)]
    assert texts(await stored(sessions, session)) == ["kept", "small", "also small"]


@NEEDS_LIMITS
async def test_a_snapshot_that_does_not_fit_leaves_the_history_as_it_was(
    sessions: SessionManager, session: Session
) -> None:
    await session.append(user("x" * 5_000), user("1"))
    with disk_full_at(1_000), pytest.raises(WriteFailed, match="The history is as before"):
        await session.replace(0, [], revision=0)
    assert (len(session.messages), session.revision) == (2, 0)
    assert list((journal_of(sessions, session).parent / "snapshots").iterdir()) == []
    assert await session.replace(0, [], revision=0)


@NEEDS_RIGHTS
async def test_a_folder_that_can_only_be_read_fails_the_write_alone() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with SessionManager(folder, Ambient()) as sessions:
            session = await sessions.create()
            await session.append(user("kept"))
            with read_only(folder):
                with pytest.raises(
                    WriteFailed, match=r"journal.jsonl cannot be written: Permission"
                ):
                    await session.append(user("lost"))
                with pytest.raises(WriteFailed, match="cannot be used: Permission denied"):
                    await sessions.create()
                assert texts(session) == ["kept"]
            await session.append(user("goes on"))
            assert [info.messages for info in await sessions.list()] == [2]


async def test_a_journal_that_another_program_has_changed_is_not_written_over(
    sessions: SessionManager, session: Session
) -> None:
    await session.append(user("one"))
    journal = journal_of(sessions, session)
    with journal.open("ab") as file:
        file.write(b"from outside")
    changed = journal.read_bytes()
    with pytest.raises(SessionReadOnly, match="another program has changed it"):
        await session.append(user("two"))
    assert journal.read_bytes() == changed


async def test_a_write_that_is_cancelled_while_it_waits_is_not_stored(
    sessions: SessionManager, session: Session, disk: CountedDisk
) -> None:
    disk.hold()
    running = asyncio.create_task(session.append(user("running")))
    await disk.until_it_waits()
    waiting = [asyncio.create_task(session.append(user(text))) for text in ("gone", "stays")]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    disk.gate.set()
    await asyncio.wait([running, *waiting])
    assert texts(session) == texts(await stored(sessions, session)) == ["running", "stays"]


async def test_a_write_that_is_cancelled_while_the_disk_works_is_stored_whole(
    sessions: SessionManager, session: Session, disk: CountedDisk
) -> None:
    disk.hold()
    running = asyncio.create_task(session.append(user("a"), user("b")))
    await disk.until_it_waits()
    running.cancel()
    await asyncio.sleep(0)
    assert not running.done()  # whoever closes the calls of a run has to see what is stored
    disk.gate.set()
    await asyncio.wait([running])
    assert running.cancelled()
    assert texts(session) == ["a", "b"]
    await session.append(user("c"))
    assert texts(session) == texts(await stored(sessions, session)) == ["a", "b", "c"]


def test_a_program_that_ends_during_a_write_waits_for_it_and_finds_it_again(tmp_path: Path) -> None:
    disk = CountedDisk()
    sessions = SessionManager(tmp_path, disk.ambient())

    async def end_early() -> Session:
        session = await sessions.create()
        disk.hold()
        task = asyncio.create_task(session.append(user("one")))
        await disk.until_it_waits()
        asyncio.get_running_loop().call_later(0.01, disk.gate.set)
        assert not task.done()
        return session

    async def look(session_id: str) -> list[str]:
        async with sessions:
            return texts(await sessions.open(session_id))

    session = asyncio.run(end_early())  # its end cancels all tasks
    assert session.read_only == "the program ended during a write"
    assert asyncio.run(look(session.id)) == ["one"]


@pytest.mark.parametrize("wrong", ["hello", object()])
async def test_what_cannot_be_stored_is_refused_alone(session: Session, wrong: Message) -> None:
    results = await asyncio.gather(
        session.append(user("one")),
        session.append(wrong),
        session.append(user("two")),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), TypeError, type(None)]
    assert texts(session) == ["one", "two"]


async def test_an_update_sees_all_that_was_written_before_and_nothing_comes_between(
    session: Session,
) -> None:
    async def count_up(messages: tuple[Message, ...]) -> list[Message]:
        await asyncio.sleep(0)  # here another one would read the same number
        return [user(str(len(messages)))]

    await asyncio.gather(*(session.update(count_up) for _ in range(10)))
    assert texts(session) == [str(number) for number in range(10)]


async def test_a_write_inside_an_update_raises_and_the_update_can_go_on(session: Session) -> None:
    async def nested(_: tuple[Message, ...]) -> list[Message]:
        with pytest.raises(NestedWrite):
            await session.append(user("inside"))
        return [user("outside")]

    await session.update(nested)
    assert texts(session) == ["outside"]


async def test_an_update_that_adds_nothing_writes_nothing(
    session: Session, disk: CountedDisk
) -> None:
    async def nothing(_: tuple[Message, ...]) -> list[Message]:
        return []

    before = disk.count
    await session.update(nothing)
    assert disk.count == before


async def test_an_update_that_fails_stores_nothing(session: Session) -> None:
    async def fail(_: tuple[Message, ...]) -> list[Message]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await session.update(fail)
    await session.append(user("next"))
    assert texts(session) == ["next"]


FOUR = (user("0"), assistant("1"), user("2"), assistant("3"))


async def test_a_new_beginning_is_that_of_a_history_in_memory_and_is_found_again(
    sessions: SessionManager, session: Session
) -> None:
    memory = InMemoryHistory(FOUR)
    await session.append(*FOUR)
    plans: list[tuple[int, list[int | Message], int]] = [
        (2, [system("so far"), 2], 0),
        (1, [], 0),
        (2, [], 1),
    ]
    for through, by, revision in plans:
        assert await session.replace(through, by, revision=revision) == await memory.replace(
            through, by, revision=revision
        )
        again = await stored(sessions, session)
        assert (again.messages, again.first, again.revision) == (
            memory.messages,
            memory.first,
            memory.revision,
        )
        session = again
    assert [await session.snapshot(n) for n in (1, 2)] == memory.snapshots


async def test_two_plans_for_one_revision_and_only_the_first_is_carried_out(
    session: Session,
) -> None:
    await session.append(*FOUR)
    results = await asyncio.gather(
        session.replace(1, [system("a")], revision=0), session.replace(2, [], revision=0)
    )
    assert ([*results], texts(session)) == ([True, False], ["a", "2", "3"])


async def test_a_replacement_that_makes_no_sense_changes_nothing(session: Session) -> None:
    await session.append(*FOUR)
    with pytest.raises(ValueError, match="no message number 4"):
        await session.replace(4, [], revision=0)
    assert (len(session.messages), session.revision) == (4, 0)


async def test_a_run_that_was_cut_off_is_found_and_closed(
    sessions: SessionManager, session: Session
) -> None:
    calls = assistant(ToolCall("c1", "add", "{}"), ToolCall("c2", "add", "{}"))
    with session.claim():
        await session.append(user("?"), calls, ToolMessage("c1", "3"))
        assert not session.was_cut_off  # it is under way
    again = await stored(sessions, session)
    assert again.was_cut_off
    assert await again.close_open_calls() == [ToolMessage("c2", LOST_RESULT, is_error=True)]
    again = await stored(sessions, again)
    assert not again.was_cut_off
    check(again.messages)


async def test_one_run_holds_it_at_a_time(session: Session) -> None:
    with session.claim(), pytest.raises(SessionBusy, match="has a run in progress"):
        session.claim().__enter__()
    with session.claim():
        pass


async def test_a_title_that_could_not_be_stored_is_not_shown(
    session: Session, disk: CountedDisk
) -> None:
    disk.fails = True
    with pytest.raises(SessionReadOnly):
        await session.rename("New")
    disk.fails = False
    assert (session.title, session.info.title) == ("", "")


@NEEDS_RIGHTS
async def test_files_are_private_to_the_user(sessions: SessionManager, session: Session) -> None:
    await session.append(user("0"), user("1"))
    await session.replace(0, [], revision=0)
    await sessions.close()
    rights = {
        stat.S_IMODE(path.stat().st_mode) & (0o077 if path.is_dir() else 0o177)
        for path in [sessions.folder, *sessions.folder.rglob("*")]
    }
    assert rights == {0}
    names = sorted(os.listdir(sessions.folder / "sessions" / session.id))  # noqa: PTH208
    assert names == ["journal.jsonl", "snapshots"]
