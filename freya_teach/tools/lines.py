r"""The lines of a file of any size, holding one small piece of it at a time. (chapter 4.3)

Lines end with "\n"; a "\r" before it belongs to the end as well. Everything is counted in bytes
of UTF-8, where the byte of "\n" means nothing else, so that skipping a million lines decodes
none of them. A file in another encoding becomes UTF-8 on its way in.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import BinaryIO, Literal, NamedTuple

from freya_teach.errors import ToolError

Encoding = Literal["utf-8", "utf-8-replace", "utf-16", "latin-1", "gb18030", "shift_jis"]

CHUNK_BYTES = 64 * 1024


def never() -> bool:
    """Nobody asks to stop."""
    return False


class Line(NamedTuple):
    """A line without its end: its first bytes, and how many bytes it has in all."""

    head: bytes
    length: int
    crlf: bool


class Lines:
    """Lines of a stream, one after the other. `number` is how many have been passed."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self.number = 0
        self._chunks = chunks
        self._chunk = b""
        self._at = 0

    def read(self, keep: int) -> Line | None:
        """Pass the next line and return it, with at most `keep` of its bytes; None at the end."""
        if not self._fill():
            return None
        end = self._chunk.find(b"\n", self._at)
        if end >= 0:  # all of it in this piece, as nearly always
            whole = self._chunk[self._at : end]
            self._at = end + 1
            head, length = whole[:keep], len(whole)
        else:
            head, length, end = self._read_over_pieces(keep)
        self.number += 1
        if end >= 0 and length == len(head) and head.endswith(b"\r"):
            return Line(head[:-1], length - 1, crlf=True)
        return Line(head, length, crlf=False)

    def _read_over_pieces(self, keep: int) -> tuple[bytes, int, int]:
        """The head and the length of a line, and where it ended; -1 at the end of the stream."""
        head, length, end = bytearray(), 0, -1
        while end < 0 and self._fill():
            end = self._chunk.find(b"\n", self._at)
            stop = end if end >= 0 else len(self._chunk)
            head += self._chunk[self._at : min(stop, self._at + keep - len(head))]
            length += stop - self._at
            self._at = stop + 1 if end >= 0 else stop
        return bytes(head), length, end

    def skip_to(self, number: float) -> None:
        """Pass lines until so many have been passed, or until the end."""
        unfinished = False
        while self.number < number and self._fill():
            here = self._chunk.count(b"\n", self._at)
            if self.number + here < number:
                unfinished = not self._chunk.endswith(b"\n")
                self.number += here
                self._at = len(self._chunk)
                continue
            while self.number < number:
                self._at = self._chunk.index(b"\n", self._at) + 1
                self.number += 1
            return
        self.number += unfinished

    def _fill(self) -> bool:
        """Take the next piece when this one is used up; False at the end of the stream."""
        while self._at == len(self._chunk):
            chunk = next(self._chunks, None)
            if chunk is None:
                return False
            self._chunk, self._at = chunk, 0
        return True


def utf8_chunks(
    file: BinaryIO, encoding: Encoding = "utf-8", stop: Callable[[], bool] = never
) -> Iterator[bytes]:
    """The file from its start in pieces of UTF-8, without a byte order mark.

    `stop` is asked before each piece. Raises `ToolError` when it says so, and for a byte that
    the encoding does not have (UTF-8 itself is not checked here).
    """
    if encoding.startswith("utf-8"):
        mark = len(codecs.BOM_UTF8)
        file.seek(mark if file.read(mark) == codecs.BOM_UTF8 else 0)
        decoder = None
    else:
        decoder = codecs.getincrementaldecoder(encoding)()
    while True:
        if stop():
            raise ToolError("Reading took too long and was given up. Ask for an earlier part.")
        offset, chunk = file.tell(), file.read(CHUNK_BYTES)
        piece = _decoded(decoder, chunk, offset, encoding) if decoder else chunk
        if piece:
            yield piece
        if not chunk:
            return


def _decoded(decoder: codecs.IncrementalDecoder, chunk: bytes, offset: int, encoding: str) -> bytes:
    try:
        return decoder.decode(chunk, final=not chunk).encode()
    except UnicodeDecodeError as problem:
        bad = problem.object[problem.start : problem.end][:4].hex(" ").upper()
        raise ToolError(
            f"The file is not {encoding}: the bytes {bad} near byte {offset + problem.start:,} "
            "mean nothing in it. Try encoding='utf-8'."
        ) from None


def line_text(line: Line, number: int, encoding: Encoding, max_chars: int) -> str:
    """A line as text, its head only when it is long.

    Raises `ToolError` that names the first byte that is no UTF-8, unless replacing was asked for.
    """
    errors = "replace" if encoding == "utf-8-replace" else "strict"
    decoder = codecs.getincrementaldecoder("utf-8")(errors)
    try:
        text = decoder.decode(line.head, final=len(line.head) == line.length)
    except UnicodeDecodeError as problem:
        raise ToolError(
            f"The text is not UTF-8: line {number:,} has the byte 0x{line.head[problem.start]:02X} "
            f"at byte {problem.start + 1} of the line. If you know the encoding, say so, for "
            "example encoding='latin-1'; encoding='utf-8-replace' shows � for each such byte."
        ) from None
    if len(line.head) == line.length and len(text) <= max_chars:
        return text
    return f"{text[:max_chars]} [… the rest of this line is left out: {line.length:,} bytes in all]"
