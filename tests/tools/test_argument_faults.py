"""Each fault of the arguments says where, what was sent, what is expected, and what was meant."""

import enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

from freya_teach import tool
from freya_teach.tools.argument_faults import lines_of


class Unit(enum.StrEnum):
    CELSIUS = "celsius"
    FAHRENHEIT = "fahrenheit"


class Room(BaseModel):
    beds: int
    sea_view: bool = False


@tool
def book(  # noqa: D417, PLR0917 - one parameter for each kind
    city: str,
    nights: Annotated[int, Field(ge=1, le=30)] = 1,
    unit: Unit = Unit.CELSIUS,
    meal: Literal["none", "half", "full"] | None = None,
    rooms: list[Room] | None = None,
    tags: Annotated[list[str], Field(max_length=2)] = [],  # noqa: B006 - never changed
    guest_name: Annotated[str, Field(min_length=2, pattern="^[A-Z]")] = "Ada",
    when: int | list[int] = 0,
) -> str:
    """Book a room.

    Args:
        city: English name of the city, for example "Oslo".
    """
    return f"{city} {nights} {unit} {meal} {rooms} {tags} {guest_name} {when}"


def faults(**arguments: Any) -> list[str]:
    """The lines for a call of `book`."""
    with pytest.raises(ValidationError) as caught:
        book.validate(arguments)
    return lines_of(caught.value, book.parameters)


CITY = 'a string (English name of the city, for example "Oslo")'


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, f"- city: missing. Expected: {CITY}."),
        ({"city": 7}, f"- city: not a string; you sent 7. Expected: {CITY}."),
        (
            {"city": "Oslo", "nights": 0},
            (
                "- nights: it should be greater than or equal to 1; you sent 0. "
                "Expected: an integer, at least 1, at most 30."
            ),
        ),
        (
            {"city": "Oslo", "nights": "many"},
            (
                '- nights: not an integer; you sent "many". '
                "Expected: an integer, at least 1, at most 30."
            ),
        ),
        (
            {"city": "Oslo", "unit": "Celcius"},
            (
                '- unit: not one of the allowed values; you sent "Celcius". Did you mean celsius? '
                'Expected: one of "celsius", "fahrenheit".'
            ),
        ),
        (
            {"city": "Oslo", "meal": "all"},
            (
                '- meal: not one of the allowed values; you sent "all". '
                'Expected: one of "none", "half", "full" or null.'
            ),
        ),
        (
            {"city": "Oslo", "rooms": [{"beds": 2}, {"beds": "x"}]},
            '- rooms.1.beds: not an integer; you sent "x". Expected: an integer.',
        ),
        (
            {"city": "Oslo", "rooms": [{}]},
            "- rooms.0.beds: missing. Expected: an integer.",
        ),
        (
            {"city": "Oslo", "guestName": "Ada"},
            '- guestName: there is no such argument; you sent "Ada". Did you mean guest_name?',
        ),
        (
            {"city": "Oslo", "x": 1},
            (
                "- x: there is no such argument; you sent 1. Arguments: city, nights, unit, meal, "
                "rooms, tags, guest_name, when."
            ),
        ),
        (
            {"city": "Oslo", "when": "soon"},
            (
                '- when: not an integer; you sent "soon". '
                "Expected: an integer or a list, each item an integer, for example 0."
            ),
        ),
    ],
)
def test_a_fault_has_its_place_and_its_cure(arguments: dict[str, Any], line: str) -> None:
    assert faults(**arguments) == [line]


def test_the_only_missing_argument_is_the_one_that_was_meant() -> None:
    assert faults(town="Oslo") == [
        f"- city: missing. Expected: {CITY}.",
        '- town: there is no such argument; you sent "Oslo". Did you mean city?',
    ]


@pytest.mark.parametrize("name", ["[", "", "list[int]", "a\nb", "x" * 5_000])
def test_a_made_up_name_is_told_whatever_is_in_it(name: str) -> None:
    (line,) = faults(city="Oslo", **{name: 1})
    assert "there is no such argument; you sent 1. Arguments: city, nights" in line
    assert len(line) < 300


def test_of_very_many_faults_the_first_are_told() -> None:
    lines = faults(city="Oslo", **{f"x{number}": 1 for number in range(50)})
    assert len(lines) == 9
    assert lines[-1] == "- and 42 more"


def test_without_a_schema_the_faults_are_told_all_the_same() -> None:
    with pytest.raises(ValidationError) as caught:
        book.validate({"nights": "x", "town": "Oslo"})
    assert lines_of(caught.value, {}) == [
        "- city: missing.",
        '- nights: not an integer; you sent "x".',
        '- town: there is no such argument; you sent "Oslo". Did you mean city?',
    ]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["city", "nights", "unit", "meal", "rooms", "tags", "when", "City"])


@given(st.dictionaries(NAMES | st.text(), json_values, max_size=5))
def test_any_arguments_fit_or_have_at_least_one_line(arguments: dict[str, Any]) -> None:
    try:
        book.validate(arguments)
    except ValidationError as problem:
        lines = lines_of(problem, book.parameters)
        assert lines
        assert all(line.startswith("- ") and "\n" not in line for line in lines)
