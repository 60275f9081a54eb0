"""Whatever stands in a JSON value, the helpers give the type that was expected."""

import json
import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.llm.wirejson import as_dict, as_int, as_list, as_text, encode, legal_name
from tests.strategies import ANY_TEXT, json_values

ANYTHING = json_values(ANY_TEXT)


@given(ANYTHING)
def test_a_value_of_another_type_becomes_an_empty_one(value: Any) -> None:
    assert as_dict(value) == (value if type(value) is dict else {})
    assert as_list(value) == (value if type(value) is list else [])
    assert as_text(value) == (value if type(value) is str else "")
    assert type(as_int(value)) is int


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (12, 12),
        (12.0, 12),
        (0, 0),
        (2**53 - 1, 2**53 - 1),
        (2**53, 0),
        (True, 0),
        (None, 0),
        ("12", 0),
        (math.nan, 0),
        (math.inf, 0),
        (10**400, 0),
        ([1], 0),
    ],
)
def test_a_count_is_a_finite_number_or_nothing(value: Any, number: int) -> None:
    assert as_int(value) == number


@given(ANYTHING.filter(lambda value: value == value))  # noqa: PLR0124 - NaN is not itself
def test_what_is_encoded_is_utf_8_and_the_same_value_again(value: Any) -> None:
    try:
        expected = json.loads(json.dumps(value, allow_nan=False))
    except ValueError:
        return
    assert json.loads(encode(value).decode("utf-8")) == expected


def test_chinese_stays_chinese_and_half_a_character_becomes_an_escape() -> None:
    assert encode({"城市": "北京"}) == '{"城市":"北京"}'.encode()
    assert encode("\ud83c") == b'"\\ud83c"'
    assert encode("\\\ud83c") == b'"\\\\\\ud83c"'


@given(ANY_TEXT | st.text("abcXYZ019_-. :/", max_size=90))
def test_a_legal_name_is_taken_by_both_wires_and_a_legal_one_is_kept(name: str) -> None:
    """OpenAI: `^[a-zA-Z0-9_-]+$`, 64 at most. Gemini: a letter or underscore first."""
    rule = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
    assert re.fullmatch(rule, legal_name(name))
    if re.fullmatch(rule, name):
        assert legal_name(name) == name
