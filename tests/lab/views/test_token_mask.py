"""The picture of a mask at work."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from freya_teach.lab.views.token_mask import WIDTH, Choice, draw, token_mask
from tests.lab.views.pictures import SVG, assert_told, parsed, words_in
from tests.lab.views.test_words import ANY_TEXT

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
CHOICE = Choice(3, ('{"', "city"), '":', ('":',), ("Sure", " the"), 1, 49_152)


@settings(max_examples=40)
@given(ANY_TEXT, ANY_TEXT)
def test_any_token_gives_a_sound_picture(one: str, other: str) -> None:
    tokens = (one or "a", other or "b") * 6
    assert_told(draw(replace(CHOICE, before=tokens, taken=one, allowed=tokens, forbidden=tokens)))


def test_signs_and_words_tell_the_kinds_apart_not_colour_alone() -> None:
    shown = words_in(draw(CHOICE).svg)
    assert "✓ allowed" in shown
    assert "✗ forbidden" in shown
    assert "1 of 49,152 tokens is allowed" in shown


def test_spaces_and_line_breaks_can_be_seen() -> None:
    picture = draw(replace(CHOICE, allowed=(" the", "\n\n"), allowed_count=2))
    assert {"␣the", "⏎⏎"} <= set(words_in(picture.svg))
    assert "␣the  ⏎⏎" in picture.text


def test_a_long_text_goes_on_in_the_next_row() -> None:
    picture = draw(replace(CHOICE, before=("word",) * 60))
    assert_told(picture)
    boxes = list(parsed(picture.svg)[0].iter(f"{SVG}rect"))
    assert max(float(box.get("x", 0)) + float(box.get("width", 0)) for box in boxes) < WIDTH


class TestWithLlguidance:
    @pytest.fixture(autouse=True)
    def needed(self) -> None:
        pytest.importorskip("llguidance", reason="llguidance, of the extra `course`, is missing")

    def test_each_token_is_a_step_and_so_is_the_end(self) -> None:
        view = token_mask(CITY, '{"city": "Oslo"}', watch=("Sure",))
        assert [frame.taken for frame in view.frames] == [
            *('{"', "city", '":', ' "', "Os", "lo", '"}', "")
        ]
        for step in range(1, len(view.frames) + 1):
            assert_told(view.at(step))
        assert view.at(len(view.frames)).text.count("<|im_end|>") == 1

    def test_a_watched_token_comes_first_on_its_side(self) -> None:
        view = token_mask(CITY, '{"city": "Oslo"}', watch=("Sure",))
        assert view.frames[0].forbidden[0] == "Sure"
        assert view.frames[4].allowed[0] == "Sure"

    def test_a_text_that_does_not_fit_is_refused(self) -> None:
        with pytest.raises(ValueError, match="does not allow the token 'Sure'"):
            token_mask(CITY, "Sure, here it is")
