"""A tree for systems that open files by their full name only, such as Windows. (chapter 4.3)

Each folder on the way is looked at before and after a file is opened, and the file that was
opened must be the file that was looked at; only then is a byte of it read or written. Whoever
wants to get past this must swap a folder for a link and back twice, each time between two
neighbouring lines: that is weaker than `tree_by_handle.py`, where no such moment exists. A single
swap at the right moment can make it begin a new file or folder outside: an empty one, which stays
there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from freya_teach.errors import ToolError
from freya_teach.tools.relative_path import Parts
from freya_teach.tools.tree import (
    Entry,
    Kind,
    kind_of,
    must_be_file,
    must_be_free,
    shown,
    temporary_name,
)

PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
FILE = os.O_RDONLY | PLAIN
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | PLAIN

Way = list[tuple[int, int]]
"""Device and number of each folder from the top down: the same when nothing was swapped."""


class TreeByName:
    """A `Tree` that works everywhere."""

    def __init__(self, root: Path, fsync: Callable[[int], None] = os.fsync) -> None:
        self.root = root
        self._fsync = fsync

    def kind(self, parts: Parts) -> Kind:
        """What is there."""
        self._way(parts[:-1])
        return kind_of(os.lstat(self.root.joinpath(*parts)))

    def open_file(self, parts: Parts) -> BinaryIO:
        """A regular file, open for reading."""
        path, way = self.root.joinpath(*parts), self._way(parts[:-1])
        must_be_file(os.lstat(path), parts)
        file = os.fdopen(os.open(path, FILE), "rb")
        try:
            self._still(parts, way, file.fileno())
        except BaseException:
            file.close()
            raise
        return file

    def entries(self, parts: Parts, limit: int) -> tuple[list[Entry], int]:
        """The first `limit` entries of a folder by name, and how many there are."""
        path, way = self.root.joinpath(*parts), self._way(parts)
        names = sorted(os.listdir(path))  # noqa: PTH208 - names are all it needs
        found = []
        for name in names[:limit]:
            with suppress(FileNotFoundError):  # it has gone since
                status = os.lstat(path / name)
                found.append(Entry(name, kind_of(status), status.st_size))
        if self._way(parts) != way:
            raise _swapped(parts)
        return found, len(names)

    def write(self, parts: Parts, data: bytes, *, overwrite: bool) -> None:
        """A file with these bytes, and the folders above it. All of it appears at once."""
        path, way = self.root.joinpath(*parts), self._way(parts[:-1], create=True)
        must_be_free(_status(path), parts, overwrite=overwrite)
        unfinished = path.with_name(temporary_name())
        try:
            with os.fdopen(os.open(unfinished, NEW, 0o666), "wb") as file:
                self._still((*parts[:-1], unfinished.name), way, file.fileno())
                file.write(data)
                file.flush()
                self._fsync(file.fileno())
            _publish(unfinished, path, overwrite=overwrite)
        finally:
            with suppress(FileNotFoundError):
                unfinished.unlink()

    def _way(self, parts: Parts, *, create: bool = False) -> Way:
        """Look at each folder on the way; none of them may be a link."""
        way, path = [_identity(os.lstat(self.root))], self.root
        for number, name in enumerate(parts, start=1):
            path /= name
            if create:
                with suppress(FileExistsError):
                    path.mkdir()
            status = os.lstat(path)
            if kind_of(status) != "folder":
                raise NotADirectoryError(20, "Not a folder", shown(parts[:number]))
            way.append(_identity(status))
        return way

    def _still(self, parts: Parts, way: Way, handle: int) -> None:
        """Raise unless the open file is the one that has this name now, on the way seen before."""
        opened = os.fstat(handle)
        must_be_file(opened, parts)
        named = os.lstat(self.root.joinpath(*parts))
        if self._way(parts[:-1]) != way or not os.path.samestat(opened, named):
            raise _swapped(parts)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _swapped(parts: Parts) -> ToolError:
    return ToolError(f"{shown(parts)} was moved or replaced while it was being opened. Try again.")


def _status(path: Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def _publish(unfinished: Path, path: Path, *, overwrite: bool) -> None:
    """Give the finished file its name. On Windows a plain rename fails when the name is taken."""
    if overwrite:
        unfinished.replace(path)
    elif os.name == "nt":
        unfinished.rename(path)
    else:
        os.link(unfinished, path, follow_symlinks=False)
