"""A tool's JSON Schema in Gemini's words, judged by an independent validator."""

import copy
import json
import re
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from freya_teach.errors import UnsupportedContent
from freya_teach.llm.gemini_schema import to_gemini
from tests import recordings
from tests.recordings import Recording
from tests.strategies import ANY_TEXT


class Place(BaseModel):
    """One place on a map; pydantic puts it into `$defs`."""

    city: str = Field(min_length=1, examples=["Oslo"])
    unit: Literal["c"] = "c"


class Trip(BaseModel):
    """The arguments of a tool as its author would write them."""

    start: Place
    stops: list[Place | None] = Field(default_factory=list, max_length=3)
    days: int = Field(gt=0, lt=8, title="How long")
    budget: float | None = Field(None, gt=0)
    names: dict[str, Place] = Field(default_factory=dict)


SCHEMAS: dict[str, dict[str, Any]] = {
    "a model with models in it": Trip.model_json_schema(),
    "bounds of whole numbers that are no whole numbers": {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "exclusiveMinimum": 0.5, "exclusiveMaximum": 3.5},
            "m": {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 3},
        },
    },
    "a reference to everything": {
        "type": "object",
        "properties": {"any": {"$ref": "#/$defs/Any"}, "none": {"$ref": "#/definitions/None"}},
        "$defs": {"Any": True},
        "definitions": {"None": False},
    },
    "a reference with words beside it": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A", "description": "an A", "default": 1}},
        "$defs": {"A": {"type": "integer", "description": "any A"}},
    },
    "references in every place": {
        "type": "object",
        "$defs": {"N": {"type": "integer", "const": 1}},
        "properties": {
            "title": {"$ref": "#/$defs/N"},
            "examples": {"items": {"$ref": "#/$defs/N"}},
        },
        "additionalProperties": {"anyOf": [{"$ref": "#/$defs/N"}, {"type": "string"}]},
        "if": {"properties": {"title": {"$ref": "#/$defs/N"}}, "required": ["title"]},
        "then": {"required": ["title"]},
        "dependentSchemas": {"title": {"properties": {"b": {"not": {"$ref": "#/$defs/N"}}}}},
    },
    "values that look like schemas": {
        "type": "object",
        "properties": {
            "a": {"enum": [{"title": 1}, {"$ref": "x"}], "default": {"title": 1}},
            "b": {"const": {"$ref": "x", "title": 2}},
        },
    },
    "nothing": {},
}
NAMES = pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
WORDS = ("$ref", "$defs", "definitions", "$schema", "const", "exclusiveMinimum", "examples")


@NAMES
def test_the_schema_that_was_handed_in_is_not_changed(schema: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)
    to_gemini(schema)
    assert schema == before


@NAMES
def test_what_is_clean_stays_as_it_is(schema: dict[str, Any]) -> None:
    clean = to_gemini(schema)
    assert to_gemini(clean) == clean
    Draft202012Validator.check_schema(clean)


def schemas_in(node: Any) -> list[dict[str, Any]]:
    """All schemas inside a schema, itself first; what is a value is left out."""
    if isinstance(node, list):
        return [schema for item in node for schema in schemas_in(item)]
    if not isinstance(node, dict):
        return []
    inner: list[Any] = []
    for key, value in node.items():
        if key in ("properties", "patternProperties", "dependentSchemas"):
            inner += value.values()
        elif key not in ("enum", "default", "required"):
            inner.append(value)
    return [node, *schemas_in(inner)]


@NAMES
def test_no_word_that_gemini_does_not_know_is_left(schema: dict[str, Any]) -> None:
    for node in schemas_in(to_gemini(schema)):
        assert set(node).isdisjoint(WORDS)
        assert "title" not in node or isinstance(node["title"], dict)


