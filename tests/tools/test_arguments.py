"""What a model wrote as arguments: taken, understood with a note, or refused."""

import dataclasses
import json
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from freya_teach import Ambient, Settings, Tool, tool
from freya_teach.llm.messages import ToolCall
from freya_teach.tools.arguments import NotAnObject, NotJson, read_arguments
from freya_teach.tools.runner import ToolRunner
from tests.strategies import ANY_TEXT


class Place(BaseModel):
    name: str
    stars: int = 3


@dataclasses.dataclass
class Size:
    width: int


def plan(  # noqa: PLR0917 - one parameter of each kind
    number: int = 0,
    price: float = 0.0,
    tags: list[str] = [],  # noqa: B006 - what a learner writes
    numbers: set[int] = set(),  # noqa: B006
    pair: tuple[int, str] = (0, ""),
    place: Place | None = None,
    stops: list[Place] = [],  # noqa: B006
    size: Size = Size(1),  # noqa: B008
    prices: dict[str, float] = {},  # noqa: B006
    limit: int | None = 5,
    either: int | list[int] = 0,
    text: str | None = None,
    day: date | None = None,
    kind: Literal["a", "b"] = "a",
    *,
    board: bool = False,
) -> None:
    """Plan a trip."""


PLAN = tool(plan)


def read(arguments: dict[str, Any], made: Tool = PLAN) -> tuple[dict[str, Any], str]:
    """Read arguments; of the values, return those that were sent."""
    values, note = read_arguments(made, json.dumps(arguments))
    return {name: values[name] for name in arguments}, note


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"number": 10, "price": 2}, {"number": 10, "price": 2.0}),
        ({"number": 10.0}, {"number": 10}),
        ({"number": -2e3}, {"number": -2000}),
        ({"day": "2026-11-30"}, {"day": date(2026, 11, 30)}),
        ({"limit": None, "text": None}, {"limit": None, "text": None}),
        ({"text": "10", "tags": ["1"]}, {"text": "10", "tags": ["1"]}),
        ({"pair": [1, "a"], "numbers": [1, 1]}, {"pair": (1, "a"), "numbers": {1}}),
        ({"place": {"name": "Oslo"}, "size": {"width": 2}}, None),
        ({"either": [1]}, {"either": [1]}),
    ],
    ids=str,
)
def test_what_fits_is_taken_without_a_word(
    sent: dict[str, Any], meant: dict[str, Any] | None
) -> None:
    meant = meant or {"place": Place(name="Oslo"), "size": Size(2)}
    assert read(sent) == (meant, "")


@pytest.mark.parametrize(
    ("sent", "meant", "said"),
    [
        ({"number": "10"}, {"number": 10}, 'number: "10" was read as 10'),
        ({"number": " -3 "}, {"number": -3}, 'number: " -3 " was read as -3'),
        ({"price": "1.5e3"}, {"price": 1500.0}, 'price: "1.5e3" was read as 1500.0'),
        ({"board": "True"}, {"board": True}, 'board: "True" was read as true'),
        ({"board": "false"}, {"board": False}, 'board: "false" was read as false'),
        ({"tags": "a"}, {"tags": ["a"]}, 'tags: "a" was read as ["a"]'),
        ({"tags": '["a", "b"]'}, {"tags": ["a", "b"]}, r'was read as ["a", "b"]'),
        ({"numbers": 7}, {"numbers": {7}}, "numbers: 7 was read as [7]"),
        ({"numbers": "[7]"}, {"numbers": {7}}, 'numbers: "[7]" was read as [7]'),
        ({"pair": '[1, "a"]'}, {"pair": (1, "a")}, 'was read as [1, "a"]'),
        ({"place": '{"name": "Oslo"}'}, {"place": Place(name="Oslo")}, '{"name": "Oslo"}'),
        ({"stops": {"name": "Oslo"}}, {"stops": [Place(name="Oslo")]}, "stops: {"),
        ({"size": '{"width": 4}'}, {"size": Size(4)}, 'was read as {"width": 4}'),
        ({"prices": '{"a": 1}'}, {"prices": {"a": 1.0}}, 'was read as {"a": 1}'),
        ({"limit": "3"}, {"limit": 3}, 'limit: "3" was read as 3'),
        ({"either": "3"}, {"either": 3}, 'either: "3" was read as 3'),
        ({"number": None}, {}, "number: null was read as left out"),
        ({"kind": None}, {}, "kind: null was read as left out"),
    ],
    ids=str,
)
def test_a_known_stumble_is_understood_and_told(
    sent: dict[str, Any], meant: dict[str, Any], said: str
) -> None:
    values, note = read(sent)
    assert values == (meant or {name: PLAN.validate({})[name] for name in sent})
    assert note.startswith("\n(Note: ")
    assert said in note
    assert note.endswith("Next time, send it as the schema says.)")


def test_stumbles_inside_of_stumbles_are_understood_too() -> None:
    values, note = read({"stops": '[{"name": "Oslo", "stars": "5"}, {"name": "B", "stars": null}]'})
    assert values == {"stops": [Place(name="Oslo", stars=5), Place(name="B", stars=3)]}
    assert 'stops.0.stars: "5" was read as 5; stops.1.stars: null was read as left out' in note


