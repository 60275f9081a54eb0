"""The server's own count corrects the estimate, within bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.llm.protocol import Usage
from freya_teach.llm.token_correction import HIGHEST, LOWEST, Correction, Corrections

COUNTS = st.integers(-10, 10**9)
PAIRS = st.lists(st.tuples(COUNTS, COUNTS), max_size=30)


def learned(*pairs: tuple[int, int]) -> Correction:
    correction = Correction()
    for estimated, true in pairs:
        correction = correction.after(estimated, true)
    return correction


def test_nothing_is_changed_before_anything_is_known() -> None:
    assert Correction().apply(1_234) == 1_234


def test_one_answer_is_enough_to_raise_the_estimate() -> None:
    assert learned((1_000, 1_500)).apply(2_000) == 3_000


def test_it_takes_two_answers_to_lower_it() -> None:
    assert learned((1_000, 850)).apply(1_000) == 1_000
    assert learned((1_000, 850), (1_100, 935)).apply(1_000) == 850


def test_a_growing_conversation_is_soon_estimated_right() -> None:
    truths = [int(1.37 * estimated) for estimated in range(1_000, 20_000, 500)]
    correction = Correction()
    for estimated, true in zip(range(1_000, 20_000, 500), truths, strict=True):
        if estimated > 1_000:
            assert correction.apply(estimated) == pytest.approx(true, rel=0.01)
        correction = correction.after(estimated, true)


@pytest.mark.parametrize("wild", [0, -5, 3, 100, 90_000, 10**12])
def test_a_count_that_makes_no_sense_is_ignored(wild: int) -> None:
    """0 is no usage at all, 3 is what a cache left over, the large ones are sums of many calls."""
    known = learned((1_000, 1_200), (2_000, 2_400))
    assert known.after(10_000, wild) == known


def test_one_odd_count_among_good_ones_changes_nothing() -> None:
    good = [(1_000, 1_200)] * 4
    assert learned(*good, (1_000, 400)).factor == learned(*good).factor == 1.2
    assert learned(*good, (1_000, 3_900)).factor == 1.2


def test_short_requests_teach_nothing() -> None:
    assert learned((20, 90)) == Correction()


def test_what_is_long_ago_is_forgotten() -> None:
    assert learned(*[(1_000, 3_000)] * 20, *[(1_000, 1_000)] * 5).factor == 1.0


@given(PAIRS, st.integers(0, 10**9))
def test_whatever_servers_say_the_estimate_stays_within_its_bounds(
    pairs: list[tuple[int, int]], estimated: int
) -> None:
    corrected = learned(*pairs).apply(estimated)
    assert LOWEST * estimated <= corrected <= HIGHEST * estimated + 1


def test_each_model_has_its_own_correction() -> None:
    corrections = Corrections()
    corrections.learn("gemini/gemini-3", 1_000, Usage(input_tokens=1_600, total_tokens=1_700))
    assert corrections.apply("gemini/gemini-3", 500) == 800
    assert corrections.apply("openai/gpt-5", 500) == 500
    assert corrections.factors == {"gemini/gemini-3": 1.6}
