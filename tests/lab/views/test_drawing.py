"""Pieces of SVG, whatever they are made of."""

from hypothesis import given
from hypothesis import strategies as st

from freya_teach.lab.views import drawing, palette
from tests.lab.views.pictures import parsed, words_in
from tests.lab.views.test_words import ANY_TEXT

NASTY = st.sampled_from(["]]>", "<script>alert(1)</script>", "&amp;", "'\"", "--><!--", "\x00"])


def test_a_picture_has_a_role_and_names_itself_first() -> None:
    (svg,) = parsed(drawing.svg((100, 50), "A title", "What it shows", []))
    assert (svg.get("role"), svg[0].text, svg[1].text) == ("img", "A title", "What it shows")


def test_a_picture_has_no_ids_and_asks_for_nothing_from_outside() -> None:
    svg = drawing.svg((9, 9), "t", "d", [drawing.badge((0, 0), "word", palette.STOP)])
    assert "id=" not in svg
    assert svg.count("http") == svg.count("http://www.w3.org/2000/svg") == 1


def test_spaces_at_the_front_of_a_line_are_kept() -> None:
    assert "\u00a0\u00a0two" in drawing.text((0, 0), "  two")


def test_an_arrow_ends_in_a_head_at_its_last_point() -> None:
    assert 'points="0,0 12,0"' in drawing.arrow([(0, 0), (20, 0)], palette.INK)
    assert 'polygon points="20,0 ' in drawing.arrow([(0, 0), (20, 0)], palette.INK)


@given(ANY_TEXT | NASTY)
def test_any_text_gives_a_well_formed_picture_that_is_always_the_same(text: str) -> None:
    parts = [drawing.text((0, 0), text), drawing.badge((0, 0), text, palette.MODEL)]
    svg = drawing.svg((9, 9), text, text, parts)
    assert len(words_in(svg)) == 2
    assert svg == drawing.svg((9, 9), text, text, list(parts))
    svg.encode()  # no half characters
