"""What tokens cost: prices as data, each with its day and its source. (chapter 2.4)

    price_of("gpt-5.6-terra").dollars(result.trace.usage)

Prices change, so the kernel knows none. They are list prices without discounts, surcharges for
long requests (above 272,000 input tokens at OpenAI), cache writes and taxes: good for comparing
two runs, not for checking a bill. A price of your own is `Price(input=…, cached_input=…, …)`.
"""

from __future__ import annotations

from dataclasses import dataclass

from freya_teach.errors import ConfigError
from freya_teach.llm.protocol import Usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, as one source told it on one day."""

    input: float
    cached_input: float
    """Input that the provider still had in its cache."""
    output: float
    read_on: str
    """The day, as year-month-day."""
    source: str
    remark: str = ""

    def dollars(self, usage: Usage) -> float:
        """What these tokens cost, in dollars.

        `input_tokens` includes the cached ones, `output_tokens` includes the reasoning.

        >>> price_of("gpt-5.6-terra").dollars(Usage(input_tokens=1_000_000, output_tokens=1_000))
        2.012
        """
        fresh = usage.input_tokens - usage.cached_tokens
        paid = (
            fresh * self.input
            + usage.cached_tokens * self.cached_input
            + usage.output_tokens * self.output
        )
        return paid / MILLION


TABLE = "the price table of litellm 1.110.2, which names {} as its source"
OPENAI = TABLE.format("developers.openai.com/api/docs/pricing")
GOOGLE = TABLE.format("ai.google.dev/gemini-api/docs/pricing")

PRICES: dict[str, Price] = {
    "gpt-5.6-terra": Price(2.00, 0.20, 12.00, "2026-11-30", OPENAI),
    "gemini-3.8-flash": Price(
        0.75,
        0.075,
        3.75,
        "2026-11-30",
        GOOGLE,
        "half price until 2026-12-31, says BerriAI/litellm discussion 39357",
    ),
}


def price_of(model: str) -> Price:
    """The price of a model. Raises `ConfigError` for one that we have read no price of."""
    if model not in PRICES:
        raise ConfigError(
            f"no price is known for {model!r}, only for {', '.join(PRICES)}. "
            "Look it up, and make one: Price(input=…, cached_input=…, output=…, …)"
        )
    return PRICES[model]
