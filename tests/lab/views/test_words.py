"""Text of anybody, made ready to be shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.lab.views.words import columns, cut, visible, wrap

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=300)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ntext\t", "plain\ntext\t"),
        ("bell\x07", "bell\\u0007"),
        ("half \ud83d of an emoji", "half \\ud83d of an emoji"),
        ("turn \u202eround", "turn \\u202eround"),
        ("nothing\ufffe", "nothing\\ufffe"),
        ("family 👩\u200d👧", "family 👩\u200d👧"),
        ("שלום", "שלום"),
        ("Windows\r\nline", "Windows\nline"),
    ],
)
def test_what_cannot_be_seen_is_written_as_its_number(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(("text", "wide"), [("abc", 3), ("北京", 4), ("e\u0301", 1), ("☀🙂", 3)])
def test_wide_characters_count_two_and_accents_none(text: str, wide: int) -> None:
    assert columns(text) == wide


def test_lines_break_at_spaces_and_underscores() -> None:
    assert wrap("get_current_weather of Beijing", 12) == ["get_current_", "weather of", "Beijing"]


def test_a_word_without_a_place_to_break_is_cut() -> None:
    assert wrap("x" * 7, 3) == ["xxx", "xxx", "x"]


def test_an_indent_stays_on_the_lines_that_follow() -> None:
    assert wrap("  one two three", 9) == ["  one two", "  three"]


def test_what_does_not_fit_into_the_lines_ends_with_an_ellipsis() -> None:
    assert wrap("one two three four", 6, 2) == ["one", "two…"]


def test_a_long_line_is_cut_and_a_line_break_shows() -> None:
    assert cut("one\ntwo and more", 10) == "one ⏎ two…"


@given(ANY_TEXT, st.integers(4, 40))
def test_no_line_is_wider_than_asked_and_nothing_is_lost(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(columns(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(visible(text).split())


@given(ANY_TEXT, st.integers(4, 40), st.integers(1, 4))
def test_no_more_lines_than_asked(text: str, width: int, most: int) -> None:
    lines = wrap(text, width, most)
    assert len(lines) <= most
    assert all(columns(line) <= width for line in lines)
    assert columns(cut(text, width)) <= width
