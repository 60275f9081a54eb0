"""Any sequence of what can be done with sessions, against a plain dict that does the same."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
    run_state_machine_as_test,
)

from freya_teach import Ambient, InMemoryHistory, SessionManager
from freya_teach.errors import NoSuchSession, SessionReadOnly
from freya_teach.llm.messages import Message, system
from tests.strategies import ANY_TEXT, valid_histories

T = TypeVar("T")


@dataclass
class Expected:
    """What a session should be."""

    title: str
    skill: str = ""
    """As the program sees it."""
    stored_skill: str = ""
    """As a crash would leave it: with the last write."""
    archived: bool = False
    history: InMemoryHistory = field(default_factory=InMemoryHistory)


class Sessions(RuleBasedStateMachine):
    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.place = Path(tempfile.mkdtemp())
        self.disk_fails = False
        self.expected: dict[str, Expected] = {}
        self.copies = 0
        self.sessions = self.manager(self.place / "0")

    def manager(self, folder: Path) -> SessionManager:
        def fsync(_: int) -> None:
            if self.disk_fails:
                raise OSError(5, "Input/output error")

        return SessionManager(folder, Ambient(fsync=fsync))

    def wait(self, work: Awaitable[T]) -> T:
        async def waiting() -> T:
            return await work

        return self.runner.run(waiting())

    def teardown(self) -> None:
        self.wait(self.sessions.close())
        self.runner.close()
        shutil.rmtree(self.place)

    @rule(target=ids, title=ANY_TEXT)
    def create(self, title: str) -> str:
        session = self.wait(self.sessions.create(title))
        self.expected[session.id] = Expected(title)
        return session.id

    @rule(session_id=ids, messages=valid_histories())
    def append(self, session_id: str, messages: list[Message]) -> None:
        session = self.wait(self.sessions.open(session_id))
        self.wait(session.append(*messages))
        expected = self.expected[session_id]
        self.wait(expected.history.append(*messages))
        if messages:
            expected.stored_skill = expected.skill

    @rule(session_id=ids, data=st.data(), current=st.sampled_from([True, True, False]))
    def replace(self, session_id: str, data: st.DataObject, *, current: bool) -> None:
        expected = self.expected[session_id]
        memory = expected.history
        through = data.draw(st.integers(memory.first - 1, memory.first + len(memory.messages)))
        numbers = st.integers(memory.first, max(memory.first, through))
        by = data.draw(st.lists(numbers | st.builds(system, ANY_TEXT), max_size=3))
        revision = memory.revision if current else memory.revision - 1
        session = self.wait(self.sessions.open(session_id))
        wanted = self.outcome(memory.replace(through, by, revision=revision))
        assert self.outcome(session.replace(through, by, revision=revision)) == wanted
        if wanted is True:
            expected.stored_skill = expected.skill

    def outcome(self, work: Awaitable[bool]) -> bool | str:
        try:
            return self.wait(work)
        except ValueError as problem:
            return str(problem)

    @rule(session_id=ids, title=ANY_TEXT)
    def rename(self, session_id: str, title: str) -> None:
        self.wait(self.sessions.rename(session_id, title))
        expected = self.expected[session_id]
        expected.title, expected.stored_skill = title, expected.skill

    @rule(session_id=ids, archived=st.booleans())
    def archive(self, session_id: str, *, archived: bool) -> None:
        self.wait(self.sessions.archive(session_id, archived=archived))
        expected = self.expected[session_id]
        expected.archived, expected.stored_skill = archived, expected.skill

    @rule(session_id=ids, skill=ANY_TEXT)
    def activate_skill(self, session_id: str, skill: str) -> None:
        self.wait(self.sessions.open(session_id)).activate_skill(skill)
        self.expected[session_id].skill = skill

    @rule(session_id=ids)
    def unload(self, session_id: str) -> None:
        self.wait(self.sessions.unload(session_id))
        self.expected[session_id].stored_skill = self.expected[session_id].skill

    @rule(session_id=consumes(ids))
    def delete(self, session_id: str) -> None:
        self.wait(self.sessions.delete(session_id))
        del self.expected[session_id]
        with pytest.raises(NoSuchSession):
            self.wait(self.sessions.open(session_id))

    @rule(session_id=ids, messages=valid_histories().filter(bool))
    def append_on_a_failing_disk(self, session_id: str, messages: list[Message]) -> None:
        session = self.wait(self.sessions.open(session_id))
        self.disk_fails = True
        with pytest.raises(SessionReadOnly):
            self.wait(session.append(*messages))
        self.disk_fails = False
        self.wait(self.sessions.open(session_id))
        self.expected[session_id].skill = self.expected[session_id].stored_skill

    @rule()
    def restart(self) -> None:
        self.wait(self.sessions.close())
        self.sessions = self.manager(self.sessions.folder)
        for expected in self.expected.values():
            expected.stored_skill = expected.skill

    @rule()
    def crash(self) -> None:
        """Go on with what is in the files at this moment, as after a crash."""
        self.copies += 1
        copy = self.place / str(self.copies)
        if self.sessions.folder.exists():
            shutil.copytree(self.sessions.folder, copy)
        self.wait(self.sessions.close())
        self.sessions = self.manager(copy)
        for expected in self.expected.values():
            expected.skill = expected.stored_skill

    @invariant()
    def the_list_is_right(self) -> None:
        infos = self.wait(self.sessions.list()) + self.wait(self.sessions.list(archived=True))
        found = {
            info.id: (info.title, info.skill, info.archived, info.messages, info.problem)
            for info in infos
        }
        assert found == {
            name: (one.title, one.skill, one.archived, len(one.history.messages), "")
            for name, one in self.expected.items()
        }

    @rule(session_id=ids)
    def look(self, session_id: str) -> None:
        session = self.wait(self.sessions.open(session_id))
        memory = self.expected[session_id].history
        assert session.messages == memory.messages
        assert (session.first, session.revision) == (memory.first, memory.revision)
        for revision, removed in enumerate(memory.snapshots, start=1):
            assert self.wait(session.snapshot(revision)) == removed


def test_sessions_are_what_a_plain_dict_says() -> None:
    run_state_machine_as_test(
        Sessions, settings=settings(max_examples=10, stateful_step_count=20, deadline=None)
    )


@pytest.mark.soak
def test_sessions_are_what_a_plain_dict_says_in_long() -> None:
    run_state_machine_as_test(
        Sessions, settings=settings(max_examples=150, stateful_step_count=50, deadline=None)
    )
