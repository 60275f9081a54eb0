"""A tree in which each name is opened inside the folder opened before it. (chapter 4.3)

    open(root) → openat(handle, "notes") → openat(handle, "today.txt")

Each step has `O_NOFOLLOW`: a link in this place is an error of the system, not a way out. Whoever
swaps a folder for a link between two steps changes a name that is not asked for any more.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from freya_teach.tools.relative_path import Parts
from freya_teach.tools.tree import (
    Entry,
    Kind,
    kind_of,
    must_be_file,
    must_be_free,
    temporary_name,
)

HERE = {os.open, os.stat, os.mkdir, os.unlink, os.rename} <= os.supports_dir_fd and hasattr(
    os, "O_NOFOLLOW"
)
"""Whether this system can do it."""
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# subtle: O_NONBLOCK, because opening a pipe would wait for its other end if one was swapped in
FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


class TreeByHandle:
    """A `Tree` on a system with `openat`. Python closes every handle in child processes itself."""

    def __init__(self, root: Path, fsync: Callable[[int], None] = os.fsync) -> None:
        self.root = root
        self._fsync = fsync

    def kind(self, parts: Parts) -> Kind:
        """What is there."""
        if not parts:
            return "folder"
        with self._folder(parts[:-1]) as folder:
            return kind_of(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False))

    def open_file(self, parts: Parts) -> BinaryIO:
        """A regular file, open for reading."""
        with self._folder(parts[:-1]) as folder:
            name = parts[-1] if parts else "."
            must_be_file(os.stat(name, dir_fd=folder, follow_symlinks=False), parts)
            handle = os.open(name, FILE, dir_fd=folder)
        file = os.fdopen(handle, "rb", closefd=True)
        try:
            must_be_file(os.fstat(handle), parts)  # what was opened, whatever it was before
        except BaseException:
            file.close()
            raise
        return file

    def entries(self, parts: Parts, limit: int) -> tuple[list[Entry], int]:
        """The first `limit` entries of a folder by name, and how many there are."""
        with self._folder(parts) as folder:
            names = sorted(os.listdir(folder))  # noqa: PTH208 - of an open handle
            found = []
            for name in names[:limit]:
                with suppress(FileNotFoundError):  # it has gone since
                    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    found.append(Entry(name, kind_of(status), status.st_size))
        return found, len(names)

    def write(self, parts: Parts, data: bytes, *, overwrite: bool) -> None:
        """A file with these bytes, and the folders above it. All of it appears at once."""
        name = parts[-1]
        with self._folder(parts[:-1], create=True) as folder:
            old = _status(name, folder)
            must_be_free(old, parts, overwrite=overwrite)
            unfinished = temporary_name()
            try:
                with os.fdopen(os.open(unfinished, NEW, 0o666, dir_fd=folder), "wb") as file:
                    if old:  # a script stays executable
                        os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode) & 0o777)
                    file.write(data)
                    file.flush()
                    self._fsync(file.fileno())
                _publish(unfinished, name, folder, overwrite=overwrite)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(unfinished, dir_fd=folder)
            with suppress(OSError):  # some file systems cannot do this for a folder
                self._fsync(folder)

    @contextmanager
    def _folder(self, parts: Parts, *, create: bool = False) -> Iterator[int]:
        """The handle of a folder, reached from the top without following a link."""
        handle = os.open(self.root, FOLDER)
        try:
            for name in parts:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=handle)
                below = os.open(name, FOLDER, dir_fd=handle)
                os.close(handle)
                handle = below
            yield handle
        finally:
            os.close(handle)


def _status(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _publish(unfinished: str, name: str, folder: int, *, overwrite: bool) -> None:
    """Give the finished file its name. Neither call follows a link that stands there."""
    if not overwrite:
        try:
            # subtle: unlike a rename, a hard link fails when the name was taken a moment ago; and
            # without follow_symlinks it would be one to wherever a link in our place leads
            os.link(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            raise
        except (OSError, NotImplementedError):  # a file system without hard links
            pass
        else:
            return
    os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
