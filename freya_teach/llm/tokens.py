"""How many tokens will this cost? (chapter 7.3)

Whoever counts is a `TokenCounter`. There are three, from rough to exact:

- `BytesCounter`: a quarter of the UTF-8 bytes. Wrong by a factor of two on Chinese and on base64,
  in opposite directions.
- `CalibratedCounter`, the default: cuts the text as a tokenizer does and asks what such a piece
  usually costs. Needs nothing but Python; how wrong it is, `token_coefficients.py` says.
- `ExactCounter`: the tokenizer itself, where the package for it is installed.

An estimate is compared with a limit only after `with_margin`. What the server says afterwards
about the real number is put to use in `token_correction.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol

from freya_teach.errors import ConfigError
from freya_teach.llm.token_coefficients import COEFFICIENTS
from freya_teach.llm.token_features import PIECES, features

BYTES_PER_TOKEN = 4
MARGIN = 1.3
"""By how much an estimate is raised before it is compared with a limit."""
KNOWN_PIECES, LONG_PIECE = 20_000, 64
"""How many different pieces a counter remembers, and how many characters such a piece may have."""
DEFAULT_ENCODING = "o200k_base"
"""The vocabulary of OpenAI's models since gpt-4o."""


class TokenCounter(Protocol):
    """Text → tokens, an estimate or the truth."""

    def count(self, text: str) -> int:
        """Tokens in `text`, at least 1 for a text that is not empty."""
        ...


def with_margin(tokens: int, margin: float = MARGIN) -> int:
    """The number to compare with a limit: tokens that are hardly ever too few.

    >>> with_margin(1_000)
    1300
    """
    return math.ceil(tokens * margin)


class BytesCounter:
    """UTF-8 bytes divided by four, rounded up.

    >>> BytesCounter().count("hello world")
    3
    """

    def count(self, text: str) -> int:
        """Tokens in `text` by the rule of thumb."""
        return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


class CalibratedCounter:
    """An estimate: the text in pieces, and for each piece what such a piece costs on average.

    >>> CalibratedCounter().count("The weather in Oslo is fine."), CalibratedCounter().count("北京")
    (7, 2)

    Raises `ConfigError` for an encoding that no coefficients were fitted for.
    """

    def __init__(
        self,
        encoding: str = DEFAULT_ENCODING,
        calibrated: Mapping[str, Mapping[str, float]] = COEFFICIENTS,
    ) -> None:
        if encoding not in calibrated:
            known = ", ".join(calibrated)
            raise ConfigError(f"no estimate is calibrated for {encoding!r}; there are: {known}")
        self._costs = _Costs(calibrated[encoding])

    def count(self, text: str) -> int:
        """Tokens in `text`, estimated."""
        if len(self._costs) > KNOWN_PIECES:
            self._costs.clear()
        return math.ceil(sum(map(self._costs.__getitem__, PIECES.findall(text))))


class _Costs(dict[str, float]):
    """Piece → tokens, worked out when it is first asked for: most words come again and again."""

    def __init__(self, coefficients: Mapping[str, float]) -> None:
        super().__init__()
        self._coefficients = coefficients

    def __missing__(self, piece: str) -> float:
        cost, of = 0.0, self._coefficients
        for name, amount in features(piece).items():
            cost += of[name] * amount
        cost = max(1.0, cost)  # no piece is less than one token
        if len(piece) <= LONG_PIECE:
            self[piece] = cost
        return cost


class ExactCounter:
    """The tokenizer itself, from the package quicktok-v1.

    It is for models whose vocabulary is public; for the others it is an estimate like any other.
    Raises `ConfigError` when the package is missing or does not know the encoding.
    """

    def __init__(self, encoding: str = DEFAULT_ENCODING) -> None:
        try:
            quicktok: Any = import_module("quicktok")  # the extra `tokens`; takes a second
        except ImportError as problem:
            raise ConfigError(
                "Exact token counts come from the package quicktok-v1, which is not installed. "
                'Install it with `pip install "freya-teach[tokens]"`, or use CalibratedCounter().'
            ) from problem
        try:
            self._tokenizer: Any = quicktok.get_encoding(encoding)
        except (RuntimeError, ValueError, KeyError) as problem:
            raise ConfigError(f"no vocabulary is named {encoding!r}: {problem}") from problem

    def count(self, text: str) -> int:
        """Tokens in `text`, as the model's own tokenizer cuts it; half a surrogate pair is 1."""
        if not text.isascii():  # UTF-16 joins two halves of a pair and replaces a lone one
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return int(self._tokenizer.count(text))
