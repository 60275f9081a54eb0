"""JSON Schema to what Gemini's `parametersJsonSchema` takes. (chapter 5.2)

That field takes real JSON Schema, but not all of it: references are put in place, `const`
becomes an `enum` of one, exclusive bounds become inclusive ones, and words that carry no rule
are left out. The arguments are still checked against the original schema on our side, so
nothing that is lost here is lost for good.

The schema handed in is never changed: a tool is shared by both providers.
Sources: googleapis `content.proto` (field 6), `generative_service.proto` (response_json_schema).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from freya_teach.errors import UnsupportedContent
from freya_teach.llm.messages import Json

DROPPED = {"$schema", "$defs", "definitions", "title", "examples", "discriminator"}
NAMED_SCHEMAS = {"properties", "patternProperties", "dependentSchemas", "dependencies"}
VALUES = {"enum", "const", "default", "required", "dependentRequired"}


def to_gemini(schema: Mapping[str, Json]) -> dict[str, Json]:
    """The schema in the form that Gemini takes. Raises `UnsupportedContent` on a circular one.

    >>> to_gemini({"$schema": "x", "type": "object", "properties": {"n": {"const": 3}}})
    {'type': 'object', 'properties': {'n': {'enum': [3]}}}
    """
    definitions = {
        f"#/{place}/{name}": definition
        for place in ("$defs", "definitions")
        for name, definition in schema.get(place, {}).items()
    }
    clean: dict[str, Json] = _clean(schema, definitions, ())
    return clean


def _clean(node: Json, definitions: Mapping[str, Json], inside: tuple[str, ...]) -> Json:
    if isinstance(node, list):
        return [_clean(sub, definitions, inside) for sub in node]
    if not isinstance(node, Mapping):  # `additionalProperties: false`, and true as a schema
        return node
    if reference := node.get("$ref"):
        if reference in inside or reference not in definitions:
            raise UnsupportedContent(
                f"Gemini cannot take this tool's schema: {reference} refers to itself or to nothing"
            )
        target = definitions[reference]
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        merged = {**target, **siblings} if isinstance(target, Mapping) else target
        return _clean(merged, definitions, (*inside, reference))
    clean: dict[str, Json] = {}
    for key, value in node.items():
        if key in DROPPED:
            continue
        if key in NAMED_SCHEMAS:
            clean[key] = {name: _clean(sub, definitions, inside) for name, sub in value.items()}
        elif key in VALUES or not isinstance(value, Mapping | list):
            clean.update(_keyword(key, value, node.get("type")))
        else:  # a schema, or a list of them
            clean[key] = _clean(value, definitions, inside)
    return clean


def _keyword(key: str, value: Json, type_: Json) -> dict[str, Json]:
    """One keyword that holds no schema, in Gemini's words."""
    whole = type_ == "integer"
    if key.startswith("exclusive") and isinstance(value, bool):
        return {}  # the form of JSON Schema draft 4, where it only qualifies `minimum`
    match key:
        case "const":
            return {"enum": [value]}
        case "exclusiveMinimum":
            return {"minimum": math.floor(value) + 1 if whole else value}
        case "exclusiveMaximum":
            return {"maximum": math.ceil(value) - 1 if whole else value}
        case _:
            return {key: value}
