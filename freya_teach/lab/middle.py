"""How often a model found an answer, by the place of the answer in what it read. (chapter 3.4)

Not measured by us: copied from Nelson F. Liu and others, "Lost in the Middle: How Language Models
Use Long Contexts", 2023 (arXiv 2307.03172; TACL 12, 2024), tables 1 and 5 to 7. Each of 2,655
questions was asked with 10, 20 or 30 passages from Wikipedia, one of which holds the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "Liu et al. 2023, Lost in the Middle, arXiv 2307.03172"
PLACES: dict[int, tuple[int, ...]] = {
    10: (1, 5, 10),
    20: (1, 5, 10, 15, 20),
    30: (1, 5, 10, 15, 20, 25, 30),
}
"""Number of documents → where the one with the answer stood; 1 is the first. The paper counts
from 0."""
TABLES = {10: "table 5", 20: "table 6", 30: "table 7"}


@dataclass(frozen=True, slots=True)
class Measured:
    """One model's answers that were right, in percent."""

    model: str
    closed_book: float
    """Without any document (table 1)."""
    oracle: float
    """With the one document that holds the answer, and no other (table 1)."""
    by_place: dict[int, tuple[float, ...]]
    """Number of documents → a figure for each of `PLACES`; none where the paper has none."""

    def drop(self, documents: int) -> float:
        """Points between the best and the worst place. Raises `KeyError` where none is measured."""
        found = self.by_place[documents]
        return round(max(found) - min(found), 1)


MEASURED = (
    Measured(
        "GPT-3.5-Turbo",
        closed_book=56.1,
        oracle=88.3,
        by_place={10: (76.8, 61.2, 62.4), 20: (75.8, 57.2, 53.8, 55.4, 63.2)},
    ),
    Measured(
        "GPT-3.5-Turbo (16K)",
        closed_book=56.0,
        oracle=88.6,
        by_place={
            10: (76.9, 61.0, 62.5),
            20: (75.7, 57.3, 54.1, 55.4, 63.1),
            30: (73.4, 55.1, 50.5, 50.9, 51.8, 54.9, 63.7),
        },
    ),
    Measured(
        "Claude-1.3",
        closed_book=48.3,
        oracle=76.1,
        by_place={
            10: (62.9, 58.3, 59.7),
            20: (59.9, 55.9, 56.8, 57.2, 60.1),
            30: (59.1, 55.1, 54.8, 55.7, 56.4, 56.2, 59.9),
        },
    ),
    Measured(
        "Claude-1.3 (100K)",
        closed_book=48.2,
        oracle=76.4,
        by_place={
            10: (63.1, 58.3, 59.7),
            20: (59.8, 55.9, 57.0, 57.4, 60.0),
            30: (59.1, 55.1, 54.9, 55.7, 56.6, 56.1, 60.0),
        },
    ),
    Measured(
        "MPT-30B-Instruct",
        closed_book=31.5,
        oracle=81.9,
        by_place={
            10: (60.2, 56.2, 59.7),
            20: (53.7, 51.8, 52.2, 52.7, 56.3),
            30: (51.6, 51.3, 51.2, 49.0, 49.6, 51.3, 54.1),
        },
    ),
    Measured(
        "LongChat-13B (16K)",
        closed_book=35.0,
        oracle=83.4,
        by_place={
            10: (72.1, 58.9, 58.5),
            20: (68.6, 57.4, 55.3, 52.5, 55.0),
            30: (66.9, 54.8, 52.5, 52.9, 52.2, 51.3, 55.1),
        },
    ),
)
