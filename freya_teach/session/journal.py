"""One file per session to which records are only ever added. (chapter 6.3)

    add(record) → waits → one write and one fsync for all that wait → memory → add returns

What has been acknowledged is on the disk. A record is written whole or not at all; when the disk
does not confirm a write, the file is cut back to what it had confirmed and takes nothing more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from freya_teach.errors import SessionReadOnly, WriteFailed
from freya_teach.session.disk import Disk, NotDurable, in_words
from freya_teach.session.lines import line_of
from freya_teach.session.models import Record


@dataclass(frozen=True, slots=True)
class Waiting:
    """A record on its way to the disk."""

    record: Record
    line: bytes
    done: asyncio.Future[None]


class Journal:
    """The end of a journal file. Reading one is done by `lines.py`."""

    def __init__(
        self, path: Path, size: int, disk: Disk, on_stored: Callable[[Record], None]
    ) -> None:
        self.path = path
        self.size = size
        """Bytes that are acknowledged."""
        self.read_only = ""
        """Why nothing can be added any more."""
        self._disk = disk
        self._on_stored = on_stored
        self._waiting: list[Waiting] = []
        self._committing: asyncio.Task[None] | None = None

    def add(self, record: Record) -> asyncio.Future[None]:
        """Line a record up at once; the result is there when the disk has it.

        Raises `SessionReadOnly`, and `TypeError` or `ValueError` for what JSON cannot hold. The
        result raises `WriteFailed` or `SessionReadOnly`. Cancelled before its turn, nothing of it
        is written; later, all of it is.
        """
        if self.read_only:
            raise self.refusal()
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(Waiting(record, line_of(record), done))
        if self._committing is None or self._committing.done():
            # a task of its own: the writer that happened to come first may be cancelled
            self._committing = asyncio.create_task(self._commit())
        return done

    async def settle(self) -> None:
        """Return when nothing is on its way to the disk any more."""
        while self._committing is not None and not self._committing.done():
            await asyncio.wait({self._committing})

    async def _commit(self) -> None:
        """Write what waits, all of it at once; meanwhile the next ones gather."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                await self._write(batch)
            except BaseException:  # cancelled: the event loop is being closed
                self._end("the program ended during a write", batch)
                raise

    async def _write(self, batch: list[Waiting]) -> None:
        batch = [waiting for waiting in batch if not waiting.done.cancelled()]
        data = b"".join(waiting.line for waiting in batch)
        try:
            if data:
                await self._disk.run(partial(self._disk.append, self.path, self.size, data))
        except NotDurable as problem:
            self._end(str(problem), batch)
        except OSError as problem:
            if len(batch) > 1:
                await self._write_singly(batch)
            else:
                self._fail(batch[0], problem)
        else:
            self.size += len(data)
            for waiting in batch:
                self._on_stored(waiting.record)
                if not waiting.done.done():
                    waiting.done.set_result(None)

    async def _write_singly(self, batch: list[Waiting]) -> None:
        """One of them may be too large for the disk, and the others are not."""
        for waiting in batch:
            if not self.read_only:
                await self._write([waiting])
            else:
                self._end(self.read_only, [waiting])

    def _fail(self, waiting: Waiting, problem: OSError) -> None:
        if not waiting.done.done():
            waiting.done.set_exception(
                WriteFailed(
                    f"{self.path} cannot be written: {in_words(problem)}. Nothing of this write is "
                    "stored; the session stands as before and takes others"
                )
            )

    def _end(self, why: str, batch: list[Waiting]) -> None:
        """Take nothing more, neither of this batch nor of what has gathered behind it."""
        self.read_only = self.read_only or why
        for waiting in [*batch, *self._waiting]:
            if not waiting.done.done():
                waiting.done.set_exception(self.refusal())
        self._waiting.clear()

    def refusal(self) -> SessionReadOnly:
        """Why nothing can be added, as an error."""
        return SessionReadOnly(
            f"{self.path} takes no more: {self.read_only}. Its {self.size:,} acknowledged bytes "
            "are kept. Open the session again to go on"
        )
