"""Tool results that are shortened before anything is dropped. (chapter 7.3)

A result has done its work once the model has read it, and it is mostly the largest message of its
round. So its head and its tail stay, and a remark says how much is missing; the original goes into
the snapshot.
"""

from __future__ import annotations

import re
from dataclasses import replace

from freya_teach.context.window import Size
from freya_teach.llm.messages import ToolMessage
from freya_teach.tools.truncation import shorten

LEVELS = (8_000, 4_000, 2_000, 1_000, 500, 200)
"""Characters of a shortened result, tried one after the other: each level stays what it is."""
OLD_RESULT_CHARS = 500
"""Characters that an old result keeps: enough to see what it was and how it ended."""
REMARK = re.compile(r"\n\[\.\.\. ([\d,]+) characters left out(?:; (.*?))? \.\.\.\]\n")


def shortened(message: ToolMessage, limit: int) -> ToolMessage:
    """The result with at most `limit` characters. What is short enough is the same object.

    A result that was shortened before says how much of the first text is missing, not of the last.
    """
    text = message.text
    if len(text) <= limit:
        return message
    if found := REMARK.search(text):
        bare = text[: found.start()] + text[found.end() :]
        missing, hint = int(found[1].replace(",", "")), found[2] or ""
        if len(hint) < limit // 2:
            return replace(message, text=shorten(bare, limit, hint, missing))
    return replace(message, text=shorten(text, limit))


def shortened_to(message: ToolMessage, tokens: int, size: Size) -> ToolMessage:
    """The result at the first level that has at most so many tokens, else at the last level."""
    for level in LEVELS:
        if size(message) <= tokens:
            break
        message = shortened(message, level)
    return message
