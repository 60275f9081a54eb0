"""Files that survive a crash, and threads in which to wait for the disk. (chapter 6.3)

`write` hands bytes to the system, which keeps them in memory for a while; `fsync` returns when they
are on the disk. A new name, too, is only on the disk when its folder has been synced.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

THREADS = 4
"""So many sessions can wait for the disk at the same time."""
NO_SYNC_OF_FOLDERS = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
"""What file systems say that cannot sync a folder; any other error is one."""

T = TypeVar("T")


class NotDurable(Exception):
    """It is not known what of a write is on the disk, so nothing may be written behind it."""


class Disk:
    """Does file work in threads of its own, so that a slow disk holds up nobody else."""

    def __init__(self, fsync: Callable[[int], None] = os.fsync) -> None:
        self.fsync = fsync
        self._threads: ThreadPoolExecutor | None = None

    async def run(self, work: Callable[[], T]) -> T:
        """Do `work` in a thread. When cancelled, wait for its end first: it cannot be stopped.

        Otherwise it would go on beside whatever is done to the same file next.
        """
        if sys.platform == "emscripten":  # a web page has no threads
            return work()
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="freya-session")
        job = asyncio.get_running_loop().run_in_executor(self._threads, work)
        cancelled: asyncio.CancelledError | None = None
        while not job.done():
            try:
                await asyncio.wait({job})
            except asyncio.CancelledError as request:
                cancelled = request
        if cancelled is not None:
            job.exception()  # it was looked at
            raise cancelled
        return job.result()

    def close(self) -> None:
        """Let go of the threads, when what they do is done."""
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None

    def append(self, path: Path, size: int, data: bytes) -> None:
        """Write `data` behind the first `size` bytes, which must be all, and sync.

        Raises `OSError` when nothing of it has been written, `NotDurable` when that is not sure.
        """
        with path.open("r+b", buffering=0) as file:  # a buffer would be written after the cut, too
            if (found := file.seek(0, os.SEEK_END)) != size:
                raise NotDurable(f"another program has changed it: {found} bytes, not {size}")
            try:
                _write_all(file, data)
            except OSError:
                self._cut(file, size)
                raise
            try:
                self.fsync(file.fileno())
            except Exception as problem:
                self._cut(file, size)
                raise NotDurable(in_words(problem)) from problem

    def _cut(self, file: BinaryIO, size: int) -> None:
        """Undo a write."""
        try:
            file.truncate(size)
        except OSError as problem:
            raise NotDurable(f"{in_words(problem)}, while a write was undone") from problem

    def cut(self, path: Path, size: int) -> None:
        """Cut a file back to its first `size` bytes. Raises `OSError`."""
        with path.open("r+b", buffering=0) as file:
            file.truncate(size)
            self.fsync(file.fileno())

    def replace(self, path: Path, data: bytes) -> None:
        """Write a whole file: whoever opens it finds the old one or the new one, never a half.

        Raises `OSError`.
        """
        half = path.with_name(f".{path.name}.half")
        try:
            with open(half, "wb", buffering=0, opener=_private) as file:
                _write_all(file, data)
                self.fsync(file.fileno())
            half.replace(path)
        except BaseException:
            with suppress(OSError):
                half.unlink()
            raise
        self.sync_folder(path.parent)

    def sync_folder(self, folder: Path) -> None:
        """Return when the names in a folder are on the disk. Does nothing where there is no way."""
        if not hasattr(os, "O_DIRECTORY"):  # Windows opens no folders
            return
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self.fsync(handle)
        except OSError as problem:
            if problem.errno not in NO_SYNC_OF_FOLDERS:
                raise
        finally:
            os.close(handle)


def in_words(problem: Exception) -> str:
    """What the system says, without the path and the number."""
    return getattr(problem, "strerror", None) or str(problem) or type(problem).__name__


def _write_all(file: BinaryIO, data: bytes) -> None:
    """A disk that is nearly full takes a part of it, and refuses the rest."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
