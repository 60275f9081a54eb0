"""Who may write while a run holds a session."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from freya_teach import Ambient, History, InMemoryHistory, SessionManager
from freya_teach.errors import SessionBusy
from freya_teach.llm import transcript
from freya_teach.llm.messages import Message, ToolCall, ToolMessage, assistant, user
from tests.wire_answers import Answer, Model

HINT = "has a run in progress, and its history is the run's until it ends"


@pytest.fixture(params=["stored", "in memory"])
async def session(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[History]:
    """Both kinds keep the same rule."""
    if request.param == "in memory":
        yield InMemoryHistory()
        return
    async with SessionManager(tmp_path, Ambient()) as sessions:
        yield await sessions.create()


def roles(session: History) -> list[str]:
    return [message.role for message in session.messages]


async def test_what_another_task_appends_cannot_come_between_a_call_and_its_result(
    session: History,
) -> None:
    called, go_on = asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        """Take a while."""
        called.set()
        await go_on.wait()
        return "done"

    agent = Model(Answer(calls=[("slow", {})]), Answer("Good."), Answer("Yes.")).kernel().agent
    task = asyncio.create_task(agent([slow]).run("?", session=session))
    await called.wait()
    with pytest.raises(SessionBusy, match=HINT):
        await session.append(user("And?"))
    go_on.set()
    await task
    transcript.check(session.messages)
    await session.append(user("And?"))
    assert roles(session) == ["user", "assistant", "tool", "assistant", "user"]


async def test_an_update_from_outside_is_refused_and_its_function_not_called(
    tmp_path: Path,
) -> None:
    async def never(_: tuple[Message, ...]) -> list[Message]:
        raise AssertionError

    async with SessionManager(tmp_path, Ambient()) as sessions:
        session = await sessions.create()
        outside = asyncio.Event()

        async def hold() -> None:
            with session.claim():
                outside.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(hold())
        await outside.wait()
        with pytest.raises(SessionBusy, match=HINT):
            await session.update(never)
        await session.rename("New")  # what is no message stays free
        task.cancel()
        await asyncio.wait([task])
        await session.append(user("free again"))


async def test_the_run_and_the_tasks_that_it_has_started_may_write(session: History) -> None:
    with session.claim():
        await session.append(user("?"), assistant(ToolCall("c1", "add", "{}")))
        await asyncio.create_task(session.append(ToolMessage("c1", "3")))
        await asyncio.gather(session.append(assistant("3")))
    assert roles(session) == ["user", "assistant", "tool", "assistant"]


async def test_a_task_that_outlives_its_run_is_an_outsider_to_the_next(session: History) -> None:
    next_run, tried = asyncio.Event(), asyncio.Event()

    async def late() -> None:
        await next_run.wait()
        try:
            await session.append(user("late"))
        finally:
            tried.set()

    with session.claim():
        task = asyncio.create_task(late())
    holder = asyncio.create_task(_hold(session, next_run, tried))
    with pytest.raises(SessionBusy, match=HINT):
        await task
    await holder
    assert session.messages == ()


async def _hold(session: History, held: asyncio.Event, until: asyncio.Event) -> None:
    with session.claim():
        held.set()
        await until.wait()


async def test_a_run_inside_a_run_holds_its_own_session_beside_the_first(session: History) -> None:
    other = InMemoryHistory()
    with session.claim():
        with other.claim():
            await session.append(user("outer"))
            await other.append(user("inner"))
        await session.append(assistant("after"))
    assert (roles(session), roles(other)) == (["user", "assistant"], ["user"])


async def test_a_claim_may_end_in_another_context_than_it_began(session: History) -> None:
    claim = session.claim()

    async def begin() -> None:
        claim.__enter__()

    await asyncio.create_task(begin())
    with pytest.raises(SessionBusy):
        await session.append(user("not mine"))
    claim.__exit__(None, None, None)
    await session.append(user("free"))
    assert roles(session) == ["user"]
