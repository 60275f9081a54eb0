"""A program that lets children append until it kills them, each at a random moment.

An order is a line of JSON: the fields of `Appending`, and the seconds to live. The child is
forked, so that it writes from its first millisecond on.
"""

import asyncio
import errno
import json
import logging
import os
import random
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import filelock  # noqa: F401 - imported before the fork, as the next line

from freya_teach import Ambient, Session, SessionManager
from freya_teach.errors import SessionReadOnly, WriteFailed
from freya_teach.llm.messages import user

WRITERS = 4
SIZES = (10, 2_000, 60_000)
"""Characters of a message: smaller than a page, and larger than a buffer."""


@dataclass
class Appending:
    """An order to append."""

    folder: str
    session_id: str
    acknowledged: str
    """The file for the texts of the acknowledged messages; what is in it survives the kill."""
    label: str
    trouble: str
    """What the disk does: "none", "full" or "fsync"."""
    seed: int

    async def until_killed(self) -> None:
        """Append with some writers."""
        self.chance = random.Random(self.seed)  # noqa: S311 - no secret
        self.notes = os.open(self.acknowledged, os.O_WRONLY | os.O_APPEND)
        self.sessions = SessionManager(Path(self.folder), Ambient(fsync=self.fsync))
        session = None
        while session is None:
            session = await self.open()
        if self.trouble == "full":
            self.make_disk_full(session)
        async with asyncio.TaskGroup() as group:
            for writer in range(WRITERS):
                group.create_task(self.write(writer, session))

    def fsync(self, handle: int) -> None:
        """Sync, or fail."""
        if self.trouble == "fsync" and self.chance.random() < 0.2:
            raise OSError(errno.EIO, "Input/output error")
        os.fsync(handle)

    async def open(self) -> Session | None:
        """Open the session; None where the disk failed."""
        try:
            return await self.sessions.open(self.session_id)
        except WriteFailed:
            return None

    async def write(self, writer: int, session: Session) -> None:
        """Append one message after the other, each until it is acknowledged."""
        number = 0
        while True:
            text = f"{self.label}/{writer}/{number}"
            try:
                await session.append(user(text.ljust(self.chance.choice(SIZES), ".")))
            except WriteFailed:
                self.make_disk_full(session)
            except SessionReadOnly:
                session = await self.open() or session
            else:
                os.write(self.notes, f"{text}\n".encode())
                number += 1

    def make_disk_full(self, session: Session) -> None:
        """Leave some room. A write beyond is cut short by the system, as on a full disk."""
        import resource  # noqa: PLC0415 - not on Windows

        size = session.info.bytes + self.chance.randrange(50_000)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def main() -> None:
    """Carry out orders until there are none."""
    logging.disable()  # that the disk fails is no news here
    for line in sys.stdin:
        order = json.loads(line)
        seconds = order.pop("seconds")
        appending = Appending(**order)
        if (child := os.fork()) == 0:
            try:
                asyncio.run(appending.until_killed())
            finally:
                os._exit(1)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else "ended", flush=True)


if __name__ == "__main__":
    main()
