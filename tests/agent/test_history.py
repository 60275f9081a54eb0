"""A conversation in memory, and who may hold it."""

import pytest

from freya_teach import InMemoryHistory
from freya_teach.errors import SessionBusy
from freya_teach.llm.messages import Message, assistant, system, user


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


def four() -> InMemoryHistory:
    return InMemoryHistory([user("0"), assistant("1"), user("2"), assistant("3")])


def texts(session: InMemoryHistory) -> list[str]:
    return [message.text for message in session.messages]


async def test_a_new_beginning_takes_the_place_of_the_old_one_and_the_rest_keeps_its_numbers() -> (
    None
):
    session = four()
    assert await session.replace(2, [system("so far"), 2], revision=0)
    assert texts(session) == ["so far", "2", "3"]
    assert (session.first, session.revision) == (1, 1)
    assert session.snapshots == [(user("0"), assistant("1"))]
    await session.append(user("4"))
    assert await session.replace(4, [], revision=1)
    assert (texts(session), session.first) == ([], 5)


async def test_a_plan_made_before_another_change_is_dropped() -> None:
    session = four()
    await session.replace(1, [], revision=0)
    assert not await session.replace(2, [], revision=0)
    assert (texts(session), len(session.snapshots)) == (["2", "3"], 1)


@pytest.mark.parametrize(
    ("through", "by", "problem"),
    [
        (4, [], "no message number 4"),
        (0, [user("a"), user("b")], "2 messages cannot take the place of 1"),
        (2, [2, 1], "must rise and lie between 0 and 2"),
        (1, [2], "must rise and lie between 0 and 1"),
        (2, [1, 1], "must rise"),
    ],
)
async def test_a_replacement_that_makes_no_sense_changes_nothing(
    through: int, by: list[int | Message], problem: str
) -> None:
    session = four()
    with pytest.raises(ValueError, match=problem):
        await session.replace(through, by, revision=0)
    assert (len(session.messages), session.snapshots) == (4, [])
