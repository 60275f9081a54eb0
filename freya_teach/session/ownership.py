"""One process at a time on one folder of sessions. (chapter 6.3)

The lock is the system's: it goes away with the process that holds it, however that ends. A file
beside it says who that is; left behind, it says that the last one did not end in order.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
from datetime import UTC
from pathlib import Path
from typing import Any

from freya_teach.ambient import Ambient
from freya_teach.errors import SessionInUse
from freya_teach.llm.wirejson import as_dict, encode
from freya_teach.session.disk import Disk, in_words

logger = logging.getLogger(__name__)


class Ownership:
    """The right of this process to write in a folder."""

    def __init__(self, folder: Path, ambient: Ambient, disk: Disk) -> None:
        self._folder = folder
        self._owner = folder / "owner.json"
        self._ambient = ambient
        self._disk = disk
        self.is_noted = False
        """Whether a file says so, which is how the next owner learns of a crash."""
        self._lock: Any = None
        self._was_given_back = True

    def take(self) -> bool:
        """Take the folder; return whether its last owner gave it back.

        Raises `SessionInUse` that says who has it, `OSError` when there can be no lock.
        """
        if self._lock is not None:  # whoever took it was cancelled meanwhile
            return self._was_given_back
        if sys.platform != "emscripten":  # a browser tab is alone with its files
            import filelock  # noqa: PLC0415 - only where there are other processes

            # not one lock per thread: it is taken in a thread, and given back in another
            lock = filelock.FileLock(self._folder / ".lock", mode=0o600, thread_local=False)
            try:
                lock.acquire(timeout=0)
            except filelock.Timeout:
                raise SessionInUse(self._who()) from None
            self._lock = lock
        self._was_given_back = not self._owner.exists()
        since = self._ambient.now(UTC).isoformat(timespec="seconds")
        me = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
        try:
            self._disk.replace(self._owner, encode(me))
        except OSError as problem:  # on a full disk sessions can still be read
            self.is_noted = False
            logger.warning("%s cannot be written: %s", self._owner, in_words(problem))
        else:
            self.is_noted = True
        return self._was_given_back

    def give_back(self, *, in_order: bool) -> None:
        """Let others have it; tell them when the index may be out of date."""
        if in_order:
            self._owner.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _who(self) -> str:
        try:
            owner = as_dict(json.loads(self._owner.read_bytes()))
        except (OSError, ValueError):
            owner = {}
        if who := owner:
            name = f"process {who.get('pid')} on {who.get('host')}, since {who.get('since')}"
        else:
            name = "another process"
        return (
            f"the sessions in {self._folder} are in use by {name}. End it, or use another folder "
            "(FREYA_SESSION_DIR)"
        )
