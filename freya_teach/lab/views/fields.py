"""A tool's JSON Schema as fields that a person can fill in. (chapter 2.2)

What is typed is text; `read` makes of it the JSON value that the schema asks for, or says why it
cannot.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from freya_teach.lab.gateway.question import Offered
from freya_teach.llm.messages import Json

Kind = Literal["text", "integer", "number", "boolean", "choice", "json"]
KINDS: dict[str, Kind] = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}


class BadField(ValueError):
    """What was typed is not what the schema asks for; the message is for the person who typed."""


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of a tool."""

    name: str
    kind: Kind
    about: str
    required: bool
    choices: tuple[Json, ...] = ()

    @property
    def first(self) -> str:
        """What stands in the field before anything is typed."""
        if self.kind == "boolean":
            return "false"
        return typed(self, self.choices[0]) if self.choices and self.required else ""


def fields_of(tool: Offered) -> tuple[Field, ...]:
    """A field for each property of the tool's schema; any kind that has no control takes JSON."""
    required = tool.parameters.get("required")
    needed = required if isinstance(required, list) else []
    return tuple(_field(name, schema, name in needed) for name, schema in tool.fields.items())


def _field(name: str, schema: Json, required: bool) -> Field:  # noqa: FBT001 - called once, above
    schema = schema if isinstance(schema, dict) else {}
    about = str(schema.get("description", ""))
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return Field(name, "choice", about, required, tuple(schema["enum"]))
    return Field(name, KINDS.get(str(schema.get("type")), "json"), about, required)


def read(field: Field, text: str) -> Json:
    """The value that was typed. Raises `BadField`."""
    if field.kind == "text":
        return text
    value = _parsed(field, text)
    if field.kind == "choice" and value not in field.choices:
        raise BadField(f"{field.name}: {text} is none of the values that the schema allows.")
    if field.kind == "integer" and type(value) is not int:
        raise BadField(f"{field.name} must be a whole number; {text!r} is none.")
    if field.kind == "number" and type(value) not in (int, float):
        raise BadField(f"{field.name} must be a number; {text!r} is none.")
    if field.kind == "boolean" and type(value) is not bool:
        raise BadField(f"{field.name} must be true or false; {text!r} is neither.")
    return value


def _parsed(field: Field, text: str) -> Json:
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        if field.kind in ("integer", "number", "boolean"):
            return None
        raise BadField(
            f"{field.name} takes JSON, and this is not valid JSON. Text needs double quotes."
        ) from None


def _no_number(word: str) -> Json:
    raise ValueError(word)


def typed(field: Field, value: Json) -> str:
    """How a person would type this value: the reverse of `read`.

    >>> typed(Field("days", "integer", "", True), 3)
    '3'
    """
    return value if field.kind == "text" else json.dumps(value, ensure_ascii=False)
