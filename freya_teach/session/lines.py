"""One record as one line, with a checksum that tells damage. (chapter 6.3)

    {"crc":"4fd1b1c0","record":{"v":1,"time":"2026-11-30T12:00:00+00:00","messages":[…]}}

The line end comes last: what has none was cut off while it was written. A line that has one and
does not fit its checksum has been changed afterwards, and that is damage.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from freya_teach.errors import SessionDamaged, SessionError
from freya_teach.llm.messages import Json
from freya_teach.session.contents import Contents
from freya_teach.session.models import FORMAT, Record


def line_of(record: Record) -> bytes:
    """The line of a record. Raises `TypeError` or `ValueError` for what JSON cannot hold."""
    body = exact_json(record.to_json())
    return b'{"crc":"%08x","record":%b}\n' % (crc32(body), body)


def exact_json(value: Json) -> bytes:
    """JSON as bytes that `json.loads` makes the same value of."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # subtle: half of a surrogate pair is no UTF-8. Escaped, as \ud83d, and followed by the other
    # half it would be read as one character; this way it comes back as it was.
    return text.encode("utf-8", "surrogatepass")


@dataclass(slots=True)
class Reading:
    """What is in a file of records, up to the first damage."""

    contents: Contents
    size: int = 0
    """Bytes of the lines that `contents` is made of."""
    torn: int = 0
    """Bytes at the end: the beginning of a line whose write did not end."""
    damage: SessionDamaged | None = None
    """The first line that is not what was written."""


def read_records(path: Path) -> Reading:
    """Read a file of records. Raises `OSError`, and `SessionError` for a newer format."""
    return records_in(path.read_bytes(), path)


def records_in(data: bytes, path: Path) -> Reading:
    """The records in the bytes of this file. Raises `SessionError` for a newer format."""
    *lines, end = data.split(b"\n")
    reading = Reading(Contents())
    for number, line in enumerate(lines, start=1):
        try:
            reading.contents.add(_record_in(line))
        except SessionError as newer:
            raise SessionError(f"{path}, line {number}: {newer}") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
            reading.damage = _damage(path, number, str(problem))
            return reading
        reading.size += len(line) + 1
    reading.torn = len(end)
    if not lines:
        reading.damage = _damage(path, 1, "it is not there")
    return reading


def _record_in(line: bytes) -> Record:
    body = line[len(b'{"crc":"00000000","record":') : -1]
    if line != b'{"crc":"%08x","record":%b}' % (crc32(body), body):
        raise ValueError("it does not fit its checksum")
    stored = json.loads(body)
    if stored["v"] > FORMAT:
        raise SessionError(
            f"written in format {stored['v']}, and this version of freya_teach reads up to "
            f"{FORMAT}. Update it"
        )
    return Record.from_json(stored)


def _damage(path: Path, number: int, why: str) -> SessionDamaged:
    return SessionDamaged(f"{path}, line {number}, is damaged: {why}", file=str(path), line=number)
