"""Disks that fail, counted fsyncs, and a session to try them on."""

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from freya_teach import Ambient

NEEDS_LIMITS = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no RLIMIT_FSIZE")
NEEDS_RIGHTS = pytest.mark.skipif(sys.platform == "win32", reason="rights as POSIX has them")


class CountedDisk:
    """An fsync that counts, and fails or waits when told to. The bytes do go to the disk."""

    def __init__(self) -> None:
        self.count = 0
        self.fails = False
        self.fails_at = 0
        """The number of the one call that fails."""
        self.gate = threading.Event()
        self.gate.set()
        self.began = threading.Event()

    def fsync(self, handle: int) -> None:
        self.count += 1
        self.began.set()
        assert self.gate.wait(10)
        if self.fails or self.count == self.fails_at:
            raise OSError(5, "Input/output error")
        os.fsync(handle)

    def ambient(self) -> Ambient:
        return Ambient(fsync=self.fsync)

    def hold(self) -> None:
        self.began.clear()
        self.gate.clear()

    async def until_it_waits(self) -> None:
        assert await asyncio.get_running_loop().run_in_executor(None, self.began.wait, 10)


@contextmanager
def disk_full_at(size: int) -> Iterator[None]:
    """No file of this process grows beyond `size` bytes: the system cuts the write short."""
    import resource  # noqa: PLC0415 - not on Windows

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing can be written below a folder. The superuser becomes somebody else meanwhile."""
    owner = 65534
    everything = [folder, *folder.rglob("*")]
    was_root = os.geteuid() == 0
    for path in everything:
        if was_root:
            os.chown(path, owner, owner)
        path.chmod(0o500 if path.is_dir() else 0o400)
    if was_root:
        os.seteuid(owner)
    try:
        yield
    finally:
        if was_root:
            os.seteuid(0)
        for path in everything:
            path.chmod(0o700 if path.is_dir() else 0o600)
