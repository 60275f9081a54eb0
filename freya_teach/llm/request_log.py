"""What was sent and what came back, whole, with the keys taken out. (chapter 3.4)

A file of JSON Lines for each day, `llm-2026-11-30.jsonl`. A request is written before it is sent,
its reply when it has come, under the same id: after a crash the log still says what was asked.
Full content by default: what a shorter log cuts off is what one needs when a prompt was composed
wrongly. A key in a header, in a URL or quoted back in an answer is replaced.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from freya_teach.ambient import Ambient
from freya_teach.llm.messages import Json
from freya_teach.llm.protocol import WireRequest
from freya_teach.llm.redaction import (
    REDACTED,
    SECRET_IN_URL,
    redact,
    redact_all,
    redacted_headers,
    secret_forms,
)
from freya_teach.llm.wirejson import as_dict, encode

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class RequestLog:
    """A folder of log files, private to the user, each opened for a line and closed again.

    A disk that is full or a folder that cannot be written is told once, and breaks no run.
    """

    folder: Path
    ambient: Ambient
    max_bytes: int | None = None
    """Bytes of one day's file; what comes after is not written. None means no limit."""
    _full: Path | None = None
    _has_told: bool = False

    def request(self, wire: WireRequest) -> LoggedRequest:
        """Write what is about to be sent; the result takes what comes back."""
        secrets = secret_forms(wire)
        url = redact(SECRET_IN_URL.sub(rf"\1{REDACTED}", wire.url), secrets)
        sent: dict[str, Json] = {
            "method": wire.method,
            "url": url,
            "headers": redacted_headers(wire.headers),
            "body": redact_all(json.loads(wire.body), secrets),
        }
        path = self.folder / f"llm-{self._now():%Y-%m-%d}.jsonl"
        entry = LoggedRequest(self, path, self.ambient.new_id("exchange"), secrets)
        self.append(path, {"id": entry.id, "request": sent})
        return entry

    def append(self, path: Path, entry: dict[str, Json]) -> None:
        """Write one line with the time. Nothing is raised where that is not possible."""
        if path == self._full:
            return
        line = encode({"time": self._now().isoformat(), **entry}) + b"\n"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(path, "a+b", opener=_private) as file:
                size = file.seek(0, os.SEEK_END)
                if self.max_bytes is not None and size + len(line) > self.max_bytes:
                    self._full = path
                    self._tell_once(f"{path} has reached its limit of {self.max_bytes:,} bytes")
                else:
                    file.write(_end_of_torn_line(file, size) + line)
        except OSError as problem:  # no reason to lose an answer that was paid for
            what = problem.strerror or problem
            self._tell_once(f"the request log {path} cannot be written: {what}")

    def _now(self) -> datetime:
        return self.ambient.now(self.ambient.zone)

    def _tell_once(self, problem: str) -> None:
        if not self._has_told:
            self._has_told = True
            logger.warning("%s. Runs go on, and are not logged while that is so", problem)


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A request that stands in the log and waits for its reply."""

    log: RequestLog
    path: Path
    """The file of the day of the request; a reply after midnight goes there too."""
    id: str
    secrets: tuple[str, ...] = field(repr=False)

    def reply(self, status: int | None, body: bytes, seconds: float, error: str = "") -> None:
        """Write what came back, or why nothing did; `status` is None where no answer came."""
        came: dict[str, Json] = {
            "status": status,
            "body": redact(body.decode("utf-8", "replace"), self.secrets),
            "seconds": round(seconds, 6),
            "error": redact(error, self.secrets),
        }
        self.log.append(self.path, {"id": self.id, "reply": came})


def read_log(path: Path) -> Iterator[dict[str, Json]]:
    """The exchanges of a log file, oldest first: `{id, time, request, reply}`, each once.

    `reply` is None where none was written, `request` is empty where that line is lost. A line that
    is broken (the last one, after a crash) is passed over. Raises `OSError`.
    """
    exchanges: list[dict[str, Json]] = []
    latest: dict[str, dict[str, Json]] = {}
    with path.open("rb") as file:
        for line in file:
            entry = _read_line(line)
            if not entry:
                continue
            id_, time = entry["id"], entry["time"]
            if "request" in entry or id_ not in latest:  # a counted id may come again
                latest[id_] = {"id": id_, "time": time, "request": {}, "reply": None}
                exchanges.append(latest[id_])
            halves = [name for name in ("request", "reply") if name in entry]
            latest[id_] |= {name: as_dict(entry[name]) for name in halves}
    yield from exchanges


def _read_line(line: bytes) -> dict[str, Json]:
    """The entry in a line, or nothing where the line is no whole entry."""
    try:
        entry = as_dict(json.loads(line))
    except (ValueError, RecursionError):
        return {}
    whole = isinstance(entry.get("id"), str) and isinstance(entry.get("time"), str)
    halves = [as_dict(entry.get(name)) for name in ("request", "reply")]
    return entry if whole and any(halves) else {}


def _end_of_torn_line(file: BinaryIO, size: int) -> bytes:
    """A line end where the last line has none: a crash or a full disk has cut it off."""
    if not size:
        return b""
    file.seek(size - 1)
    return b"" if file.read(1) == b"\n" else b"\n"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
