"""A conversation that is on the disk before anybody is told that it is stored. (chapter 6.3)

It fits the view that the agent has of a session, `History` in `agent/history.py`. What it gives
out is a copy; the only way to change it is a write, and writes wait for each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Any

from freya_teach.ambient import Ambient
from freya_teach.errors import SessionError, WriteFailed
from freya_teach.llm import transcript
from freya_teach.llm.messages import Message, ToolMessage
from freya_teach.session.claim import Claim
from freya_teach.session.disk import Disk, in_words
from freya_teach.session.journal import Journal
from freya_teach.session.lines import Reading, line_of, read_records
from freya_teach.session.models import Beginning, Record, SessionInfo
from freya_teach.session.replacing import replacement
from freya_teach.session.writer import WriteQueue

Change = Callable[[tuple[Message, ...]], Awaitable[Iterable[Message]]]
"""The messages as they are → the messages to add."""


class Session:
    """One stored conversation. A `SessionManager` opens it; there is one object for each id."""

    def __init__(
        self, session_id: str, journal: Path, reading: Reading, disk: Disk, ambient: Ambient
    ) -> None:
        self.id = session_id
        self.torn_bytes = reading.torn
        """Bytes of a write that had not ended when the program did; they were cut off at open."""
        self._stored = reading.contents
        self._state = reading.contents.state
        self._journal = Journal(journal, reading.size, disk, reading.contents.add)
        self._queue = WriteQueue(session_id)
        self._snapshots = journal.parent / "snapshots"
        self._disk = disk
        self._ambient = ambient
        self._claim = Claim(session_id)

    # ---- what it holds ---------------------------------------------------------------------

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages that are stored, oldest first."""
        return tuple(self._stored.messages)

    @property
    def first(self) -> int:
        """The number of `messages[0]`."""
        return self._stored.first

    @property
    def revision(self) -> int:
        """How often the beginning has been replaced."""
        return self._stored.revision

    @property
    def info(self) -> SessionInfo:
        """What the list of sessions says about it."""
        return replace(self._stored, state=self._state).info(self.id, self._journal.size)

    @property
    def was_cut_off(self) -> bool:
        """Whether the last run ended between a tool call and its result, as in a crash."""
        return self._claim.is_free and bool(transcript.open_calls(self._stored.messages))

    @property
    def read_only(self) -> str:
        """Why nothing can be added until it is opened again; empty while all is well."""
        return self._journal.read_only

    # ---- what it knows beside the messages: stored with the next write ---------------------

    @property
    def title(self) -> str:
        """What a person calls it."""
        return self._state.title

    @property
    def model(self) -> str:
        """The route that answered last."""
        return self._state.model

    @property
    def active_toolboxes(self) -> tuple[str, ...]:
        """The toolboxes that are on."""
        return self._state.toolboxes

    @property
    def active_skill(self) -> str:
        """The id of the skill that is on, or nothing."""
        return self._state.skill

    def use_model(self, route: str) -> None:
        """Remember the route that answered."""
        self._state = replace(self._state, model=route)

    def activate_toolbox(self, toolbox: str) -> None:
        """Switch this toolbox on."""
        if toolbox not in self._state.toolboxes:
            self._state = replace(self._state, toolboxes=(*self._state.toolboxes, toolbox))

    def deactivate_toolbox(self, toolbox: str) -> None:
        """Switch this toolbox off."""
        left = tuple(box for box in self._state.toolboxes if box != toolbox)
        self._state = replace(self._state, toolboxes=left)

    def activate_skill(self, skill_id: str) -> None:
        """Switch this skill on, and any other off."""
        self._state = replace(self._state, skill=skill_id)

    # ---- writes ----------------------------------------------------------------------------

    async def append(self, *messages: Message) -> None:
        """Add messages as one write; return when the disk has them.

        Raises `WriteFailed` (nothing of it is stored), `SessionReadOnly`, `NestedWrite`, and
        `SessionBusy` while a run holds it that the caller is no part of. Cancelled while it waits,
        nothing is stored; cancelled while the disk works, all of it or nothing, and `messages`
        says which: the cancellation waits for the disk.
        """
        if not messages:
            return
        self._claim.check_writer()
        async with self._queue.turn():
            stored = self._journal.add(self._record(messages=messages))
        try:
            await stored  # outside the turn: what comes meanwhile shares the next fsync
        except asyncio.CancelledError:
            await self._journal.settle()
            raise

    async def update(self, change: Change) -> None:
        """Read, decide and add as one write: nobody else writes between.

        `change` gets the messages and returns those to add. Do not call a model in it: all other
        writes on this session would wait. Raises what `append` and `change` raise.
        """
        self._claim.check_writer()
        async with self._queue.turn():
            await self._journal.settle()
            if not (messages := tuple(await change(self.messages))):
                return
            stored = self._journal.add(self._record(messages=messages))
        await stored

    async def replace(self, through: int, by: Sequence[int | Message], *, revision: int) -> bool:
        """Put `by` in the place of all messages up to number `through`; see `History.replace`.

        Raises what `append` raises, too.
        """
        async with self._queue.turn():
            await self._journal.settle()
            if revision != self.revision:
                return False
            new = replacement(self._stored.messages, self.first, through, by)
            await self._write_snapshot(new.removed)
            stored = self._journal.add(self._record(beginning=Beginning(through, tuple(by))))
        await stored
        return True

    async def rename(self, title: str) -> None:
        """Give it another title. Raises what `append` raises."""
        await self._change_state(title=title)

    async def archive(self, *, archived: bool = True) -> None:
        """Take it out of the usual list, or put it back. Raises what `append` raises."""
        await self._change_state(archived=archived)

    async def close_open_calls(self) -> list[ToolMessage]:
        """Give each call whose result a crash has lost an error as its result, and store that.

        The next run does it by itself. Raises `SessionBusy`, and what `append` raises.
        """
        with self.claim():
            results = transcript.close_open_calls(self.messages)
            await self.append(*results)
        return results

    async def snapshot(self, revision: int) -> tuple[Message, ...]:
        """What left the history when it got this revision (from 1).

        Raises `OSError` when there is none, `SessionDamaged`.
        """
        reading = await self._disk.run(partial(read_records, self._snapshot_path(revision)))
        if reading.damage:
            raise reading.damage
        return tuple(reading.contents.messages)

    def claim(self) -> AbstractContextManager[None]:
        """Hold the conversation for one run. Raises `SessionBusy` when a run holds it already."""
        return self._claim.hold()

    def check_free(self) -> None:
        """Raise `SessionBusy` when a run holds it."""
        self._claim.check_free()

    async def close(self, why: str = "it was closed") -> None:
        """Store what is not stored yet, and take nothing more. Raises what `append` raises."""
        try:
            if self._state != self._stored.state and not self.read_only:
                await self._change_state()
        finally:
            await self.stop(why)

    async def stop(self, why: str) -> None:
        """Take nothing more; return when what was on its way to the disk has arrived."""
        self._journal.read_only = self._journal.read_only or why
        await self._journal.settle()

    # ---- how -------------------------------------------------------------------------------

    async def _change_state(self, **changes: Any) -> None:
        before = {name: getattr(self._state, name) for name in changes}
        self._state = replace(self._state, **changes)
        try:
            async with self._queue.turn():
                stored = self._journal.add(self._record())
            await stored
        except SessionError:
            self._state = replace(self._state, **before)
            raise

    def _record(
        self, messages: tuple[Message, ...] = (), beginning: Beginning | None = None
    ) -> Record:
        """What changes now, with the state where it is not stored yet."""
        state = None if self._state == self._stored.state else self._state
        now = self._ambient.now(UTC).isoformat()
        return Record(now, messages, beginning, state)

    async def _write_snapshot(self, removed: tuple[Message, ...]) -> None:
        """Put aside what leaves the history, before it does."""
        if self.read_only:
            raise self._journal.refusal()
        path = self._snapshot_path(self.revision + 1)
        line = line_of(Record(self._ambient.now(UTC).isoformat(), removed))
        try:
            await self._disk.run(partial(self._disk.replace, path, line))
        except OSError as problem:
            raise WriteFailed(
                f"{path} cannot be written: {in_words(problem)}. The history is as before"
            ) from None

    def _snapshot_path(self, revision: int) -> Path:
        return self._snapshots / f"{revision:04}.jsonl"
