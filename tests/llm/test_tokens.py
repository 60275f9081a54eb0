"""The rule of thumb: a quarter of the UTF-8 bytes."""

import pytest
from hypothesis import given

from freya_teach.llm.tokens import BytesCounter
from tests.strategies import ANY_TEXT


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("four", 1), ("fives", 2), ("北京", 2), ("\ud83c", 1)]
)
def test_four_bytes_are_a_token(text: str, tokens: int) -> None:
    assert BytesCounter().count(text) == tokens


@given(ANY_TEXT, ANY_TEXT)
def test_more_text_never_costs_less_and_a_cut_costs_one_at_most(left: str, right: str) -> None:
    count = BytesCounter().count
    assert (count(left) > 0) == (left != "")
    assert max(count(left), count(right)) <= count(left + right) <= count(left) + count(right)
    assert count(left) + count(right) <= count(left + right) + 1
