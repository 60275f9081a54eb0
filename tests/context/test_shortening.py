"""A shortened result keeps its head and its tail, and says how much is missing between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.context.shortening import LEVELS, shortened, shortened_to
from freya_teach.llm.messages import ToolMessage
from tests.context.conversations import tokens

LOG = "begin " + "x" * 10_000 + " end"


def test_head_and_tail_stay_and_between_them_stands_what_is_missing() -> None:
    short = shortened(ToolMessage("c", LOG, is_error=True), 200)
    head, remark, tail = short.text.split("\n")
    assert (head[:6], remark, tail[-4:]) == (
        "begin ",
        "[... 9,848 characters left out ...]",
        " end",
    )
    assert (short.call_id, short.is_error) == ("c", True)


def test_a_result_that_is_shortened_twice_tells_what_is_missing_of_the_first_text() -> None:
    once, twice = shortened(ToolMessage("c", LOG), 200), ToolMessage("c", LOG)
    for level in LEVELS:
        twice = shortened(twice, level)
    assert twice == once


def test_the_hint_of_a_result_that_the_tool_cut_itself_stays() -> None:
    cut = ToolMessage(
        "c", "a" * 900 + "\n[... 5,000 characters left out; read_file(x) ...]\n" + "b"
    )
    assert "[... 5,7" in shortened(cut, 200).text
    assert "; read_file(x) ...]" in shortened(cut, 200).text


def test_a_hint_that_would_fill_the_result_goes_and_nothing_is_told_twice() -> None:
    cut = ToolMessage("c", f"{'a' * 9}\n[... 5 characters left out; {'h' * 300} ...]\nb")
    short = shortened(cut, 200).text
    assert len(short) <= 200
    assert (short.count("a" * 9), short.count("\nb")) == (1, 1)


@given(st.text(max_size=600), st.sampled_from([200, 300, 500]))
def test_it_is_never_longer_than_the_limit_and_shortening_it_again_changes_nothing(
    text: str, limit: int
) -> None:
    once = shortened(ToolMessage("c", text), limit)
    assert len(once.text) <= limit
    assert shortened(once, limit) is once


@pytest.mark.parametrize(("most", "chars"), [(5_000, 10_010), (1_500, 3_999), (60, 199), (0, 199)])
def test_the_first_level_that_is_small_enough_is_taken(most: int, chars: int) -> None:
    shorter = shortened_to(ToolMessage("c", LOG), most, tokens)
    assert len(shorter.text) == chars
