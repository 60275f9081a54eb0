"""The colours of the views, and which of them may stand on which. (start)

A view brings its own light panel, so that it reads alike on a light page and on a dark one; on a
dark page of the book, light and dark change places in it. A colour never says anything alone: a
sign or a word always stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

PANEL = "#fbfaf6"
CARD = "#ffffff"
INK = "#1b1f24"
MUTED = "#4f5863"
LINE = "#c9ccd1"
"""Only for lines: too pale for words."""


@dataclass(frozen=True, slots=True)
class Tone:
    """A strong colour for words and frames, and the pale one behind them."""

    strong: str
    pale: str


MODEL = Tone("#5b3cc4", "#f0ecff")
HARNESS = Tone("#0b5cad", "#e8f2fc")
TOOLS = Tone("#0f6b3f", "#e6f5ec")
PERSON = Tone("#4f5863", "#eef0f2")
WARN = Tone("#8a4b00", "#fff1d6")
STOP = Tone("#b3261e", "#fdeae8")
TONES = (MODEL, HARNESS, TOOLS, PERSON, WARN, STOP)

WRITTEN_ON: tuple[tuple[str, str], ...] = (
    *((ink, ground) for ink in (INK, MUTED) for ground in (PANEL, CARD)),
    *((INK, tone.pale) for tone in TONES),
    *((MUTED, tone.pale) for tone in TONES),
    *((tone.strong, ground) for tone in TONES for ground in (PANEL, CARD, tone.pale)),
    *((CARD, tone.strong) for tone in TONES),
)
"""Every pair of words and ground that the views use; each has a contrast of at least 4.5 to 1."""
