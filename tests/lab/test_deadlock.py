"""Compactions that end, and what each of their defences is for."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.lab.deadlock import (
    ALL_ON,
    EMPTY_SUMMARY,
    LARGE_REQUEST,
    LARGE_RESULT,
    MOST_CALLS,
    NAMES,
    SMALLER_MODEL,
    STORIES,
    TALKER,
    Defences,
    Story,
    Verdict,
    is_safe,
    trace,
)

COMBINATIONS = [Defences(*switches) for switches in product((False, True), repeat=len(NAMES))]
TOKENS = st.integers(0, 1_500)
ANY_STORY = st.builds(
    Story,
    st.just("any"),
    st.just("Anything."),
    older=st.lists(TOKENS, max_size=6).map(tuple),
    request=TOKENS,
    result=TOKENS,
    summaries=st.lists(TOKENS, min_size=1, max_size=4).map(tuple),
)


def test_there_are_32_combinations_and_each_of_them_ends() -> None:
    assert len(set(COMBINATIONS)) == 32
    for defences, story in product(COMBINATIONS, STORIES):
        steps = trace(defences, story)
        assert [step.verdict is not None for step in steps[:-1]] == [False] * (len(steps) - 1)
        assert steps[-1].verdict is not None
        assert steps[-1].calls <= MOST_CALLS


def test_only_with_all_defences_is_every_story_safe() -> None:
    safe = [each for each in COMBINATIONS if all(is_safe(each, story) for story in STORIES)]
    assert safe == [ALL_ON]


@pytest.mark.parametrize(
    ("left_out", "story", "verdict", "says"),
    [
        ("one_summary", LARGE_RESULT, "loops", "and so on: this loop does not end by itself"),
        ("cap", TALKER, "crowded out", "850: sent, the summary longer than what left"),
        ("input_cut", SMALLER_MODEL, "forgets", "600: sent, what was dropped has no summary"),
        ("fallback", EMPTY_SUMMARY, "too large", "1,050 > 1,000: sent as it was"),
        ("until_it_fits", LARGE_RESULT, "too large", "1,100 > 1,000: sent all the same"),
    ],
)
def test_each_defence_that_is_left_out_has_a_bad_end_of_its_own(
    left_out: str, story: Story, verdict: Verdict, says: str
) -> None:
    last = trace(replace(ALL_ON, **{left_out: False}), story)[-1]
    assert last.verdict == verdict
    assert last.says.startswith(says)


def test_a_request_that_cannot_fit_is_an_error_before_any_model_is_asked() -> None:
    last = trace(ALL_ON, LARGE_REQUEST)[-1]
    assert (last.verdict, last.calls) == ("error", 0)


def test_a_summary_that_is_thrown_away_costs_one_call_and_turns_are_dropped_instead() -> None:
    steps = trace(ALL_ON, TALKER)
    assert [step.act for step in steps] == ["check", "summary", "truncation", "end"]
    assert steps[-1].held.older == TALKER.older[1:]
    assert steps[-1].calls == 1


def test_a_conversation_below_the_trigger_is_sent_as_it_is() -> None:
    story = replace(TALKER, older=(10,), request=10)
    for defences in COMBINATIONS:
        assert [step.act for step in trace(defences, story)] == ["check", "end"]


def test_what_a_step_says_fits_beside_its_bar() -> None:
    says = {step.says for d, s in product(COMBINATIONS, STORIES) for step in trace(d, s)}
    assert max(map(len, says)) <= 52


@given(ANY_STORY)
def test_with_all_defences_no_story_ends_badly(story: Story) -> None:
    last = trace(ALL_ON, story)[-1]
    assert last.verdict in ("fits", "error")
    assert last.calls <= 1
    assert last.held.request == story.request
    assert (last.held.total <= story.window) is (last.verdict == "fits")


@given(st.sampled_from(COMBINATIONS), ANY_STORY)
def test_every_story_ends_the_same_way_each_time(defences: Defences, story: Story) -> None:
    steps = trace(defences, story)
    assert steps == trace(defences, story)
    assert steps[-1].verdict is not None
