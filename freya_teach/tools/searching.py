r"""Finding lines in files, in a time that no pattern and no file can stretch. (chapter 4.3)

Python's `re` can need years for `(a+)+$` and cannot be interrupted meanwhile: nothing else of the
program runs, not even its time limits. So patterns go to the engine that pydantic brings along
(Rust's `regex`), whose time grows with the length of the line only. It has no look-around and no
back references, and what is counted (`{1,50}`) is limited here, because it multiplies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from pydantic_core import SchemaError, SchemaValidator, core_schema

from freya_teach.errors import ToolError
from freya_teach.tools.lines import Lines, utf8_chunks

MAX_QUERY_CHARS = 300
MAX_REPEATS = 1_000
"""All the counts of a pattern, multiplied."""
LINE_CHARS = 2_000
"""Characters of a line in which a pattern is searched."""
LINE_BYTES = 64 * 1024
"""Bytes of a line in which a plain text is searched."""
SHOWN_CHARS = 200
QUERY = re.compile(rf"[^\n\ud800-\udfff]{{1,{MAX_QUERY_CHARS}}}")
"""One line, and no half of a character (which a search engine does not take)."""
COUNTS = re.compile(r"\{(\d+)(?:,(\d*))?\}")

Finder = Callable[[str], int]
"""Line → where the match begins, -1 for no match. A pattern only says whether (0)."""


def finder(query: str, *, regex: bool) -> Finder:
    """What looks for the query in one line. Raises `ToolError` for a query that cannot be used."""
    if not QUERY.fullmatch(query):
        raise ToolError(
            f"The query must be a text of 1 to {MAX_QUERY_CHARS} characters on one line. "
            "Search for a word that stands in the line you want."
        )
    if not regex:
        return lambda line: line.find(query)
    matches = _pattern(query).isinstance_python
    return lambda line: 0 if matches(line[:LINE_CHARS]) else -1


def _pattern(query: str) -> SchemaValidator:
    counts = [int(most or least) for least, most in COUNTS.findall(query)]
    if math.prod(counts) > MAX_REPEATS:
        raise ToolError("The pattern repeats too often. Use * or + instead of large {counts}.")
    try:
        return SchemaValidator(core_schema.str_schema(pattern=query, regex_engine="rust-regex"))
    except SchemaError as problem:
        why = str(problem).strip().splitlines()[-1].strip().removeprefix("error: ")
        raise ToolError(
            f"The pattern cannot be used: {why[:200]}. Look-around and back references do not "
            "exist here. With regex=false the query is searched as it is written."
        ) from None


def matching_lines(
    file: BinaryIO, find: Finder, stop: Callable[[], bool]
) -> Iterator[tuple[int, str]]:
    """The number and the text of each line that matches, until the end or until `stop` says so."""
    lines = Lines(utf8_chunks(file))
    while not stop() and (line := lines.read(LINE_BYTES)) is not None:
        text = line.head.decode("utf-8", "replace")
        at = find(text)
        if at >= 0:
            yield lines.number, _around(text, at)


def _around(text: str, at: int) -> str:
    """The line, or of a long one what stands around the match."""
    start = 0 if len(text) <= SHOWN_CHARS else max(0, at - SHOWN_CHARS // 4)
    part = text[start : start + SHOWN_CHARS]
    before, after = "…" if start else "", "…" if start + SHOWN_CHARS < len(text) else ""
    return f"{before}{part.strip()}{after}"
