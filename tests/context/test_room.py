"""What a request may hold: the window, less the answer, less what is in every request."""

import pytest

from freya_teach.context.compactor import Budget
from freya_teach.context.room import Room, refused, room_for
from freya_teach.llm.models import ModelFacts
from freya_teach.llm.overflow import Overflow

SMALL = ModelFacts(8_192, 4_096)


@pytest.mark.parametrize(
    ("limit", "answer"), [(None, 1_024), (300, 300), (4_000, 4_000), (9_000, 4_096)]
)
def test_room_is_kept_for_the_answer_and_never_more_than_half(
    limit: int | None, answer: int
) -> None:
    assert room_for(SMALL, 100, limit, "a/b") == Room(8_192, answer, 100, "a/b")


def test_the_half_of_the_window_counts_where_the_model_could_write_more() -> None:
    assert room_for(ModelFacts(8_192, 8_192), 0, 8_000).answer == 4_096


def test_a_budget_is_what_the_fixed_part_leaves() -> None:
    assert Room(1_100, 100, 50).budget(0.8) == Budget(limit=950, trigger=750)


@pytest.mark.parametrize(
    ("told", "input_"),
    [
        (Overflow(800, 1_000), 800),  # our estimate was right
        (Overflow(800, 2_000), 400),  # it was half of the truth
        (Overflow(800, 500), 800),  # it was too high: what fits by it fits all the more
        (Overflow(800), 800),
        (Overflow(800, 1_100, 100), 700),  # what is kept for the answer is not the input's
        (Overflow(5_000), 750),  # a limit that was not passed is not believed
        (Overflow(), 750),
    ],
)
def test_after_a_refusal_the_providers_numbers_count_in_the_units_of_our_estimate(
    told: Overflow, input_: int
) -> None:
    room = refused(Room(window=2_000, answer=200, fixed=100), 900, told)
    assert (room.input, room.answer, room.fixed) == (input_, 200, 100)
