"""The picture of the paper's tables."""

import pytest

from freya_teach.lab.middle import MEASURED, PLACES
from freya_teach.lab.views.drawing import COLUMN
from freya_teach.lab.views.middle import PANEL, middle
from tests.lab.views.pictures import assert_told, words_in

STEPS = dict(enumerate(PLACES, start=1))


@pytest.mark.parametrize("step", STEPS)
def test_the_words_name_everything_that_each_picture_shows(step: int) -> None:
    assert_told(middle().at(step))


@pytest.mark.parametrize(("step", "documents"), STEPS.items())
def test_every_figure_of_the_table_stands_in_the_picture_as_often_as_in_the_table(
    step: int, documents: int
) -> None:
    shown = [words for words in words_in(middle().at(step).svg) if "." in words]
    figures = [right for each in MEASURED for right in each.by_place.get(documents, ())]
    assert sorted(word for word in shown if word[0].isdigit()) == sorted(map(str, figures))


def test_a_model_without_a_row_in_the_table_says_so() -> None:
    assert "GPT-3.5-Turbo\n    not in this table" in middle().at(3).text
    assert "not in this table" not in middle().at(2).text


def test_twenty_documents_come_first_and_the_buttons_lead_to_fewer_and_more() -> None:
    view = middle()
    assert " 20 documents" in view.text
    assert " 10 documents" in view.play(["prev"]).text
    assert " 30 documents" in view.play(["next", "next", "next"]).text


def test_a_higher_bar_is_a_higher_figure() -> None:
    svg = middle().at(2).svg
    tops = [float(part.split('"')[0]) for part in svg.split('height="')[1:]]
    bars = [height for height in tops if 60 < height < 130]
    figures = [right for each in MEASURED for right in each.by_place[20]]
    assert len(bars) == len(figures)
    order = sorted(range(len(figures)), key=figures.__getitem__)
    assert [bars[place] for place in order] == sorted(bars)


def test_what_is_written_above_the_bars_fits_into_a_panel() -> None:
    written = [words for words in words_in(middle().at(2).svg) if words.startswith("- - ")]
    assert len(written) == 1 + len(MEASURED)
    assert all(COLUMN * len(words) < PANEL[0] - 24 for words in written)
