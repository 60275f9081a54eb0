"""The paper's figures, as far as they can be checked against what its text says."""

import pytest

from freya_teach.lab.middle import MEASURED, PLACES, TABLES, Measured

MODELS = {measured.model: measured for measured in MEASURED}


def test_each_row_has_a_figure_for_each_place() -> None:
    assert PLACES.keys() == TABLES.keys()
    for measured in MEASURED:
        for documents, found in measured.by_place.items():
            assert len(found) == len(PLACES[documents])
            assert all(measured.closed_book - 10 < right < measured.oracle for right in found)


def test_the_places_run_from_the_first_document_to_the_last() -> None:
    for documents, places in PLACES.items():
        assert (places[0], places[-1]) == (1, documents)
        assert list(places) == sorted(places)


def test_the_worst_place_of_gpt_35_is_worse_than_no_document_at_all() -> None:
    """Section 2.3 of the paper: more than 20 points, and below closed-book (56.1)."""
    turbo = MODELS["GPT-3.5-Turbo"]
    assert turbo.drop(20) == 22.0
    assert min(turbo.by_place[20]) < turbo.closed_book == 56.1


def test_a_larger_window_changes_next_to_nothing() -> None:
    """Section 2.3 again: the two curves are nearly superimposed."""
    for short, long in (
        ("GPT-3.5-Turbo", "GPT-3.5-Turbo (16K)"),
        ("Claude-1.3", "Claude-1.3 (100K)"),
    ):
        for one, other in zip(MODELS[short].by_place[20], MODELS[long].by_place[20], strict=True):
            assert abs(one - other) < 0.5


def test_a_drop_that_nobody_measured_is_an_error() -> None:
    assert Measured("m", 1, 2, {10: (1.0, 3.0, 2.5)}).drop(10) == 2.0
    with pytest.raises(KeyError):
        MODELS["GPT-3.5-Turbo"].drop(30)
