"""The composer's picture and its words."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings

from freya_teach.lab.views.composer_picture import MARK, ORIGINS, draw
from freya_teach.lab.views.composition import Composition
from freya_teach.prompt.composer import Part, SystemPrompt
from tests.lab.views.pictures import assert_told, words_in
from tests.lab.views.test_composition import PLAIN, clicked, material, prompt
from tests.lab.views.test_words import ANY_TEXT


@pytest.mark.parametrize(
    "clicks",
    [
        [],
        ["tools off"],
        ["skill brief", "time by day"],
        ["a minute later"],
        ["no skill", "skills off"],
        ["time by minute"],
    ],
)
def test_the_words_name_everything_that_the_picture_shows(
    tmp_path: Path, clicks: list[str]
) -> None:
    now = clicked(material(tmp_path, "Use metric units."), *clicks)
    assert_told(draw(now))
    assert draw(now) == draw(now)


def test_each_origin_is_told_by_a_sign_and_a_word() -> None:
    parts = tuple(Part(name, name.upper(), "text", name) for name in ORIGINS)
    shown = words_in(draw(Composition(PLAIN, SystemPrompt(parts))).svg)
    assert {"□ packaged", "◆ override", "◷ clock", "▲ tools", "≡ skills"} <= set(shown)
    assert len({sign for sign, _ in ORIGINS.values()}) == len(ORIGINS)


def test_the_shares_are_numbers_and_lengths_of_a_whole_bar(tmp_path: Path) -> None:
    picture = draw(clicked(material(tmp_path)))
    rows = clicked(material(tmp_path)).prompt.report()
    assert f"{round(100 * rows[0].share)} %" in words_in(picture.svg)
    assert f'width="{244 * rows[0].share:g}" height="10"' in picture.svg


@pytest.mark.parametrize(
    ("clicks", "told"),
    [
        ([], "Nothing to compare with yet"),
        (["time by minute"], "(100 %)\nNothing has changed."),
        (["tools off"], "(100 %)\nOnly the end has been taken away."),
        (["skill brief"], "The first difference is in AVAILABLE SKILLS."),
        (["a minute later"], "The first difference is in CURRENT TIME."),
    ],
)
def test_what_a_cache_can_keep_is_told(tmp_path: Path, clicks: list[str], told: str) -> None:
    now = clicked(material(tmp_path, "Use metric units."), *clicks)
    assert told in draw(now).text


def test_the_mark_stands_once_and_before_the_line_that_differs(tmp_path: Path) -> None:
    text = draw(clicked(material(tmp_path), "a minute later")).text
    assert text.count(MARK) == 1
    assert f"# CURRENT TIME\n\n{MARK}\n2026-11-30 12:01" in text


@pytest.mark.parametrize("clicks", [[], ["time by minute"], ["tools off"]])
def test_there_is_no_mark_where_nothing_differs(tmp_path: Path, clicks: list[str]) -> None:
    now = clicked(material(tmp_path, "Use metric units."), *clicks)
    assert MARK not in draw(now).text


@pytest.mark.parametrize(
    ("before", "percent"), [("x" * 999 + "y", "(99 %)"), ("# P0\n", "(1 %)"), ("y", "(0 %)")]
)
def test_a_percentage_never_claims_all_or_nothing_wrongly(before: str, percent: str) -> None:
    was = SystemPrompt((_Raw(before if before != "x" * 999 + "y" else "# P0\n" + before),))
    assert percent in draw(Composition(PLAIN, prompt("x" * 1000), before=was)).text


class _Raw(Part):
    """A part whose block is its text."""

    def __init__(self, text: str) -> None:
        super().__init__("raw", "RAW", text, "tools")
        self.__dict__["block"] = text


@settings(max_examples=30)
@given(ANY_TEXT, ANY_TEXT)
@example("\x1f", "")  # white space to Python, and shown
@example("", "\r")  # with the line break after it, one sign to `visible`
def test_any_text_in_any_place_gives_a_sound_picture(one: str, other: str) -> None:
    parts = (Part("a", one, other, "override"), Part("b", other, one * 9, "clock"))
    now = Composition(PLAIN, SystemPrompt(parts), one, prompt(one, other), problem=other)
    assert_told(draw(now))


def test_a_long_part_is_folded_in_the_picture_and_whole_in_the_words() -> None:
    long = "\n".join(f"line {number}" for number in range(50))
    picture = draw(Composition(PLAIN, prompt(long)))
    assert "line 49" not in words_in(picture.svg)
    assert "line 49" in picture.text


def test_what_could_not_be_composed_is_told_by_a_sign_and_words() -> None:
    now = replace(Composition(PLAIN, prompt("one")), problem="override on: it is a folder")
    shown = "✗ This could not be composed, so nothing has changed. override on: it is a folder"
    assert shown in words_in(draw(now).svg)
    assert_told(draw(now))
