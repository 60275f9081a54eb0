"""How many tokens will this cost? (chapter 7.3)

A first, honest guess: a quarter of the UTF-8 bytes. It is wrong by a factor of two on Chinese
and on base64, in opposite directions, which is what the chapter is about. Whoever needs a
better one hands in another `TokenCounter`.
"""

from __future__ import annotations

from typing import Protocol

BYTES_PER_TOKEN = 4


class TokenCounter(Protocol):
    """Text → tokens, an estimate or the truth."""

    def count(self, text: str) -> int:
        """Tokens in `text`, at least 1 for a text that is not empty."""
        ...


class BytesCounter:
    """UTF-8 bytes divided by four, rounded up.

    >>> BytesCounter().count("hello world")
    3
    """

    def count(self, text: str) -> int:
        """Tokens in `text` by the rule of thumb."""
        return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)
