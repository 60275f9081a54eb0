"""All sessions of one folder: make, list, open, archive, delete. (chapter 6.3)

    async with SessionManager(folder, ambient) as sessions:
        session = await sessions.create("Weather in Beijing")
        await agent.run("How warm is it?", session=session)

A session is read when it is opened, and no other one with it. The list is kept in memory and
written when the manager is closed; after a crash it is put right from the journals.
"""

from __future__ import annotations

import asyncio
import builtins
import logging
from collections.abc import Callable, Container
from datetime import UTC
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from freya_teach.ambient import Ambient
from freya_teach.errors import NoSuchSession, SessionError, WriteFailed
from freya_teach.session.disk import Disk, in_words
from freya_teach.session.models import Record, SessionInfo, State
from freya_teach.session.ownership import Ownership
from freya_teach.session.session import Session
from freya_teach.session.store import SessionStore

logger = logging.getLogger(__name__)

TRIES = 1_000
"""How often a new id is asked for when the one before is taken: counted ids begin at 1 again."""

T = TypeVar("T")


class SessionManager:
    """The sessions in a folder. It takes the folder when it is first used, until it is closed.

    Every method raises `SessionInUse` when another process has the folder, and `SessionError`
    when the folder cannot be used.
    """

    def __init__(self, folder: Path, ambient: Ambient) -> None:
        self.folder = folder
        self._ambient = ambient
        self._disk = Disk(ambient.fsync)
        self._store = SessionStore(folder, self._disk)
        self._ownership = Ownership(folder, ambient, self._disk)
        self._infos: dict[str, SessionInfo] | None = None
        """All sessions, as far as known; None before the folder is taken."""
        self._open: dict[str, Session] = {}
        self._one_by_one = asyncio.Lock()
        """Held while sessions come, go or are read; never while one is written to."""

    async def __aenter__(self) -> Self:
        async with self._one_by_one:
            await self._all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        await self.close()

    async def list(self, *, archived: bool = False) -> builtins.list[SessionInfo]:
        """The sessions, the one last written to first; the archived ones only when asked for."""
        async with self._one_by_one:
            infos = await self._all()
        opened = {name: session.info for name, session in self._open.items()}
        wanted = [info for info in {**infos, **opened}.values() if info.archived == archived]
        return sorted(wanted, key=lambda info: info.updated, reverse=True)

    async def create(self, title: str = "") -> Session:
        """A new session, which is on the disk. Raises `WriteFailed`."""
        async with self._one_by_one:
            infos = await self._all()
            session_id = self._free_id(infos)
            first = Record(self._now(), state=State(title=title))

            def make() -> None:  # noted in the thread, where no cancellation comes between
                self._store.create(session_id, first)
                infos[session_id] = SessionInfo(session_id)

            await self._in_words(make)
            return await self._load(session_id)

    async def open(self, session_id: str) -> Session:
        """The session with this id; the same object as long as it is open and can be written.

        Raises `NoSuchSession`, `SessionDamaged`.
        """
        async with self._one_by_one:
            await self._must_exist(session_id)
            session = self._open.get(session_id)
            if session is None or session.read_only:
                session = await self._load(session_id)
            return session

    async def rename(self, session_id: str, title: str) -> None:
        """Give a session another title. Raises what `open` and `append` raise."""
        await (await self.open(session_id)).rename(title)

    async def archive(self, session_id: str, *, archived: bool = True) -> None:
        """Take a session out of the usual list, or put it back. Raises as `rename` does."""
        await (await self.open(session_id)).archive(archived=archived)

    async def unload(self, session_id: str) -> None:
        """Store what a session has not stored yet, and free its memory. It can be opened again.

        Raises `NoSuchSession`, `SessionBusy` while a run holds it, and what `append` raises.
        """
        async with self._one_by_one:
            infos = await self._must_exist(session_id)
            if session := self._open.get(session_id):
                session.check_free()
                await session.close("it was unloaded")
                infos[session_id] = self._open.pop(session_id).info

    async def delete(self, session_id: str) -> None:
        """Remove a session for good. Raises `NoSuchSession`, `SessionBusy`, `WriteFailed`."""
        async with self._one_by_one:
            infos = await self._must_exist(session_id)
            if session := self._open.get(session_id):
                session.check_free()
                await session.stop("it was deleted")
                infos[session_id] = self._open.pop(session_id).info

            def remove() -> None:
                self._store.remove(session_id)
                del infos[session_id]

            await self._in_words(remove)

    async def repair(self, session_id: str) -> Path | None:
        """Make a damaged session usable: keep what comes before the damage.

        Returns where the whole journal was put, None when there was no damage. Raises
        `NoSuchSession`, `WriteFailed`.
        """
        async with self._one_by_one:
            infos = await self._must_exist(session_id)
            copy = await self._in_words(lambda: self._store.repair(session_id, self._now()))
            infos[session_id] = infos[session_id]._replace(problem="")
            return copy

    async def close(self) -> None:
        """Close all sessions, write the index and let others have the folder."""
        async with self._one_by_one:
            if self._infos is None:
                return
            in_order = True
            for name, session in self._open.items():
                in_order &= await self._closed(session)
                self._infos[name] = session.info
            infos = [*self._infos.values()]
            self._open, self._infos = {}, None
            try:
                await self._disk.run(lambda: self._give_back(infos, in_order=in_order))
            finally:
                self._disk.close()

    # ---- how -------------------------------------------------------------------------------

    async def _all(self) -> dict[str, SessionInfo]:
        """All sessions by id; at the first time, take the folder."""
        if self._infos is None:
            self._infos = await self._in_words(self._take)
        return self._infos

    def _take(self) -> dict[str, SessionInfo]:
        self._store.make_folders()
        was_given_back = self._ownership.take()
        try:
            if not was_given_back:
                self._store.clear_unfinished()
            infos = self._store.infos(trust_index=was_given_back)
            if not self._ownership.is_noted:  # the index would be trusted after a crash
                self._store.index.unlink(missing_ok=True)
        except BaseException:
            self._ownership.give_back(in_order=was_given_back)
            raise
        return infos

    def _give_back(self, infos: builtins.list[SessionInfo], *, in_order: bool) -> None:
        try:
            self._store.write_index(infos)
        except OSError as problem:
            in_order = False
            logger.warning(
                "%s cannot be written: %s. It will be made from the journals",
                self._store.index,
                in_words(problem),
            )
        self._ownership.give_back(in_order=in_order)

    async def _closed(self, session: Session) -> bool:
        """Close a session and say whether the index can be trusted about it."""
        could_write = not session.read_only
        try:
            await session.close("the sessions were closed")
        except SessionError as problem:
            logger.warning("session %s could not be closed: %s", session.id, problem)
            return False
        return could_write

    async def _must_exist(self, session_id: str) -> dict[str, SessionInfo]:
        infos = await self._all()
        if session_id not in infos:
            raise NoSuchSession(f"there is no session {session_id!r} in {self.folder}")
        return infos

    async def _load(self, session_id: str) -> Session:
        reading = await self._in_words(lambda: self._store.open(session_id))
        if reading.torn:
            logger.warning(
                "session %s: its last write had not ended, %d bytes of it were cut off",
                session_id,
                reading.torn,
            )
        journal = self._store.journal(session_id)
        session = Session(session_id, journal, reading, self._disk, self._ambient)
        self._open[session_id] = session
        return session

    async def _in_words(self, work: Callable[[], T]) -> T:
        """Do file work in a thread; what the system says becomes a `WriteFailed`."""
        try:
            return await self._disk.run(work)
        except OSError as problem:
            raise WriteFailed(
                f"the sessions in {self.folder} cannot be used: {in_words(problem)}"
                + (f" ({problem.filename})" if problem.filename else "")
            ) from problem

    def _free_id(self, taken: Container[str]) -> str:
        for _ in range(TRIES):
            if (new := self._ambient.new_id("session")) not in taken:
                return new
        raise SessionError(f"{TRIES:,} new ids in a row were taken, the last one was {new!r}")

    def _now(self) -> str:
        return self._ambient.now(UTC).isoformat()
