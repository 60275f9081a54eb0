"""What the context gauge shows: states of a conversation, segment by segment. (chapter 7.1)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freya_teach.config import Settings

MOST_BARS = 6
"""So many states stand below each other."""
AFTER = float(Settings.model_fields["compact_after"].default)
BEFORE = float(Settings.model_fields["compact_before"].default)
"""Shares of what the input may have: over them, a history is made smaller after, before a call."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a request: its tokens, and for a turn what it began with."""

    kind: Literal["fixed", "head", "turn"]
    name: str
    tokens: int
    said: str = ""


@dataclass(frozen=True, slots=True)
class Level:
    """A state of the conversation, segment by segment."""

    label: str
    segments: tuple[Segment, ...]

    @property
    def total(self) -> int:
        """Tokens of the whole request."""
        return sum(each.tokens for each in self.segments)

    def named(self, name: str) -> Segment | None:
        """The segment of this name, if there is one."""
        return next((each for each in self.segments if each.name == name), None)


@dataclass(frozen=True, slots=True)
class Gauge:
    """A window, the room kept for the answer, and the states so far, of `states` in all."""

    window: int
    answer: int
    levels: tuple[Level, ...]
    states: int

    @property
    def now(self) -> Level:
        """The last state."""
        return self.levels[-1]

    @property
    def before(self) -> Level | None:
        """The state before it, if there was one."""
        return self.levels[-2] if len(self.levels) > 1 else None

    @property
    def limit(self) -> int:
        """What the input may have."""
        return self.window - self.answer

    def numbered(self) -> list[tuple[int, Level]]:
        """The newest states with their numbers, at most six of them."""
        return list(enumerate(self.levels, start=1))[-MOST_BARS:]

    def mark(self, share: float) -> int:
        """Tokens at this share of what the input may have, as the kernel works it out."""
        return int(self.limit * share)
