"""From bytes, in whatever pieces the network cut them, to JSON chunks. (chapter 4.2)

Three things go wrong when a stream is read as text lines: a character of several bytes is cut
in two and destroyed; `str.splitlines` also cuts at U+2028 and its like, which may stand inside
a JSON string; and a body that is not a stream at all (an error page, a JSON array) is taken
for an empty one. So lines are cut on bytes, an event is decoded when it is complete, and the
first bytes decide what kind of body this is, whatever the content type says.

It does not know what a chunk means: that is the adapter's `parse_chunk`.
Source: WHATWG HTML, "Server-sent events", 9.2.6.
"""

from __future__ import annotations

import json

from pydantic_core import from_json

from freya_teach.errors import BadResponse, ResponseCut
from freya_teach.llm.messages import Json

BOM = b"\xef\xbb\xbf"
BLANK = BOM + b" \t\n\r\v\f"
"""What may stand before a body: the bytes of a byte order mark, one by one, and white space."""
HEAD_BYTES = 480
"""Bytes of a body that is neither JSON nor events which are kept, to show how it begins."""
MAX_DEPTH = 200
"""Arrays and objects inside each other that a JSON text may have: any code that walks through
them, ours or Python's, has a stack that ends near 1,000."""
FIELDS = (b":", b"data:", b"event:", b"id:", b"retry:")
"""How a line of an event stream may begin; the first is a comment."""


ServerEvent = tuple[str, bytes]
"""One dispatched event: its `event:` field, mostly empty, and its `data:` lines, joined."""


