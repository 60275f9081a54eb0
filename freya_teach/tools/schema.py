"""A pydantic model as the JSON Schema that a model reads, and its strict form. (chapter 4.1)

OpenAI's strict mode promises that the arguments fit the schema, because no token that would break
it can be chosen. In return it takes only a part of JSON Schema: every object is closed, every key
is required, and what may be left out is `null` instead. The runner reads such a null as "left out".
Sources: the OpenAI SDK's `lib/_pydantic.py`, and its guide to structured outputs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from freya_teach.errors import ConfigError
from freya_teach.llm.messages import Json
from freya_teach.llm.wirejson import as_dict, as_list

Schema = dict[str, Json]

DROPPED = {"title", "default", "examples", "discriminator", "uniqueItems", "$schema"}
"""Words that strict mode does not take, and that the check on our side does not need."""
REFUSED = {
    *("allOf", "not", "if", "patternProperties", "propertyNames", "prefixItems"),
    *("dependentRequired", "dependentSchemas"),
}
"""Words that strict mode does not take, and without which the schema would mean another thing."""
TYPED = {"type", "enum", "const", "anyOf", "oneOf"}
"""Strict mode wants one of these everywhere: it knows no value of any type."""
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}


class _WithoutTitles(GenerateJsonSchema):
    """A title repeats the parameter's name and costs tokens in every request."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def schema_of(model: type[BaseModel]) -> Schema:
    """The JSON Schema of a model's fields, as an object even where the model refers to itself."""
    schema = model.model_json_schema(schema_generator=_WithoutTitles)
    if "$ref" in schema:
        schema = {**_target(schema, as_dict(schema.get("$defs"))), "$defs": schema["$defs"]}
    for word in ("title", "description"):
        schema.pop(word, None)
    schema.setdefault("properties", {})
    return schema


def strict(schema: Mapping[str, Json], place: str = "arguments") -> Schema:
    """The schema in the form that OpenAI's strict mode takes; `place` is for the error's text.

    Raises `ConfigError` for what that form cannot say, such as an object with free keys.

    >>> strict({"type": "object", "properties": {"n": {"type": "integer", "default": 3}}})
    ... # doctest: +NORMALIZE_WHITESPACE
    {'type': 'object',
     'properties': {'n': {'type': ['integer', 'null'], 'description': 'Null means 3.'}},
     'required': ['n'], 'additionalProperties': False}
    """
    return _strict(schema, as_dict(schema.get("$defs")), place, ())


def _strict(
    node: Mapping[str, Json], definitions: Mapping[str, Json], place: str, inside: tuple[str, ...]
) -> Schema:
    """One schema node and all below it; `inside` are the references that were put in place."""
    node = {key: value for key, value in node.items() if key not in DROPPED}
    if reference := node.get("$ref"):
        if len(node) == 1 or reference in inside:
            return {"$ref": reference}
        merged = {**_target(node, definitions), **node}  # no words may stand beside a reference
        merged.pop("$ref")
        return _strict(merged, definitions, place, (*inside, reference))
    if len(parts := as_list(node.get("allOf"))) == 1:
        node = {**parts[0], **node}
        node.pop("allOf")
        return _strict(node, definitions, place, inside)
    if REFUSED & node.keys() or not TYPED & node.keys():
        raise ConfigError(f"{place}: strict mode cannot describe this type; use a simpler one")

    def sub(value: Json, step: str) -> Schema:
        return _strict(as_dict(value), definitions, place + step, inside)

    clean: Schema = {}
    for key, value in node.items():
        clean |= _keyword(key, value, sub)
    return _closed(node, clean, place) if node.get("type") == "object" else clean


def _keyword(key: str, value: Json, sub: Callable[[Json, str], Schema]) -> Schema:
    """One keyword in strict mode's words; what it has no word for is left to our own check."""
    match key:
        case "anyOf" | "oneOf":
            key, value = "anyOf", [sub(option, "") for option in value]
        case "items":
            value = sub(value, "[]")
        case "properties":
            value = {name: sub(each, f".{name}") for name, each in value.items()}
        case "$defs":
            value = {name: sub(each, f" ({name})") for name, each in value.items()}
        case "const":
            key, value = "enum", [value]
        case "format" if value not in FORMATS:
            return {}
        case "pattern" if "(?" in value:  # it looks ahead or back
            return {}
    return {key: value}


def _closed(node: Mapping[str, Json], clean: Schema, place: str) -> Schema:
    """An object with no further keys, and all of its own required."""
    if "properties" not in clean or node.get("additionalProperties"):
        raise ConfigError(f"{place}: strict mode has no objects with free keys; use a model")
    required = as_list(node.get("required"))
    for name, each in clean["properties"].items():
        if name not in required:
            clean["properties"][name] = _or_null(each, as_dict(node["properties"][name]))
    return clean | {"required": list(clean["properties"]), "additionalProperties": False}


def _or_null(clean: Schema, original: Mapping[str, Json]) -> Schema:
    """The schema, or null for "left out"; the default is told in words."""
    if _allows_null(clean):
        return clean
    words = [clean.get("description", "")]
    if original.get("default") is not None:
        words.append(f"Null means {json.dumps(original['default'], ensure_ascii=False)}.")
    about = {"description": " ".join(filter(None, words))} if any(words) else {}
    if isinstance(clean.get("type"), str):
        choices = {"enum": [*clean["enum"], None]} if "enum" in clean else {}
        return clean | choices | about | {"type": [clean["type"], "null"]}
    rest = {key: value for key, value in clean.items() if key != "description"}
    return {"anyOf": [*rest.get("anyOf", [rest]), {"type": "null"}]} | about


def _allows_null(node: Mapping[str, Json]) -> bool:
    if any(_allows_null(option) for option in as_list(node.get("anyOf"))):
        return True
    return node.get("type") == "null" or "null" in as_list(node.get("type"))


def may_be_left_out(schema: Mapping[str, Json], path: Sequence[str | int]) -> bool:
    """Whether the value at this place of the arguments is that of an optional key.

    >>> may_be_left_out({"properties": {"a": {}, "b": {}}, "required": ["a"]}, ["b"])
    True
    """
    definitions = as_dict(schema.get("$defs"))
    nodes = list(_options(schema, definitions))
    for step in path[:-1]:
        nodes = [option for node in nodes for option in _options(_below(node, step), definitions)]
    name = path[-1] if path else None
    return any(
        name in as_dict(node.get("properties")) and name not in as_list(node.get("required"))
        for node in nodes
    )


def _below(node: Mapping[str, Json], step: str | int) -> Mapping[str, Json]:
    if isinstance(step, int):
        return as_dict(node.get("items"))
    properties = as_dict(node.get("properties"))
    return as_dict(properties.get(step, node.get("additionalProperties")))


def _options(node: Mapping[str, Json], definitions: Mapping[str, Json]) -> Iterator[Schema]:
    """The node itself, or all that it may stand for."""
    choices = [*as_list(node.get("anyOf")), *as_list(node.get("oneOf"))]
    if "$ref" in node:
        choices.append(_target(node, definitions))
    if not choices:
        yield dict(node)
    for choice in choices:
        yield from _options(choice, definitions)


def _target(node: Mapping[str, Json], definitions: Mapping[str, Json]) -> Schema:
    """The definition that a reference such as `#/$defs/Place` points to."""
    return as_dict(definitions.get(str(node["$ref"]).rpartition("/")[2]))
