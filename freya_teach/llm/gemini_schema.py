"""JSON Schema to what Gemini's `parametersJsonSchema` takes. (chapter 5.2)

That field takes real JSON Schema, but not all of it: references are put in place (they stay only
in a schema that refers to itself), `const` becomes an `enum` of one, exclusive bounds become
inclusive ones, and words that carry no rule are left out. The arguments are still checked
against the original schema on our side, so nothing that is lost here is lost for good.

The schema handed in is never changed: a tool is shared by both providers.
Sources: googleapis `content.proto` (field 6), `generative_service.proto` (response_json_schema).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from freya_teach.errors import UnsupportedContent
from freya_teach.llm.messages import Json
from freya_teach.llm.wirejson import as_dict, as_text

DROPPED = {"$schema", "$defs", "definitions", "title", "examples", "discriminator"}
NAMED_SCHEMAS = {"properties", "patternProperties", "dependentSchemas", "dependencies"}
VALUES = {"enum", "const", "default", "required", "dependentRequired"}


class _Circular(Exception):
    """A definition refers to itself, so that it cannot be put in place."""


def to_gemini(schema: Mapping[str, Json]) -> dict[str, Json]:
    """The schema in the form that Gemini takes.

    Raises `UnsupportedContent` for a reference to something outside the schema.

    >>> to_gemini({"$schema": "x", "type": "object", "properties": {"n": {"const": 3}}})
    {'type': 'object', 'properties': {'n': {'enum': [3]}}}
    """
    definitions = {
        f"#/{place}/{name}": definition
        for place in ("$defs", "definitions")
        for name, definition in as_dict(schema.get(place)).items()
    }
    try:
        clean: dict[str, Json] = _clean(schema, definitions, ())
    except _Circular:
        kept = dict.fromkeys(definitions)
        clean = _clean(schema, kept, ())
        clean["$defs"] = {_name(r): _clean(target, kept, ()) for r, target in definitions.items()}
    return clean


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]


def _clean(node: Json, definitions: Mapping[str, Json], inside: tuple[str, ...]) -> Json:
    if isinstance(node, list):
        return [_clean(sub, definitions, inside) for sub in node]
    if not isinstance(node, Mapping):  # `additionalProperties: false`, and true as a schema
        return node
    if "$ref" in node:
        return _clean_reference(node, definitions, inside)
    clean: dict[str, Json] = {}
    for key, value in node.items():
        if key in DROPPED:
            continue
        if key in NAMED_SCHEMAS and isinstance(value, Mapping):
            clean[key] = {name: _clean(sub, definitions, inside) for name, sub in value.items()}
        elif key in VALUES or not isinstance(value, Mapping | list):
            clean.update(_keyword(key, value, node.get("type")))
        else:  # a schema, or a list of them
            clean[key] = _clean(value, definitions, inside)
    return clean


def _clean_reference(
    node: Mapping[str, Json], definitions: Mapping[str, Json], inside: tuple[str, ...]
) -> Json:
    """What the reference means, with the words beside it; or the reference, where it is kept."""
    reference = as_text(node["$ref"])
    if reference not in definitions:
        raise UnsupportedContent(f"Gemini cannot take this tool's schema: no {reference!r} in it")
    if reference in inside:
        raise _Circular
    target = definitions[reference]
    if target is None:  # kept, and then it may have no siblings
        return {"$ref": f"#/$defs/{_name(reference)}"}
    siblings = {key: value for key, value in node.items() if key != "$ref"}
    merged = {**target, **siblings} if isinstance(target, Mapping) else target
    return _clean(merged, definitions, (*inside, reference))


def _keyword(key: str, value: Json, type_: Json) -> dict[str, Json]:
    """One keyword that holds no schema, in Gemini's words."""
    whole = type_ == "integer"
    if key.startswith("exclusive") and isinstance(value, bool):
        return {}  # the form of JSON Schema draft 4, where it only qualifies `minimum`
    if not isinstance(value, int | float) or not math.isfinite(value):
        whole = False  # no number that could be rounded
    match key:
        case "const":
            return {"enum": [value]}
        case "exclusiveMinimum":
            return {"minimum": math.floor(value) + 1 if whole else value}
        case "exclusiveMaximum":
            return {"maximum": math.ceil(value) - 1 if whole else value}
        case _:
            return {key: value}
