"""A tool's schema as fields, and what can be typed into them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freya_teach.lab.gateway.question import Offered
from freya_teach.lab.views.fields import BadField, Field, fields_of, read, typed


def offered(properties: dict[str, Any], *required: str) -> Offered:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Offered("f", "does it", schema)


def field_of(kind: Any, *, required: bool = True) -> Field:
    return Field("x", kind, "", required, ("a", "b") if kind == "choice" else ())


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, "text"),
        ({"type": "integer"}, "integer"),
        ({"type": "number"}, "number"),
        ({"type": "boolean"}, "boolean"),
        ({"type": "string", "enum": ["a", "b"]}, "choice"),
        ({"type": "array", "items": {"type": "string"}}, "json"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "json"),
        ({"type": ["string", "null"]}, "json"),
        ({"enum": []}, "json"),
        (True, "json"),
    ],
)
def test_each_kind_of_schema_has_its_control(schema: Any, kind: str) -> None:
    (field,) = fields_of(offered({"x": schema}))
    assert field.kind == kind


def test_names_descriptions_and_what_is_required_come_from_the_schema() -> None:
    fields = fields_of(offered({"city": {"type": "string", "description": "where"}, "n": {}}, "n"))
    assert [(each.name, each.about, each.required) for each in fields] == [
        ("city", "where", False),
        ("n", "", True),
    ]


def test_a_schema_that_is_none_has_no_fields() -> None:
    assert fields_of(Offered("f", "", {})) == ()
    assert fields_of(Offered("f", "", {"properties": {"a": {}}, "required": "a"}))[0].name == "a"


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("text", "", ""),
        ("text", "8", "8"),
        ("integer", "8", 8),
        ("number", "-8.5", -8.5),
        ("number", "8", 8),
        ("boolean", "true", True),
        ("json", '["a", null]', ["a", None]),
    ],
)
def test_what_is_typed_becomes_the_value_that_the_schema_asks_for(
    kind: Any, text: str, value: Any
) -> None:
    assert read(field_of(kind), text) == value


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("integer", "eight", "x must be a whole number; 'eight' is none."),
        ("integer", "8.5", "x must be a whole number; '8.5' is none."),
        ("integer", "true", "x must be a whole number; 'true' is none."),
        ("integer", "", "x must be a whole number; '' is none."),
        ("number", "NaN", "x must be a number; 'NaN' is none."),
        ("boolean", "yes", "x must be true or false; 'yes' is neither."),
        ("json", "[1", "x takes JSON, and this is not valid JSON. Text needs double quotes."),
        ("json", "[" * 100_000, "x takes JSON, and this is not valid JSON."),
        ("choice", '"c"', 'x: "c" is none of the values that the schema allows.'),
    ],
)
def test_what_the_schema_does_not_ask_for_is_told_in_words(
    kind: Any, text: str, problem: str
) -> None:
    with pytest.raises(BadField) as told:
        read(field_of(kind), text)
    assert str(told.value).startswith(problem)


@pytest.mark.parametrize(
    ("field", "first"),
    [
        (field_of("text", required=True), ""),
        (field_of("boolean", required=False), "false"),
        (field_of("choice", required=True), '"a"'),
        (field_of("choice", required=False), ""),
    ],
)
def test_a_field_starts_with_what_its_control_shows(field: Field, first: str) -> None:
    assert field.first == first


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_typing_a_value_and_reading_it_gives_the_value_back(value: Any) -> None:
    field = field_of("json", required=True)
    assert json.dumps(read(field, typed(field, value))) == json.dumps(value)
