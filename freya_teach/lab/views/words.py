"""Text made ready to be shown: measured, wrapped, and harmless. (start)

A model, a tool or a learner may write anything. Control characters, half characters and signs
that turn the direction of reading would break a picture or lie about what it says; they are shown
as what they are.
"""

from __future__ import annotations

import unicodedata

JOINER = "\u200d"
"""Glues several emoji into one; harmless."""


def visible(text: str) -> str:
    r"""The text with every character that cannot be seen written as its number.

    Line breaks and tabs stay.

    >>> visible("a\x07b")
    'a\\u0007b'
    """
    return "".join(_shown(sign) for sign in text.replace("\r\n", "\n"))


def _shown(sign: str) -> str:
    if sign in ("\n", "\t", JOINER):
        return sign
    code = ord(sign)
    # control, format, half of a pair, separators of lines and paragraphs; no character at all
    if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") or code & 0xFFFE == 0xFFFE:
        return f"\\u{code:04x}"
    return sign


def one_line(text: str) -> str:
    """The text on one line; a line break shows as ⏎."""
    return visible(text).replace("\n", " ⏎ ").replace("\t", " ")


def columns(text: str) -> int:
    """How wide the text is in characters of a typewriter; a Chinese character or emoji takes two.

    >>> columns("Beijing"), columns("北京")
    (7, 4)
    """
    return sum(_columns(sign) for sign in text)


def _columns(sign: str) -> int:
    if sign == JOINER or unicodedata.category(sign) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in ("W", "F") else 1


def cut(text: str, width: int) -> str:
    """One line of at most `width` columns; what is cut off is replaced by an ellipsis.

    >>> cut("a long answer", 8)
    'a long …'
    """
    line = one_line(text)
    return line if columns(line) <= width else _head(line, width - 1) + "…"


def _head(line: str, width: int) -> str:
    """As many characters from the front as fit into `width` columns, at least one."""
    used = 0
    for place, sign in enumerate(line):
        used += _columns(sign)
        if used > width and place > 0:
            return line[:place]
    return line


def wrap(text: str, width: int, most: int = 0) -> list[str]:
    """Lines of at most `width` columns, broken at spaces where there are any.

    With `most` there are at most so many lines, and the last one ends with an ellipsis if more
    was there. An indent is kept on the lines that follow.
    """
    lines: list[str] = []
    for line in visible(text).replace("\t", "    ").split("\n"):
        lines += _wrapped(line, width)
    if most and len(lines) > most:
        return [*lines[: most - 1], _ended(lines[most - 1], width)]
    return lines


def _wrapped(line: str, width: int) -> list[str]:
    indent = " " * min(len(line) - len(line.lstrip()), width // 2)
    rest, lines = line.rstrip(), []
    while columns(rest) > width:
        head = _head(rest, width)
        place = max(head.rfind(" ") + 1, head.rfind("_") + 1)
        if rest[len(head)] != " " and place > max(len(indent) + 1, len(head) // 3):
            head = head[:place]
        lines.append(head.rstrip())
        rest = indent + rest[len(head) :].lstrip()
    return [*lines, rest]


def _ended(line: str, width: int) -> str:
    return (line if columns(line) < width else _head(line, width - 1)) + "…"