class LineBuffer:
    r"""Holds bytes back until their line is complete; \n, \r\n and \r end a line.

    >>> lines = LineBuffer()
    >>> lines.feed(b"data: a\r"), lines.feed(b"\ndata: b\r\nda"), lines.end()
    (b'', b'data: a\r\ndata: b\r\n', b'da\n')
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, piece: bytes) -> bytes:
        """Return the lines that this piece completes, with their ends."""
        if b"\n" not in piece and b"\r" not in piece and not self._ends_with_cr():
            self._pieces.append(piece)  # a 5 MB line in small pieces is joined once, not 300 times
            return b""
        text = b"".join((*self._pieces, piece))
        held = b""
        if text.endswith(b"\r"):  # subtle: the \n of this \r\n may be in the next piece
            text, held = text[:-1], b"\r"
        end = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        self._pieces = [text[end:] + held]
        return text[:end]

    def end(self) -> bytes:
        """Return what is left as a last line, if anything is."""
        rest = b"".join(self._pieces)
        self._pieces = []
        return rest.removesuffix(b"\r") + b"\n" if rest else b""

    def _ends_with_cr(self) -> bool:
        return bool(self._pieces) and self._pieces[-1].endswith(b"\r")


def lines_in(text: bytes) -> list[bytes]:
    """Complete lines, without their ends."""
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text[:-1].split(b"\n") if text else []


class EventDecoder:
    """Bytes → events. A comment is dropped, several data lines are joined by a newline."""

    def __init__(self) -> None:
        self._lines = LineBuffer()
        self._data: list[bytes] = []
        self._name = ""

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """Return the events that this piece completes."""
        return self._events(self._lines.feed(piece))

    def end(self) -> list[ServerEvent]:
        """Return the event whose closing blank line never came: servers often leave it out."""
        return self._events(self._lines.end() + b"\n")

    def _events(self, text: bytes) -> list[ServerEvent]:
        """Complete lines → events; several common ones are cut out in one go."""
        if not (self._data or self._name):
            data = _plain_data(text, b"\r\n" if b"\r" in text else b"\n")
            if data:
                return [("", one) for one in data]
        return self._read_lines(lines_in(text))

    def _read_lines(self, lines: list[bytes]) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        for line in lines:
            if not line:
                if self._data:
                    events.append((self._name, b"\n".join(self._data)))
                self._data, self._name = [], ""
            elif line.startswith(b"data:") or line == b"data":
                self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
            elif line.startswith(b"event:"):
                self._name = line[6:].strip().decode("utf-8", "replace")
        return events


def _plain_data(text: bytes, end: bytes) -> list[bytes]:
    """The data of events that are one `data: ` line and a blank one each; nothing for others.

    For speed: this is nearly all there is, and line by line it takes four times as long.
    """
    if not (text.startswith(b"data: ") and text.endswith(end + end)):
        return []
    data = text[6 : -2 * len(end)].split(end + end + b"data: ")
    line_ends = 2 * len(data)
    others = text.count(b"\r") - (line_ends if end == b"\r\n" else 0)
    return data if text.count(b"\n") == line_ends and not others else []


class ChunkDecoder:
    """A response body → its JSON chunks, for an event stream, a JSON object and a JSON array.

    `finished` tells whether the body said that it was complete: a JSON document that parses
    does, and so does a stream that closes with `[DONE]`.
    """

    def __init__(self) -> None:
        self.finished = False
        self._head = b""  # how the body begins, for the message when it is neither kind
        self._whole: list[bytes] | None = None
        self._events: EventDecoder | None = None
        self._seen = 0

    def feed(self, piece: bytes) -> list[Json]:
        """Return the chunks that this piece completes. Raises `BadResponse`."""
        if self._whole is not None:
            self._whole.append(piece)
            return []
        if self._events is not None:
            if len(self._head) < HEAD_BYTES:
                self._head += piece
            return self._chunks(self._events.feed(piece))
        self._head = piece.lstrip(BLANK)  # until now there was nothing else
        if not self._head:
            return []
        if self._head[:1] in (b"{", b"[", b"<"):
            self._whole = [self._head]
            return []
        self._events = EventDecoder()
        return self._chunks(self._events.feed(self._head))

    def end(self) -> list[Json]:
        """Return what the end of the body completes. Raises `BadResponse` or `ResponseCut`."""
        if self._whole is not None:
            return self._document(b"".join(self._whole))
        if self._events is None:
            raise ResponseCut("the answer's body is empty")
        try:
            chunks = self._chunks(self._events.end())
        except BadResponse as problem:
            raise ResponseCut(f"the stream ends in the middle of an event: {problem}") from None
        if self._seen or self.finished:
            return chunks
        if _may_be_events(self._head):
            raise ResponseCut("the stream ended before it said anything")
        raise BadResponse(f"neither JSON nor an event stream came: {_quote(self._head)}")

    def _document(self, body: bytes) -> list[Json]:
        if body.startswith(b"<"):
            raise BadResponse(f"an HTML page came instead of JSON: {_quote(body)}")
        try:
            value = parse_json(body)
        except BadResponse as problem:
            if _ends_in_the_middle(body):
                raise ResponseCut(f"the JSON of the answer is cut off: {problem}") from None
            raise
        self.finished = True
        return _objects(value)

    def _chunks(self, events: list[ServerEvent]) -> list[Json]:
        chunks: list[Json] = []
        for name, data in events:
            if data.strip() == b"[DONE]":
                self.finished = True
            elif data.strip() and not self.finished:
                self._seen += 1
                for chunk in _objects(parse_json(data)):
                    bare_error = name == "error" and "error" not in chunk
                    chunks.append({"error": chunk} if bare_error else chunk)
        return chunks


def parse_json(data: bytes) -> Json:
    """Parse one JSON text. Raises `BadResponse` that quotes where it goes wrong."""
    try:
        value = _parsed(data)
    except UnicodeDecodeError as problem:
        raise BadResponse(f"byte {problem.start} of the answer is not UTF-8") from None
    except (ValueError, RecursionError) as problem:
        raise BadResponse(f"this is not JSON ({problem}): {_quote(data)}") from None
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _is_deep(value):
        raise BadResponse(f"this JSON is nested more than {MAX_DEPTH} deep: {_quote(data)}")
    return value


def _parsed(data: bytes) -> Json:
    """What `json` makes of it; a chunk takes 0.8 µs so, and 2.7 with `json`."""
    try:
        return from_json(data)
    except ValueError:  # half of a pair, too, which `json` takes; and it says what is wrong
        return json.loads(data.decode("utf-8"))


def _is_deep(value: Json) -> bool:
    """Go down level by level, without recursion: that is what this protects."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        inner = [v.values() if isinstance(v, dict) else v for v in level]
        level = [v for values in inner for v in values if isinstance(v, dict | list)]
        if not level:
            return False
    return True


def _may_be_events(head: bytes) -> bool:
    """Whether this is the beginning of an event stream, be it only half of a first word."""
    return any(head.startswith(field) or field.startswith(head) for field in FIELDS)


def _ends_in_the_middle(body: bytes) -> bool:
    """Whether all that is wrong with this JSON is that the rest of it is missing."""
    if not body.rstrip().endswith((b"}", b"]")):
        return True
    try:
        json.loads(body)
    except json.JSONDecodeError as problem:
        at_the_end = problem.pos >= len(problem.doc.rstrip())
        return at_the_end or problem.msg.startswith("Unterminated string")
    except (ValueError, RecursionError):
        return False
    return False


def _objects(value: Json) -> list[Json]:
    """Gemini without `alt=sse` sends one array of chunks, and errors as an array of one."""
    values = value if isinstance(value, list) else [value]
    for item in values:
        if not isinstance(item, dict):
            raise BadResponse(
                f"a JSON object was expected, not {_quote(json.dumps(item).encode())}"
            )
    return values


def _quote(data: bytes, length: int = 120) -> str:
    text = " ".join(data[:HEAD_BYTES].decode("utf-8", "replace").split())
    return repr(text if len(text) <= length else text[:length] + "…")
