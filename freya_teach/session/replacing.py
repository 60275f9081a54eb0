"""A new beginning for a history: what stays, what leaves, and under which number. (chapter 7.3)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freya_teach.llm.messages import Message


@dataclass(frozen=True, slots=True)
class Replaced:
    """A history whose beginning has been replaced, and what was taken out of it."""

    messages: list[Message]
    first: int
    removed: tuple[Message, ...]


def replacement(
    messages: Sequence[Message], first: int, through: int, by: Sequence[int | Message]
) -> Replaced:
    """The history after `History.replace`. Raises `ValueError` as it says."""
    behind = through + 1 - first
    kept = [item for item in by if isinstance(item, int)]
    if not 0 <= behind <= len(messages):
        raise ValueError(f"there is no message number {through}")
    if len(by) > behind:
        raise ValueError(f"{len(by)} messages cannot take the place of {behind}")
    if kept != sorted({number for number in kept if first <= number <= through}):
        raise ValueError(f"kept numbers must rise and lie between {first} and {through}: {kept}")
    new = [messages[item - first] if isinstance(item, int) else item for item in by]
    gone = set(range(first, through + 1)) - set(kept)
    return Replaced(
        [*new, *messages[behind:]],
        through + 1 - len(new),
        tuple(messages[number - first] for number in sorted(gone)),
    )
