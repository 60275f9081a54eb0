"""The numbers in a refusal because of size: what fits, and what was sent. (chapter 7.1)

A provider knows both better than any estimate, and tells them in words only. This is the one place
that reads them. Sources: reports of users, listed beside each pattern in the tests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NUMBER = r"([\d,]*\d)"
LIMITS = (
    rf"maximum context length is {NUMBER}",
    rf"configured limit of {NUMBER}",
    rf"available context size \({NUMBER}",
    rf"maximum number of tokens allowed \({NUMBER}",
    rf"tokens > {NUMBER} maximum",
    rf"Limit {NUMBER}, Requested",
)
ASKED = (
    rf"resulted in {NUMBER} tokens",
    rf"requested {NUMBER} tokens",
    rf"request \({NUMBER} tokens\)",
    rf"token count \({NUMBER}\)",
    rf"has {NUMBER} input tokens",
    rf"too long: {NUMBER} tokens",
    rf"Requested {NUMBER}",
)
ANSWER = (rf"{NUMBER} in the completion",)


@dataclass(frozen=True, slots=True)
class Overflow:
    """Tokens; a number that the refusal does not tell is None."""

    limit: int | None = None
    """What a request may have, input and answer together."""
    asked: int | None = None
    """What it had."""
    answer: int = 0
    """How many of these were reserved for the answer."""

    @property
    def input_limit(self) -> int | None:
        """What the input may have beside such an answer."""
        return None if self.limit is None else max(self.limit - self.answer, 1)

    @property
    def input_asked(self) -> int | None:
        """What the input had."""
        return None if self.asked is None else max(self.asked - self.answer, 1)


def read_overflow(text: str) -> Overflow:
    """Find the numbers in a provider's own words.

    >>> read_overflow("request (4033 tokens) exceeds the available context size (2048 tokens)")
    Overflow(limit=2048, asked=4033, answer=0)
    """
    return Overflow(_first(LIMITS, text), _first(ASKED, text), _first(ANSWER, text) or 0)


def _first(patterns: tuple[str, ...], text: str) -> int | None:
    found = (re.search(pattern, text, re.IGNORECASE) for pattern in patterns)
    return next((int(match[1].replace(",", "")) for match in found if match), None)
