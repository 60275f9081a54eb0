"""What differs between two packets: in one line, or all of it. (start)"""

from __future__ import annotations

import difflib
import json
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from freya_teach.llm.messages import Json

MAX_DIFF_LINES = 30
MAX_LINE_CHARS = 120
SHOWN_CHARS = 28


class Absent:
    """In the place of a value that one of the two packets does not have."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT = Absent()


class Difference(NamedTuple):
    """A place in which two JSON values differ, such as `body.messages[1].content`."""

    place: str
    first: Json
    second: Json

    def __str__(self) -> str:
        return self.told()

    def told(self, one: str = "recorded", other: str = "sent") -> str:
        """One line, with these words in front of the two values."""
        first, second = _around(self.first, self.second)
        return _printable(f"{self.place}: {one} {first}, {other} {second}")


def differences(first: Json, second: Json, place: str = "") -> Iterator[Difference]:
    """Every place in which the two differ, in the order of the first.

    >>> [d.place for d in differences({"a": [1, 2]}, {"a": [1, 3], "b": 0})]
    ['a[1]', 'b']
    """
    if isinstance(first, dict) and isinstance(second, dict):
        for key in [*first, *(key for key in second if key not in first)]:
            inner = f"{place}.{key}" if place else key
            yield from differences(first.get(key, ABSENT), second.get(key, ABSENT), inner)
    elif isinstance(first, list) and isinstance(second, list):
        for number in range(max(len(first), len(second))):
            one, other = (v[number] if number < len(v) else ABSENT for v in (first, second))
            yield from differences(one, other, f"{place}[{number}]")
    elif first != second or type(first) is not type(second):
        yield Difference(place or "the body", first, second)


def diff(first: Json, second: Json, limit: int = MAX_DIFF_LINES) -> str:
    """The lines in which two JSON values differ, with two lines around each."""
    lines = difflib.unified_diff(_short_lines(first), _short_lines(second), n=2, lineterm="")
    shown = [line for line in list(lines)[2:] if not line.startswith("@@")]
    if len(shown) > limit:
        shown = [*shown[:limit], f"… and {len(shown) - limit} more lines"]
    return "\n".join(shown)


def _short_lines(value: Json) -> list[str]:
    """JSON with its keys in order and its long texts folded: a change inside one can be seen."""
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
    lines = text.replace("\\n", "\\n\n").split("\n")
    fold = textwrap.TextWrapper(MAX_LINE_CHARS, drop_whitespace=False, replace_whitespace=False)
    return [piece for line in lines for piece in fold.wrap(line)]


def _around(first: Json, second: Json) -> tuple[str, str]:
    """Both values as JSON, short: of long ones, the part around the first difference."""
    texts = [repr(v) if v is ABSENT else json.dumps(v, ensure_ascii=False) for v in (first, second)]
    pairs = enumerate(zip(*texts, strict=False))
    at = next((i for i, (one, other) in pairs if one != other), min(map(len, texts)))
    return _cut(texts[0], at), _cut(texts[1], at)


def _cut(text: str, at: int) -> str:
    if len(text) <= SHOWN_CHARS:
        return text
    start = max(0, min(at - SHOWN_CHARS // 3, len(text) - SHOWN_CHARS))
    end = start + SHOWN_CHARS
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _printable(text: str) -> str:
    """The text on one line, whatever a packet holds."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
