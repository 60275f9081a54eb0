"""A result that is too long, or no text at all, goes to a file of the workspace. (chapter 4.4)

The model gets the path, the size, the kind and the beginning. The bytes are saved as they came:
reading an image as text and then saving it destroys it. What kind they are is looked up in the
bytes themselves, because names and headers may say anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from freya_teach.tools.fitting import fit

EXCERPT_CHARS = 2_000
LINES_AT_ONCE = 200

MAGIC: Mapping[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"%PDF-": "application/pdf",
    b"PK\x03\x04": "application/zip",
    b"PK\x05\x06": "application/zip",
    b"\x1f\x8b": "application/gzip",
    b"ID3": "audio/mpeg",
}
IN_RIFF: Mapping[bytes, str] = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
TEXTS = ("text/plain", "text/html", "application/json")
UNKNOWN = "application/octet-stream"


class Downloads(Protocol):
    """Where results are kept: a `Workspace`."""

    def save_download(self, data: bytes, hint: str = "") -> str:
        """Save, and return the path inside the workspace."""
        ...


@dataclass(frozen=True, slots=True)
class Saved:
    """A file that was written, or why it was not."""

    path: str = ""
    problem: str = ""


def media_type(data: bytes) -> str:
    r"""What the bytes are, from their first ones.

    >>> media_type(b"%PDF-1.7 ..."), media_type(b'{"a": 1}'), media_type(b"\0\1")
    ('application/pdf', 'application/json', 'application/octet-stream')
    """
    for start, kind in MAGIC.items():
        if data.startswith(start):
            return kind
    if data.startswith(b"RIFF") and data[8:12] in IN_RIFF:
        return IN_RIFF[data[8:12]]
    if data[4:8] == b"ftyp":
        return "video/mp4"
    text = as_text(data)
    return UNKNOWN if text is None else text_type(text)


def as_text(data: bytes) -> str | None:
    """The bytes as UTF-8 text, or nothing when they are no such text."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def text_type(text: str) -> str:
    """JSON, HTML, or just text."""
    start = text[:200].lstrip().lower()
    if start.startswith(("<!doctype html", "<html")):
        return "text/html"
    if start.startswith(("{", "[")):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return "text/plain"
        return "application/json"
    return "text/plain"


def save(data: bytes, kind: str, downloads: Downloads) -> Saved:
    """Write the bytes; that the disk is full is no reason to lose the whole result."""
    try:
        return Saved(path=downloads.save_download(data, kind))
    except Exception as problem:  # noqa: BLE001 - whatever it is, the excerpt is still there
        return Saved(problem=type(problem).__name__)


def told_text(text: str, size: str, kind: str, saved: Saved, limit: int) -> str:
    """What the model reads of a long text: where it is, how it begins, and how it ends."""
    if not saved.path:
        return fit(text, limit)
    title = f"The result has {size} ({kind}). It is saved as {saved.path}.\n"
    return fit(title + _excerpt(text, saved.path), limit)


def _excerpt(text: str, path: str) -> str:
    """Head and tail, with the call that reads on in the file."""
    first = text[: EXCERPT_CHARS // 2].count("\n") + 1
    last = min(text.count("\n") + 1, first + LINES_AT_ONCE - 1)
    hint = f'read_file(path="{path}", start_line={first}, end_line={last}) reads on'
    return fit(text, EXCERPT_CHARS, hint)


def told_bytes(data: bytes, kind: str, saved: Saved) -> str:
    """What the model reads of bytes that are no text."""
    size = f"{len(data):,} bytes ({kind})"
    if saved.path:
        return (
            f"The result is {size}. It is saved as {saved.path}. It is no text: read_file cannot "
            "show it. Pass the path on to a tool that takes one, or to the user."
        )
    why = f"saving them failed ({saved.problem})" if saved.problem else "there is no workspace"
    return f"The tool returned {size}, which cannot be shown as text, and {why}."
