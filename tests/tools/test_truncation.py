"""Long text: head, tail, what is missing, and no character that a reader sees is cut in two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.tools.truncation import head_end, is_boundary, shorten, tail_start

PIECES = [
    "a",
    "e\u0301",
    "👩\u200d👩\u200d👧",
    "👍🏽",
    "🇳🇴",
    "✌\ufe0f",
    "각",
    "\r\n",
    "北",
    "\U0001f3f4\U000e0067\U000e007f",
]
WRITTEN = st.lists(st.sampled_from(PIECES), max_size=300)
ANY = st.text(st.characters(exclude_categories=()), max_size=600)


@given(
    ANY | WRITTEN.map("".join), st.integers(0, 300), st.sampled_from(["", "read_file(x) reads on"])
)
def test_the_limit_is_always_kept(text: str, limit: int, hint: str) -> None:
    short = shorten(text, limit, hint)
    assert len(short) <= limit
    assert short == text or len(text) > limit


@given(st.text("ab\n", min_size=200, max_size=900), st.integers(60, 190))
def test_head_tail_and_what_is_said_to_be_missing_make_the_whole(text: str, limit: int) -> None:
    head, _, rest = shorten(text, limit).partition("\n[... ")
    left_out, _, tail = rest.partition(" characters left out ...]\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + int(left_out.replace(",", "")) + len(tail) == len(text)
    assert len(head) >= len(tail) > 0


@given(WRITTEN, st.integers(0, 900))
def test_a_cut_is_never_inside_of_what_a_reader_takes_for_one_character(
    pieces: list[str], at: int
) -> None:
    ends = {0}
    for piece in pieces:
        ends.add(max(ends) + len(piece))
    text = "".join(pieces)
    assert head_end(text, at) in ends
    assert tail_start(text, at) in ends


@pytest.mark.parametrize(
    "together",
    ["\ud83d\ude00", "\u1100\u1161", "ｶﾞ", "नि", "🇳🇴🇸🇪"[:2], "a\u200c"],
)
def test_these_belong_together(together: str) -> None:
    assert not is_boundary(together, 1)


def test_between_two_flags_there_may_be_a_cut() -> None:
    assert [is_boundary("🇳🇴🇸🇪", at) for at in range(1, 4)] == [False, True, False]


def test_the_call_that_reads_the_middle_stands_where_it_is_missing() -> None:
    short = shorten("x" * 1_000, 120, 'read_file(path="a", start_line=3)')
    assert 'characters left out; read_file(path="a", start_line=3) ...]' in short


def test_a_hint_for_which_there_is_no_room_is_left_away() -> None:
    assert shorten("x" * 1_000, 60, "y" * 500).count("y") == 0


def test_a_million_accents_are_one_character_and_quickly_cut() -> None:
    assert len(shorten("a" + "\u0301" * 1_000_000, 500)) <= 500


def test_what_was_taken_out_before_counts_as_missing() -> None:
    assert "[... 1,898 characters" in shorten("x" * 100 + "y" * 100, 139, missing=1_800)
