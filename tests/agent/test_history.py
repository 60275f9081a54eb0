"""A conversation in memory, and who may hold it."""

import pytest

from freya_teach import InMemoryHistory
from freya_teach.errors import SessionBusy
from freya_teach.llm.messages import Message, assistant, user


async def test_messages_are_a_copy_that_nobody_can_change() -> None:
    session = InMemoryHistory()
    before = session.messages
    await session.append(user("one"), assistant("two"))
    assert (before, [m.role for m in session.messages]) == ((), ["user", "assistant"])


async def test_what_was_handed_in_is_not_shared() -> None:
    given: list[Message] = [user("one")]
    session = InMemoryHistory(given)
    given.append(user("two"))
    assert session.messages == (user("one"),)


async def test_nothing_may_be_appended() -> None:
    session = InMemoryHistory([user("one")])
    await session.append()
    assert session.messages == (user("one"),)


def test_one_run_holds_it_at_a_time() -> None:
    session = InMemoryHistory(session_id="s1")
    with session.claim():
        with pytest.raises(
            SessionBusy, match="session 's1' has a run in progress: wait for it, or"
        ):
            session.claim().__enter__()
        with pytest.raises(SessionBusy):  # the refused one has not let go of it
            session.claim().__enter__()
    with session.claim():
        pass


def test_it_is_free_again_after_a_failure() -> None:
    session = InMemoryHistory()
    with pytest.raises(KeyError), session.claim():
        raise KeyError
    with session.claim():
        pass


def test_toolboxes_are_switched_on_once_and_off_without_complaint() -> None:
    session = InMemoryHistory()
    session.activate_toolbox("web")
    session.activate_toolbox("web")
    assert session.active_toolboxes == ("default", "web")
    session.deactivate_toolbox("default")
    session.deactivate_toolbox("nope")
    assert session.active_toolboxes == ("web",)
