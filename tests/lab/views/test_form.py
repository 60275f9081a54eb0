"""A move in the making."""

from typing import Any

import pytest

from freya_teach.lab.gateway.question import Call, Move, Offered
from freya_teach.lab.views.form import WORDS, Form

PROPERTIES = {
    "city": {"type": "string"},
    "days": {"type": "integer"},
    "unit": {"enum": ["C", "F"]},
}
FORECAST = Offered("forecast", "", {"properties": PROPERTIES, "required": ["city"]})
NOW = Offered("now", "", {"properties": {"city": {"type": "string"}}, "required": ["city"]})


def form(choice: str = WORDS) -> Form:
    made = Form((FORECAST, NOW))
    made.choose(choice)
    return made


def test_words_are_a_move() -> None:
    made = form()
    made.words = "Sunny."
    assert made.move() == Move("Sunny.")


def test_every_offered_tool_can_be_chosen() -> None:
    assert form().choices == [WORDS, "forecast", "now"]


def test_fields_make_a_call_and_empty_optional_ones_are_left_out() -> None:
    made = form("forecast")
    made.values |= {"city": "Oslo", "days": "3"}
    assert made.move() == Move("", (Call("forecast", {"city": "Oslo", "days": 3}),))


def test_a_required_text_may_be_empty_as_a_models_may() -> None:
    assert form("now").move() == Move("", (Call("now", {"city": ""}),))


def test_a_bad_field_is_told_and_nothing_is_made() -> None:
    made = form("forecast")
    made.values["days"] = "many"
    assert made.move() is None
    assert made.problems == {"days": "days must be a whole number; 'many' is none."}
    made.values["days"] = "3"
    assert made.move() is not None
    assert made.problems == {}


def test_raw_text_goes_out_as_it_is_and_an_object_as_an_object() -> None:
    made = form("now")
    made.raw, made.raw_text = True, '{"city": "Os'
    assert made.move() == Move("", (Call("now", '{"city": "Os'),))
    made.raw_text = ' {"town": "Oslo"}'
    assert made.move() == Move("", (Call("now", {"town": "Oslo"}),))
    made.raw_text = '"Oslo"'
    assert made.move() == Move("", (Call("now", '"Oslo"'),))


def test_several_calls_and_words_go_out_together() -> None:
    made = form("now")
    made.values["city"] = "Oslo"
    assert made.add()
    assert made.choice == WORDS
    made.words = "Let me look."
    assert made.move() == Move("Let me look.", (Call("now", {"city": "Oslo"}),))


def test_words_cannot_be_put_aside_and_neither_can_a_bad_call() -> None:
    made = form()
    assert not made.add()
    assert made.problems == {"move": "Choose a tool to call."}
    made.choose("forecast")
    made.values["days"] = "many"
    assert not made.add()
    assert made.ready == []


@pytest.mark.parametrize(
    ("arguments", "raw"),
    [
        ({"city": "Oslo"}, False),
        ({"city": "Oslo", "days": 3, "unit": "F"}, False),
        ({"city": 3}, True),
        ({"days": 3}, True),
        ({"days": "3", "city": ""}, True),
        ({"town": "Oslo"}, True),
        ('{"city": ', True),
    ],
)
def test_a_call_is_typed_into_the_fields_or_as_raw_text_and_stays_the_same(
    arguments: Any, *, raw: bool
) -> None:
    made = form()
    made.fill(Call("forecast", arguments))
    assert made.raw == raw
    assert made.move() == Move("", (Call("forecast", arguments),))


def test_a_tool_that_is_not_offered_can_be_called_all_the_same() -> None:
    made = form()
    made.fill(Call("fly", {"to": "Oslo"}))
    assert made.move() == Move("", (Call("fly", {"to": "Oslo"}),))
