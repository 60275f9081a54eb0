"""The folder of all sessions: an index, and one folder for each session. (chapter 6.2)

    index.json                      one entry per session; made from the journals when it is lost
    sessions/<id>/journal.jsonl     the session itself
    sessions/<id>/snapshots/        what a new beginning has taken out of the history

Only the user may read it (0600 and 0700, where the system has such rights).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from operator import itemgetter
from pathlib import Path
from zlib import crc32

from freya_teach.errors import SessionDamaged, SessionError
from freya_teach.session.disk import Disk, in_words
from freya_teach.session.lines import Reading, exact_json, line_of, read_records
from freya_teach.session.models import FORMAT, Record, SessionInfo, State

FIELDS = itemgetter(*SessionInfo._fields)
"""An entry of the index → its values, as `SessionInfo` wants them."""
UNFINISHED = ".unfinished-"
"""How the name of a session's folder begins that is being made or removed."""


class SessionStore:
    """Where things are, and how they get there. All of it waits for the disk."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        self.folder = folder
        self.index = folder / "index.json"
        self.sessions = folder / "sessions"
        self._disk = disk

    def journal(self, session_id: str) -> Path:
        """The journal of a session."""
        return self.sessions / session_id / "journal.jsonl"

    def make_folders(self) -> None:
        """Make what is missing, private to the user. Raises `OSError`."""
        if self.sessions.is_dir():
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.sessions.mkdir(mode=0o700, exist_ok=True)
        self._disk.sync_folder(self.folder)
        self._disk.sync_folder(self.folder.parent)

    # ---- the list --------------------------------------------------------------------------

    def infos(self, *, trust_index: bool = False) -> dict[str, SessionInfo]:
        """All sessions by id. Journals are read only of those that the index does not know.

        Without trust, an entry counts only when the journal is as long as it says. Nothing is
        changed, so it may be asked while another process writes. Raises `OSError`.
        """
        known, changed = self._read_index()
        if trust_index and changed == self._last_change():
            return known
        infos = {}
        for name in os.listdir(self.sessions):  # noqa: PTH208 - ten thousand paths take time
            if name.startswith("."):
                continue
            info = known.get(name)
            if info is None or not (trust_index or self._length(name) == info.bytes):
                info = self._read_info(name)
            infos[name] = info
        return infos

    def write_index(self, infos: Iterable[SessionInfo]) -> None:
        """Replace the index. Raises `OSError`."""
        entries = [info._asdict() for info in infos]
        index = {"v": FORMAT, "changed": self._last_change(), "sessions": entries}
        self._disk.replace(self.index, exact_json(index) + b"\n")

    def _last_change(self) -> int:
        """When a session was last added or removed, whoever did it: as the file system has it."""
        return self.sessions.stat().st_mtime_ns

    def _read_index(self) -> tuple[dict[str, SessionInfo], int]:
        """The index, and the last change before it; nothing of it when it is missing or damaged."""
        try:
            stored = json.loads(self.index.read_bytes())
            if stored["v"] != FORMAT:
                return {}, 0
            for entry in stored["sessions"]:
                entry["toolboxes"] = tuple(entry["toolboxes"])
            infos = [SessionInfo._make(FIELDS(entry)) for entry in stored["sessions"]]
            return {info.id: info for info in infos}, stored["changed"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return {}, 0

    def _length(self, session_id: str) -> int:
        try:
            return self.journal(session_id).stat().st_size
        except OSError:
            return -1

    def _read_info(self, session_id: str) -> SessionInfo:
        """The entry of a session as its journal has it, or with the reason why that is not read."""
        try:
            reading = read_records(self.journal(session_id))
        except SessionError as newer:
            return SessionInfo(session_id, problem=str(newer))
        except OSError as problem:
            return SessionInfo(session_id, problem=f"it cannot be read: {in_words(problem)}")
        info = reading.contents.info(session_id, reading.size)
        return info._replace(problem=str(reading.damage or ""))

    # ---- one session -----------------------------------------------------------------------

    def create(self, session_id: str, first: Record) -> None:
        """Make a session whose journal has this record; all of it appears at once.

        Raises `OSError`, `FileExistsError` among them; then nothing is left of it.
        """
        unfinished = self.sessions / f"{UNFINISHED}{session_id}"
        place = self.sessions / session_id
        if place.exists():
            raise FileExistsError(f"there is a session {session_id!r} already")
        try:
            (unfinished / "snapshots").mkdir(mode=0o700, parents=True)
            unfinished.chmod(0o700)
            self._disk.replace(unfinished / "journal.jsonl", line_of(first))
            unfinished.rename(place)
            self._disk.sync_folder(self.sessions)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            shutil.rmtree(place, ignore_errors=True)
            raise

    def open(self, session_id: str) -> Reading:
        """Read a session, and cut off what is left of a write that did not end.

        Raises `OSError`; `SessionDamaged` after a copy of the journal was made.
        """
        path = self.journal(session_id)
        reading = read_records(path)
        if damage := reading.damage:
            try:
                copy = f"a copy is kept as {self._set_aside(path).name}"
            except OSError as problem:
                copy = f"no copy could be made: {in_words(problem)}"
            raise SessionDamaged(
                f"{damage}. Nothing was changed; {copy}. Repairing the session keeps the "
                f"{damage.line - 1} records before that line",
                file=damage.file,
                line=damage.line,
            )
        if reading.torn:
            self._disk.cut(path, reading.size)
        return reading

    def repair(self, session_id: str, now: str) -> Path | None:
        """Keep the records before the first damage; return where the whole journal was put.

        Returns None when there is no damage. Raises `OSError`.
        """
        path = self.journal(session_id)
        reading = read_records(path)
        if not reading.damage:
            return None
        copy = self._set_aside(path)
        whole = path.read_bytes()[: reading.size]
        self._disk.replace(path, whole or line_of(Record(now, state=State(title=session_id))))
        return copy

    def remove(self, session_id: str) -> None:
        """Remove a session, all of it at once. Raises `OSError`; then it is still there."""
        place, unfinished = self.sessions / session_id, self.sessions / f"{UNFINISHED}{session_id}"
        place.rename(unfinished)
        try:
            self._disk.sync_folder(self.sessions)
        except BaseException:
            unfinished.rename(place)
            raise
        shutil.rmtree(unfinished, ignore_errors=True)

    def clear_unfinished(self) -> None:
        """Remove what a crash has left of a session that was being made or removed."""
        for folder in self.sessions.glob(f"{UNFINISHED}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def _set_aside(self, path: Path) -> Path:
        """Copy a damaged file beside it; the same bytes are copied once, however often asked."""
        data = path.read_bytes()
        copy = path.with_name(f"{path.stem}.damaged-{crc32(data):08x}{path.suffix}")
        if not copy.exists():
            self._disk.replace(copy, data)
        return copy
