"""What differs between two packets is found, in one line or all of it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.lab.difference import MAX_DIFF_LINES, SHOWN_CHARS, diff, differences

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def places(first: Any, second: Any) -> list[str]:
    return [difference.place for difference in differences(first, second)]


@given(JSON, JSON)
def test_there_is_a_difference_exactly_when_the_values_differ(first: Any, second: Any) -> None:
    # True == 1 for Python, and not on the wire
    assert bool(places(first, second)) == (repr(_sorted(first)) != repr(_sorted(second)))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


@given(JSON, JSON)
def test_each_difference_can_be_told_in_one_line(first: Any, second: Any) -> None:
    for difference in differences({"body": first}, {"body": second}):
        assert len(str(difference).splitlines()) == 1


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"n": 1}, {"n": True}, ["n: recorded 1, sent true"]),
        ({"n": 1}, {}, ["n: recorded 1, sent nothing"]),
        ({}, {"n": None}, ["n: recorded nothing, sent null"]),
        ([1], [1, "é"], ['[1]: recorded nothing, sent "é"']),
        (None, {}, ["the body: recorded null, sent {}"]),
        ({"a": {"b": [0]}}, {"a": {"b": [{}]}}, ["a.b[0]: recorded 0, sent {}"]),
    ],
)
def test_a_difference_names_the_place_and_both_values(
    first: Any, second: Any, expected: list[str]
) -> None:
    assert [str(difference) for difference in differences(first, second)] == expected


def test_of_a_long_text_the_part_around_the_difference_is_shown() -> None:
    words = " ".join(f"word{n}" for n in range(500))
    (found,) = differences({"q": words + " old end"}, {"q": words + " new end"})
    assert "old end" in str(found)
    assert "new end" in str(found)
    assert len(str(found)) < 2 * SHOWN_CHARS + 60


def test_a_text_that_goes_on_is_shown_where_it_goes_on() -> None:
    (found,) = differences({"q": "x" * 100}, {"q": "x" * 100 + " and more"})
    assert "and more" in str(found)


# ---- all of it -----------------------------------------------------------------------------


def test_the_lines_that_differ_are_shown_and_two_around_each() -> None:
    recorded = {"model": "m", "messages": [{"role": "user", "content": "Hi?"}], "n": 1}
    assert diff(recorded, {**recorded, "n": 2, "stream": True}).splitlines() == [
        "   ],",
        '   "model": "m",',
        '-  "n": 1',
        '+  "n": 2,',
        '+  "stream": true',
        " }",
    ]


def test_the_order_of_keys_is_no_difference() -> None:
    assert diff({"a": 1, "b": 2}, {"b": 2, "a": 1}) == ""
    assert places({"a": 1, "b": 2}, {"b": 2, "a": 1}) == []


def test_a_change_deep_inside_a_long_prompt_is_shown_alone() -> None:
    prompt = "\n".join(f"Rule {n}: " + "be careful, " * 7 for n in range(30))
    changed = prompt.replace("Rule 17: be careful,", "Rule 17: be reckless,")
    lines = diff({"content": prompt}, {"content": changed}).splitlines()
    removed = [line for line in lines if line.startswith("-")]
    added = [line for line in lines if line.startswith("+")]
    assert (len(removed), len(added)) == (1, 1)
    assert removed[0].startswith("-Rule 17: be careful")
    assert added[0].startswith("+Rule 17: be reckless")


def test_values_that_have_nothing_in_common_are_cut_short() -> None:
    lines = diff({"q": list(range(500))}, {"z": list(range(500, 1000))}).splitlines()
    assert len(lines) == MAX_DIFF_LINES + 1
    assert "more lines" in lines[-1]
