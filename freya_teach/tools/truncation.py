r"""Long text is cut in its middle, and never inside a character that a reader sees. (chapter 4.4)

The head of a result says what it is, and its tail often holds the point: the failing line of a log
is its last. So both stay, and between them stands how much is missing and how to read it.

What a reader takes for one character may be several of Python's: a letter and its accent, a family
emoji, a flag. A cut inside one shows another character than was there. `is_boundary` knows the
common kinds without a table of its own; Indic conjuncts, which need one, may still be cut.
"""

from __future__ import annotations

import unicodedata

JOINER = "\u200d"


def shorten(text: str, limit: int, hint: str = "", missing: int = 0) -> str:
    """At most `limit` characters: head, tail, and between them what is missing.

    `hint` is put into the remark: the call that reads what was left out. `missing` characters have
    been taken out of the middle already.

    >>> print(shorten("x" * 300 + "y" * 300, 50))
    xxxxxxxxxx
    [... 585 characters left out ...]
    yyyyy
    """
    if len(text) <= limit and not missing:
        return text
    room = limit - len(_remark(len(text) + missing, hint))
    if room < 0:
        return shorten(text, limit, "", missing) if hint else text[: head_end(text, limit)]
    head = text[: head_end(text, room - room // 3)]
    tail = text[tail_start(text, len(text) - room // 3) :]
    return head + _remark(len(text) + missing - len(head) - len(tail), hint) + tail


def _remark(left_out: int, hint: str) -> str:
    more = f"; {hint}" if hint else ""
    return f"\n[... {left_out:,} characters left out{more} ...]\n"


def head_end(text: str, at: int) -> int:
    """The last place at or before `at` where the text may be cut."""
    at = min(max(at, 0), len(text))
    while not is_boundary(text, at):
        at -= 1
    return at


def tail_start(text: str, at: int) -> int:
    """The first place at or after `at` where the text may be cut."""
    at = min(max(at, 0), len(text))
    while not is_boundary(text, at):
        at += 1
    return at


def is_boundary(text: str, at: int) -> bool:
    r"""Whether no visible character is cut in two by a cut before `text[at]`.

    >>> is_boundary("e\u0301", 1), is_boundary("ee", 1)
    (False, True)
    """
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before.isascii() and after.isascii():
        return (before, after) != ("\r", "\n")
    if _is_regional(before) and _is_regional(after):
        return _flags_before(text, at) % 2 == 0
    return not (_extends(after) or before == JOINER or _is_pair(before, after))


def _extends(char: str) -> bool:
    """Whether a character belongs to the one before it."""
    return (
        unicodedata.category(char) in {"Mn", "Me", "Mc"}  # accents, and variation selectors
        or char in {JOINER, "\u200c"}
        or "\U0001f3fb" <= char <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= char <= "\U000e007f"  # the letters in the flag of Wales
        or "\uff9e" <= char <= "\uff9f"  # half-width voice marks
        or "\u1160" <= char <= "\u11ff"  # the second and third part of a Korean syllable
    )


def _is_pair(before: str, after: str) -> bool:
    """Whether these are the two halves of a surrogate pair, which JSON may leave apart."""
    return "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"


def _is_regional(char: str) -> bool:
    """Whether this is one of the letters of which two make a flag."""
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flags_before(text: str, at: int) -> int:
    """How many flag letters stand in a row before this place."""
    start = at
    while start > 0 and _is_regional(text[start - 1]):
        start -= 1
    return at - start
