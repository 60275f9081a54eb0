"""A price is a number of dollars for a million tokens, with its day and its source."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from freya_teach.config import MODELS
from freya_teach.errors import ConfigError
from freya_teach.lab.prices import PRICES, Price, price_of
from freya_teach.llm.protocol import Usage

ROUND = Price(input=3.0, cached_input=0.5, output=7.0, read_on="2026-11-30", source="made up")


def test_a_million_tokens_of_each_kind_cost_their_price() -> None:
    assert ROUND.dollars(Usage(input_tokens=1_000_000)) == pytest.approx(3.0)
    assert ROUND.dollars(Usage(output_tokens=1_000_000)) == pytest.approx(7.0)


def test_cached_tokens_are_a_part_of_the_input_and_paid_once() -> None:
    usage = Usage(input_tokens=1_000_000, cached_tokens=400_000)
    assert ROUND.dollars(usage) == pytest.approx(0.6 * 3.0 + 0.4 * 0.5)


def test_reasoning_is_a_part_of_the_output_and_paid_once() -> None:
    thinking = Usage(output_tokens=100, reasoning_tokens=90)
    assert ROUND.dollars(thinking) == ROUND.dollars(replace(thinking, reasoning_tokens=0))


def test_no_tokens_cost_nothing() -> None:
    assert ROUND.dollars(Usage()) == 0


def test_two_runs_cost_what_both_cost_together() -> None:
    one, other = Usage(700, 50, 750, 20, 100), Usage(1_400, 60, 1_460)
    together = ROUND.dollars(one) + ROUND.dollars(other)
    assert ROUND.dollars(one + other) == pytest.approx(together)


@pytest.mark.parametrize("model", PRICES)
def test_every_price_says_when_and_where_it_was_read(model: str) -> None:
    price = price_of(model)
    assert date.fromisoformat(price.read_on) <= date(2026, 11, 30)
    assert "." in price.source
    assert 0 < price.cached_input < price.input < price.output


def test_the_courses_own_models_have_a_price() -> None:
    assert set(MODELS.values()) <= PRICES.keys()


def test_an_unknown_model_is_refused_with_what_to_do() -> None:
    with pytest.raises(ConfigError, match=r"no price is known for 'gpt-9'.*make one: Price"):
        price_of("gpt-9")
