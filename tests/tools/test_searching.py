"""Finding lines, in a time that no pattern stretches."""

import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.errors import ToolError
from freya_teach.tools.lines import never
from freya_teach.tools.searching import LINE_CHARS, finder, matching_lines


def search(text: str, query: str, *, regex: bool = False) -> list[tuple[int, str]]:
    """Search in a text."""
    find = finder(query, regex=regex)
    return list(matching_lines(io.BytesIO(text.encode()), find, never))


def test_a_plain_query_means_its_characters() -> None:
    text = "a.c\nabc\nA.C\n  a.c twice a.c\n"
    assert search(text, "a.c") == [(1, "a.c"), (4, "a.c twice a.c")]


def test_a_pattern_finds_what_it_describes() -> None:
    text = "TODO one\ntwo\nfixme: three\nÉtat\n"
    assert search(text, "(?i)todo|fixme", regex=True) == [(1, "TODO one"), (3, "fixme: three")]
    assert search(text, r"^\w{3}$", regex=True) == [(2, "two")]
    assert search(text, "(?i)étAT", regex=True) == [(4, "État")]


def test_of_a_long_line_the_part_around_the_match_is_shown() -> None:
    [(number, text)] = search("x" * 5_000 + "needle" + "y" * 5_000, "needle")
    assert number == 1
    assert text.startswith("…xxx")
    assert text.endswith("yyy…")
    assert "needle" in text
    assert len(text) == 202


@pytest.mark.parametrize("query", ["", "two\nlines", "x" * 301, "half \ud800"])
def test_a_query_that_no_line_can_hold_is_refused(query: str) -> None:
    with pytest.raises(ToolError, match="on one line"):
        finder(query, regex=False)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "unclosed group"),
        ("a(?=b)", "look-around"),
        (r"(a)\1", "backreferences"),
        ("[z-a]", "invalid character class range"),
        ("(a{100}){100}", "repeats too often"),
        (".{5000}", "repeats too often"),
        (r"(\w{1,30}){1,30}", "size limit"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_with_the_reason(pattern: str, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        finder(pattern, regex=True)


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a|aa)+$", "(a|a?)+$", "(.*a){30}$", "^(a?){300}a{3}b", "(.?){900}x$", "(x+x+)+y"],
)
def test_a_pattern_that_takes_re_for_ever_takes_this_engine_no_time(pattern: str) -> None:
    """Each takes under 0.5 s here; `re` needs longer than the universe has for most of them."""
    find = finder(pattern, regex=True)
    started = time.perf_counter()
    for line in ("a" * 100_000 + "!", "é" * 100_000, "x" * LINE_CHARS):
        find(line)
    assert time.perf_counter() - started < 10


@given(st.text(max_size=20), st.booleans(), st.text(max_size=80))
def test_any_query_gives_lines_or_a_guiding_error(query: str, regex: bool, text: str) -> None:  # noqa: FBT001
    data = io.BytesIO(text.encode("utf-8", "replace"))
    try:
        find = finder(query, regex=regex)
    except ToolError:
        return
    for number, line in matching_lines(data, find, never):
        assert number >= 1
        assert regex or query.strip() in line
