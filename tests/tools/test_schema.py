"""The strict form of a schema: what OpenAI demands, and that nothing valid in it is refused."""

import copy
import enum
import json
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from freya_teach import Tool, tool
from freya_teach.errors import ConfigError
from freya_teach.tools.arguments import read_arguments
from freya_teach.tools.schema import may_be_left_out, strict


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    name: str
    colour: Colour = Colour.RED
    stars: int | None = None


class Node(BaseModel):
    label: str
    children: list["Node"] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str] = []


def plan(  # noqa: PLR0917 - one parameter of each kind
    city: str,
    start: date,
    place: Place,
    nights: Annotated[int, Field(ge=1, le=30, description="How many nights.")] = 2,
    price: float | None = None,
    kind: Literal["hotel", "hut"] = "hut",
    colour: Colour = Colour.BLUE,
    stops: list[Place] = [],  # noqa: B006 - what a learner writes
    tags: set[str] = set(),  # noqa: B006
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] = Cat(kind="cat"),  # noqa: B008
    tree: Node = Node(label="root"),  # noqa: B008
    *,
    board: bool = False,
    near: Place | None = None,
    either: int | list[int] = 1,
) -> None:
    """Plan a trip."""


STRICT = tool(strict=True)(plan)


def nodes(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Walk through all objects in a schema."""
    if isinstance(schema, list):
        for item in schema:
            yield from nodes(item)
    if isinstance(schema, dict):
        yield schema
        for item in schema.values():
            yield from nodes(item)


def test_the_strict_form_is_what_the_reference_shows() -> None:
    @tool(strict=True)
    def get_weather(  # noqa: D417
        city: str, unit: Literal["c", "f"] | None = None, days: int = 1
    ) -> None:
        """Current weather for one city.

        Args:
            city: Its name.
            days: How many.
        """

    assert get_weather.strict_parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Its name."},
            "unit": {"anyOf": [{"type": "string", "enum": ["c", "f"]}, {"type": "null"}]},
            "days": {"type": ["integer", "null"], "description": "How many. Null means 1."},
        },
        "required": ["city", "unit", "days"],
        "additionalProperties": False,
    }


def test_every_object_is_closed_and_requires_all_that_it_has() -> None:
    found = [node for node in nodes(STRICT.strict_parameters) if node.get("type") == "object"]
    assert len(found) >= 5
    for node in found:
        assert node["required"] == list(node["properties"])
        assert node["additionalProperties"] is False


def test_no_word_is_left_that_strict_mode_refuses() -> None:
    refused = {"default", "oneOf", "allOf", "discriminator", "title", "uniqueItems", "const"}
    schemas = [node for node in nodes(STRICT.strict_parameters) if "required" not in node]
    assert [node for node in schemas if refused & node.keys()] == []
    assert [n for n in nodes(STRICT.strict_parameters) if "$ref" in n and len(n) > 1] == []


def test_the_schema_that_is_handed_in_stays_as_it_was() -> None:
    before = copy.deepcopy(STRICT.parameters)
    strict(STRICT.parameters)
    assert STRICT.parameters == before
    assert "default" in STRICT.parameters["properties"]["nights"]


def test_a_model_that_refers_to_itself_keeps_the_reference() -> None:
    made = tool(model=Node, strict=True)(lambda_named("grow"))
    assert made.parameters["type"] == "object"
    closed = made.strict_parameters
    assert closed is not None
    items = closed["$defs"]["Node"]["properties"]["children"]["items"]
    assert items == {"$ref": "#/$defs/Node"}
    Draft202012Validator.check_schema(dict(closed))


def lambda_named(name: str) -> Any:
    """Make a function of this name that takes one thing."""

    def probe(value) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001

    probe.__name__ = name
    return probe


def described(city: Annotated[Place, Field(description="Where.")]) -> None: ...


def test_a_reference_with_words_beside_it_is_put_in_place() -> None:
    city = strict(tool(described).parameters)["properties"]["city"]
    assert (city["type"], city["description"], "$ref" in city) == ("object", "Where.", False)


def free_keys(prices: dict[str, int]) -> None: ...


def any_value(value: Any) -> None: ...


def fixed_places(pair: tuple[int, str]) -> None: ...


class Open(BaseModel, extra="allow"):
    name: str


def open_model(stops: list[Open]) -> None: ...


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (free_keys, r"tool free_keys: arguments\.prices: strict mode has no objects with free"),
        (any_value, r"arguments\.value: strict mode cannot describe this type"),
        (fixed_places, r"arguments\.pair: strict mode cannot describe this type"),
        (open_model, r"arguments \(Open\): strict mode has no objects with free keys"),
    ],
)
def test_what_strict_mode_cannot_say_is_refused_when_the_tool_is_made(
    function: Any, said: str
) -> None:
    assert tool(function).strict_parameters is None
    with pytest.raises(ConfigError, match=said):
        tool(strict=True)(function)


def test_a_pattern_or_a_format_that_strict_mode_does_not_know_is_left_to_our_own_check() -> None:
    def pay(amount: Decimal, day: date, code: Annotated[str, Field(pattern="^[A-Z]+$")]) -> None:
        """Pay."""

    closed = strict(tool(pay).parameters)["properties"]
    assert closed["amount"] == {"anyOf": [{"type": "number"}, {"type": "string"}]}
    assert closed["day"] == {"type": "string", "format": "date"}
    assert closed["code"] == {"type": "string", "pattern": "^[A-Z]+$"}


# ---- whatever fits the strict schema is taken ----------------------------------------------


def values_of(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> Any:
    """Make a strategy for the values that a strict schema allows."""
    if "$ref" in schema:
        return values_of(root["$defs"][schema["$ref"].rpartition("/")[2]], root, depth)
    if "anyOf" in schema:
        return st.one_of([values_of(option, root, depth) for option in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of([plain_values(type_, schema, root, depth) for type_ in types])


def plain_values(
    type_: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int
) -> st.SearchStrategy[Any]:
    match type_:
        case "string" if schema.get("format") == "date":
            return st.dates().map(str)
        case "integer":
            low, high = schema.get("minimum"), schema.get("maximum")
            return st.integers(low, high) | st.just(float(low or 7))
        case "array":
            if depth > 3:
                return st.just([])
            return st.lists(values_of(schema["items"], root, depth + 1), max_size=3)
        case "object":
            fields = schema["properties"].items()
            return st.fixed_dictionaries({k: values_of(v, root, depth + 1) for k, v in fields})
    return {
        "string": st.text(max_size=5),
        "number": st.floats(allow_nan=False, allow_infinity=False),
        "boolean": st.booleans(),
        "null": st.none(),
    }[type_]


@settings(max_examples=200)
@given(st.data())
def test_any_value_that_fits_the_strict_schema_is_taken_and_null_means_the_default(
    data: st.DataObject,
) -> None:
    schema = STRICT.strict_parameters
    assert schema is not None
    value = data.draw(values_of(schema, schema))
    assert Draft202012Validator(schema).is_valid(value)
    read, note = read_arguments(STRICT, json.dumps(value))
    assert note == ""
    defaults = STRICT.validate({"city": "", "start": "2026-11-30", "place": {"name": ""}})
    left_out = [name for name in defaults if value[name] is None]
    assert {name: read[name] for name in left_out} == {name: defaults[name] for name in left_out}


# ---- what may be left out ------------------------------------------------------------------


def nested(place: Place, near: Place | None = None, stops: list[Place] = []) -> None: ...  # noqa: B006


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), False),
        (("place",), False),
        (("near",), True),
        (("place", "name"), False),
        (("place", "colour"), True),
        (("near", "colour"), True),
        (("near", "name"), False),
        (("stops", 0), False),
        (("stops", 0, "stars"), True),
        (("stops", 0, "name"), False),
        (("unknown",), False),
        (("place", "unknown", "deep"), False),
    ],
)
def test_what_may_be_left_out_is_known_at_any_depth(
    path: tuple[str | int, ...],
    expected: bool,  # noqa: FBT001 - by name
) -> None:
    made: Tool = tool(nested)
    assert may_be_left_out(made.parameters, path) is expected