PARTS = st.sampled_from([0, 1, 2, 3, 7, 8, 0.5, -1, None, "", "c", "Oslo", True, [], {}])
VALUES = st.recursive(
    PARTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["start", "city", "unit", "stops", "days", "budget", "names", "a", "title"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
PLACES = st.fixed_dictionaries(
    {"city": st.sampled_from(["Oslo", ""])}, optional={"unit": st.just("c")}
)
TRIPS = st.fixed_dictionaries(
    {"start": PLACES, "days": st.integers(-1, 9)},
    optional={
        "stops": st.lists(st.none() | PLACES, max_size=4),
        "budget": st.none() | st.floats(-1, 9),
        "names": st.dictionaries(ANY_TEXT, PLACES, max_size=2),
    },
)
NUMBERS = st.dictionaries(
    st.sampled_from("abnm") | st.sampled_from(["title", "examples", "any", "none"]),
    st.integers(-1, 5) | st.floats(-1, 5) | st.lists(st.integers(0, 2), max_size=2) | PARTS,
    max_size=4,
)


@NAMES
@given(value=TRIPS | NUMBERS | VALUES)
def test_what_the_original_allows_the_clean_one_allows(schema: dict[str, Any], value: Any) -> None:
    """Gemini may be told less than the whole rule, never more."""
    if Draft202012Validator(schema).is_valid(value):
        Draft202012Validator(to_gemini(schema)).validate(value)


@given(TRIPS)
def test_of_a_models_schema_nothing_but_an_open_bound_is_lost(value: Any) -> None:
    """0 is refused by `budget > 0` and taken by `budget >= 0`; whole numbers lose nothing."""
    if value.get("budget") != 0:
        schema = Trip.model_json_schema()
        original = Draft202012Validator(schema).is_valid(value)
        assert Draft202012Validator(to_gemini(schema)).is_valid(value) == original


@pytest.mark.parametrize(
    ("schema", "clean"),
    [
        ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}}, {"type": "object"}),
        ({"type": "integer", "exclusiveMinimum": 3}, {"type": "integer", "minimum": 4}),
        ({"type": "integer", "exclusiveMaximum": 3.5}, {"type": "integer", "maximum": 3}),
        ({"type": "number", "exclusiveMaximum": 3.5}, {"type": "number", "maximum": 3.5}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"minimum": 1}),
        ({"const": None}, {"enum": [None]}),
        ({"title": "T", "examples": [1], "$schema": "x", "discriminator": {"x": 1}}, {}),
        ({"properties": {"title": {"title": "T"}}}, {"properties": {"title": {}}}),
        ({"items": [{"title": "T"}, True]}, {"items": [{}, True]}),
        (
            {"patternProperties": {"title": {"title": "T"}}},
            {"patternProperties": {"title": {}}},
        ),
        (
            {"dependencies": {"title": {"title": "T"}, "examples": ["a"]}},
            {"dependencies": {"title": {}, "examples": ["a"]}},
        ),
        (
            {
                "properties": {"a": {"$ref": "#/$defs/A", "default": 1}},
                "$defs": {"A": {"default": 2}},
            },
            {"properties": {"a": {"default": 1}}},
        ),
    ],
)
def test_a_keyword_becomes_the_one_that_gemini_knows(
    schema: dict[str, Any], clean: dict[str, Any]
) -> None:
    assert to_gemini(schema) == clean


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#"}}},
        {"properties": {"a": {"$ref": "#/$defs/Missing"}}},
        {"items": {"$ref": "https://schemas.example/a.json"}},
    ],
)
def test_a_reference_to_nothing_inside_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedContent, match="Gemini cannot take this tool's schema: no "):
        to_gemini(schema)


def test_a_schema_that_refers_to_itself_keeps_its_references() -> None:
    leaf = {"type": "object", "title": "Leaf", "properties": {"size": {"const": 3}}}
    tree = {"properties": {"leaf": {"$ref": "#/$defs/Leaf"}, "next": {"$ref": "#/$defs/Tree"}}}
    schema = {
        "properties": {"tree": {"$ref": "#/$defs/Tree"}},
        "$defs": {"Tree": tree, "Leaf": leaf},
    }
    assert to_gemini(schema) == {
        "properties": {"tree": {"$ref": "#/$defs/Tree"}},
        "$defs": {
            "Tree": tree,
            "Leaf": {"type": "object", "properties": {"size": {"enum": [3]}}},
        },
    }


def declared(recording: Recording) -> list[dict[str, Any]]:
    """The JSON Schemas of the tools in a recorded request."""
    tools = (recording.request["body"] or {}).get("tools")
    found: list[Any] = []
    for tool in tools if isinstance(tools, list) else []:
        found.append(tool.get("function", {}).get("parameters"))
        ours = tool.get("functionDeclarations", tool.get("function_declarations", []))
        found += [one.get("parametersJsonSchema") for one in ours]
        found += [one.get("parameters_json_schema") for one in ours]
    return [schema for schema in found if schema]


@recordings.each(lambda r: r.status == 200 and bool(declared(r)))
def test_a_recorded_schema_is_cleaned_and_stays_a_schema(recording: Recording) -> None:
    for schema in declared(recording):
        before = json.dumps(schema)
        clean = to_gemini(schema)
        Draft202012Validator.check_schema(clean)
        assert ("$ref" in json.dumps(clean)) == refers_to_itself(schema)
        assert json.dumps(schema) == before


def refers_to_itself(schema: dict[str, Any]) -> bool:
    uses = {
        name: set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(definition)))
        for name, definition in schema.get("$defs", {}).items()
    }
    for _ in range(len(uses)):
        uses = {name: used.union(*(uses[other] for other in used)) for name, used in uses.items()}
    return any(name in used for name, used in uses.items())