def test_of_many_notes_the_first_five_are_told() -> None:
    _, note = read({"stops": [{"name": "a", "stars": "1"}] * 9})
    assert note.count(" was read as ") == 5
    assert "; 4 more. Next time" in note


def test_a_long_value_is_told_in_short() -> None:
    _, note = read({"tags": "x" * 10_000})
    assert len(note) < 300


def test_with_a_strict_schema_null_is_how_a_model_leaves_out_and_no_note_is_needed() -> None:
    @tool(strict=True)
    def book(city: str, nights: int = 2, *, board: bool = True) -> None:
        """Book."""

    text = '{"city": "Oslo", "nights": null, "board": null}'
    assert read_arguments(book, text) == ({"city": "Oslo", "nights": 2, "board": True}, "")


def test_arguments_in_quotes_as_a_whole_are_opened() -> None:
    values, note = read_arguments(PLAN, json.dumps('{"number": 3}'))
    assert (values["number"], "a string and were read as the object in it" in note) == (3, True)


@pytest.mark.parametrize(
    "sent",
    [
        {"number": "ten"},
        {"number": "1.5"},
        {"number": 1.5},
        {"number": True},
        {"number": ""},
        {"number": "１０"},
        {"number": "9" * 5_000},
        {"price": "nan"},
        {"price": "inf"},
        {"price": True},
        {"board": 1},
        {"board": "yes"},
        {"text": 7},
        {"tags": None, "stops": [None]},
        {"tags": "[a"},
        {"tags": [1]},
        {"pair": 1},
        {"pair": "1"},
        {"place": "Oslo"},
        {"place": "[]"},
        {"place": {"name": None}},
        {"kind": "c"},
        {"day": 1_700_000_000},
        {"numbers": {"a": 1}},
        {"unknown": 1},
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_nobody_can_have_meant_is_refused(sent: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        read(sent)


def test_a_value_is_read_in_a_better_form_only_if_it_then_fits() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        read({"nights": "0"}, tool(at_least_one))


def at_least_one(nights: Annotated[int, Field(ge=1)]) -> None: ...


@pytest.mark.parametrize("text", ["{", "nope", "\ud800", '{"number": ' + "9" * 5_000 + "}"])
def test_what_is_no_json_is_told_apart(text: str) -> None:
    with pytest.raises(NotJson):
        read_arguments(PLAN, text)


@pytest.mark.parametrize("text", ["[]", "3", "null", '"Oslo"', '"[]"', '"{"'])
def test_what_is_no_object_is_told_apart(text: str) -> None:
    with pytest.raises(NotAnObject):
        read_arguments(PLAN, text)


@pytest.mark.parametrize("text", ["", "  \n", "{}"])
def test_an_empty_text_means_no_arguments(text: str) -> None:
    assert read_arguments(PLAN, text) == (PLAN.validate({}), "")


def test_half_a_surrogate_pair_and_a_deep_list_are_json_too() -> None:
    def probe(text: str, data: list[Any]) -> None: ...

    deep = "[" * 250 + "]" * 250
    values, _ = read_arguments(tool(probe), f'{{"text": "\\ud83d", "data": {deep}}}')
    assert values["text"] == "\ud83d"
    assert json.dumps(values["data"]) == deep


# ---- whatever a model writes ---------------------------------------------------------------


def shout(text: str) -> str:
    return {"a": "A"}[text]  # an author's validator that has not thought of all texts


def fragile(text: Annotated[str, AfterValidator(shout)] = "a") -> None: ...


RUNNER = ToolRunner(Settings(), Ambient())
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)
NEAR_MISSES = st.sampled_from(
    ["10", "1.5", "true", "[1]", '{"name": "a"}', '[{"stars": "1"}]', "null", 10, 1e400, None, [[]]]
)
NAMES = st.sampled_from([*PLAN.parameters["properties"]])
OBJECTS = st.dictionaries(NAMES, NEAR_MISSES | JSON_VALUES, max_size=6)


@given(ANY_TEXT | JSON_VALUES.map(json.dumps) | OBJECTS.map(json.dumps))
def test_whatever_stands_in_the_arguments_the_tool_is_ready_or_the_model_is_guided(
    text: str,
) -> None:
    for made in (PLAN, tool(fragile)):
        prepared = RUNNER.prepare(ToolCall("call_1", made.name, text), {made.name: made})
        if prepared.tool is None:
            assert made.name in prepared.problem
        else:
            assert prepared.arguments.keys() == made.parameters["properties"].keys()


@pytest.mark.parametrize("depth", [100, 250, 900, 990, 5_000, 200_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_no_depth_of_nesting_is_too_much(depth: int, opening: str) -> None:
    closing = {"[": "]", '{"a":': "}"}[opening]
    deep = opening * depth + "1" + closing * depth
    for text in (deep, f'{{"number": {deep}}}', f'{{"prices": {json.dumps(deep)}}}'):
        prepared = RUNNER.prepare(ToolCall("call_1", "plan", text), {"plan": PLAN})
        assert "plan" in prepared.problem
