"""What the server counted corrects what we estimate. (chapter 7.3)

Every answer says how many tokens the question had. The next question is nearly the same one, only
longer, so the ratio of truth to estimate carries over: a model whose tokenizer splits numbers into
digits costs more than estimated every time.

Not everything that a server calls usage is the truth: some report only what was not cached, some
0, some the sum of several calls. So single numbers that make no sense are ignored, the median
of the last few decides, and the estimate is lowered by a little at most: too early a
compaction costs a summary, too late a one costs the request.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from freya_teach.llm.protocol import Usage

LOWEST, HIGHEST = 0.8, 4.0
"""The factors between which a correction stays."""
PLAUSIBLE = (0.25, 8.0)
"""A ratio outside of these is no count of the same text; it is ignored."""
SMALLEST = 50
"""Tokens below which an estimate says little: the marks around the messages outweigh the text."""
REMEMBERED = 5


@dataclass(frozen=True, slots=True)
class Correction:
    """The last ratios of truth to estimate for one model, oldest first.

    >>> Correction().after(1_000, 1_500).apply(2_000)
    3000
    >>> Correction().after(1_000, 3).apply(2_000)
    2000
    """

    ratios: tuple[float, ...] = (1.0,)

    @property
    def factor(self) -> float:
        """The upper median, within bounds: one high ratio raises it, it takes two to lower it."""
        middle = sorted(self.ratios)[len(self.ratios) // 2]
        return min(max(middle, LOWEST), HIGHEST)

    def after(self, estimated: int, true: int) -> Correction:
        """The correction with one more observation; itself when the numbers make no sense."""
        if estimated < SMALLEST or not PLAUSIBLE[0] <= true / estimated <= PLAUSIBLE[1]:
            return self
        return Correction((*self.ratios, true / estimated)[-REMEMBERED:])

    def apply(self, estimated: int) -> int:
        """The estimate, corrected."""
        return math.ceil(estimated * self.factor)


@dataclass(slots=True)
class Corrections:
    """One `Correction` for each model: `learn` after an answer, `apply` before a question."""

    known: dict[str, Correction] = field(default_factory=dict)

    def learn(self, model: str, estimated: int, usage: Usage) -> None:
        """Take note of an answer's usage. `estimated` is the uncorrected number of its request."""
        known = self.known.get(model, Correction())
        self.known[model] = known.after(estimated, usage.input_tokens)

    def apply(self, model: str, estimated: int) -> int:
        """The estimate for a request to this model, corrected by what is known of it."""
        return self.known.get(model, Correction()).apply(estimated)

    @property
    def factors(self) -> Mapping[str, float]:
        """Model → the factor in use."""
        return {model: correction.factor for model, correction in self.known.items()}
