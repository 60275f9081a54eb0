"""A part of a text file, as a model gets to read it. (chapter 4.3)

    [notes.txt: lines 3-5 of 120; go on with start_line=6]
    the text itself, without line numbers

The first line says what the text cannot: where it is from and how to go on. The lines themselves
carry no numbers, so that what is read can be written back as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from freya_teach.errors import ToolError
from freya_teach.tools.lines import Encoding, Lines, line_text, never, utf8_chunks

SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (.docx, .xlsx and .jar are ones too)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x7fELF", "a program"),
    (b"\0asm", "a WebAssembly program"),
)
HEAD_BYTES = 8_192


def binary_kind(head: bytes) -> str:
    r"""What a file is if it is no text, from its first bytes; "" for text.

    >>> binary_kind(b"%PDF-1.7")
    'a PDF document'
    """
    for signature, kind in SIGNATURES:
        if head.startswith(signature):
            return kind
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16 text"
    return "binary data" if b"\0" in head else ""


def must_be_text(file: BinaryIO, shown: str, size: int, encoding: Encoding) -> None:
    """Raise `ToolError` for a file that is no text, with its kind and size."""
    kind = binary_kind(file.read(HEAD_BYTES))
    file.seek(0)
    if not kind or encoding == "utf-16":
        return
    if kind == "UTF-16 text":
        raise ToolError(f"{shown} is UTF-16 text. Call again with encoding='utf-16'.")
    raise ToolError(
        f"{shown} is {kind} of {size:,} bytes, not text, so it was not read. "
        "Use a tool made for this kind of file, or tell the user."
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """Which lines are wanted (from 1, both ends included), and how much text there may be."""

    start: int = 1
    end: int | None = None
    encoding: Encoding = "utf-8"
    max_chars: int = 16_000
    max_line_chars: int = 2_000


@dataclass(frozen=True, slots=True)
class Part:
    """The lines that were read, and how many the file has, if that is known."""

    lines: tuple[str, ...]
    total: int | None
    crlf: bool


def read_part(
    file: BinaryIO, asked: Asked, *, count_all: bool, stop: Callable[[], bool] = never
) -> Part:
    """Read the lines that were asked for, at most `max_chars` of them.

    With `count_all` the rest of the file is read too, only to know how many lines there are.
    """
    lines = Lines(utf8_chunks(file, asked.encoding, stop))
    lines.skip_to(asked.start - 1)
    found: list[str] = []
    chars, crlf, at_end = 0, False, False
    while asked.end is None or asked.start + len(found) <= asked.end:
        line = lines.read(4 * asked.max_line_chars)  # a character has 4 bytes at most
        if line is None:
            at_end = True
            break
        text = line_text(line, lines.number, asked.encoding, asked.max_line_chars)
        chars += len(text) + 1
        if found and chars > asked.max_chars:
            break
        found.append(text)
        crlf = crlf or line.crlf
    if count_all and not at_end:
        lines.skip_to(float("inf"))
    return Part(tuple(found), lines.number if at_end or count_all else None, crlf)


def as_told(part: Part, asked: Asked, shown: str, size: int) -> str:
    """What the model reads: one line about the part, then the part itself."""
    if not part.lines:
        if part.total:
            raise ToolError(
                f"{shown} has {part.total:,} lines, so there is no line {asked.start:,}. "
                f"Its last line is start_line={part.total}."
            )
        return f"[{shown} is empty]"
    last = asked.start + len(part.lines) - 1
    whole = f"of {part.total:,}" if part.total is not None else f"of a file of {size:,} bytes"
    more = "" if last == part.total else f"; go on with start_line={last + 1}"
    ends = "; its lines end with CRLF" if part.crlf else ""
    return "\n".join([f"[{shown}: lines {asked.start}-{last} {whole}{more}{ends}]", *part.lines])
