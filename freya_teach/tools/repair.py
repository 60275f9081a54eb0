"""What models are known to write wrongly, and what they mean by it. (chapter 4.3)

JSON's own types are taken at their word: `"ten"` is no integer, and `true` is not 1. But models
stumble in ways that are well known, and to refuse those would cost a turn for nothing:

    "10" for an integer, "1.5" for a number     → the number
    "true" for a boolean                        → true
    "[1, 2]" or "{...}" in quotes               → the list or the object
    "a" where a list is expected                → ["a"]
    null for what may be left out               → left out

Pydantic's complaints say where to look, so arguments that are right cost nothing here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from freya_teach.llm.messages import Json
from freya_teach.tools.schema import may_be_left_out
from freya_teach.tools.tool import Tool

INTEGER = re.compile(r"[+-]?[0-9]{1,300}")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
SHOWN_CHARS = 60
LISTS = {"list_type", "set_type", "frozen_set_type"}
OBJECTS = {"model_type", "model_attributes_type", "dataclass_type", "dict_type"}


class NotUnderstood(Exception):
    """The value is wrong in a way that is nobody's habit."""


def repair(tool: Tool, raw: dict[str, Json], problem: ValidationError) -> list[str]:
    """Change the arguments in place; return a note for each change, "" where none is needed."""
    notes: dict[tuple[str | int, ...], str] = {}
    for error in problem.errors(include_url=False, include_context=False):
        path = _path(raw, error["loc"])
        if path and path not in notes:
            try:
                notes[path] = _repair_one(tool, raw, path, error)
            except NotUnderstood:
                continue
    return list(notes.values())


def _path(raw: Json, location: Sequence[str | int]) -> tuple[str | int, ...]:
    """The keys that lead to the value; pydantic puts the name of a union's member between them."""
    path: list[str | int] = []
    for step in location:
        known = step in raw if isinstance(raw, dict) else step in range(_length(raw))
        if known:
            raw = raw[step]
            path.append(step)
    return tuple(path)


def _length(value: Json) -> int:
    return len(value) if isinstance(value, list) else 0


def _repair_one(
    tool: Tool, raw: dict[str, Json], path: tuple[str | int, ...], error: ErrorDetails
) -> str:
    parent: Any = raw
    for step in path[:-1]:
        parent = parent[step]
    name, old = ".".join(map(str, path)), parent[path[-1]]
    if old is None and may_be_left_out(tool.parameters, path):
        del parent[path[-1]]
        return "" if tool.strict else f"{name}: null was read as left out"
    parent[path[-1]] = new = _understood(error["type"], old)
    return "" if isinstance(old, float) else f"{name}: {_brief(old)} was read as {_brief(new)}"


def _understood(error_type: str, value: Json) -> Json:
    """The value that was meant. Raises `NotUnderstood`."""
    if error_type in LISTS:
        return _as_list(value)
    if error_type == "tuple_type":
        return parsed(value, list)
    if error_type in OBJECTS:
        return parsed(value, dict)
    return _as_scalar(error_type, value)


def _as_list(value: Json) -> Json:
    """A list in quotes, or the one value that should be in the list."""
    if value is None or isinstance(value, list):
        raise NotUnderstood
    quoted = isinstance(value, str) and value.lstrip().startswith("[")
    return parsed(value, list) if quoted else [value]


def _as_scalar(error_type: str, value: Json) -> Json:
    if error_type == "int_type" and isinstance(value, float) and value.is_integer():
        return int(value)  # JSON has one type of numbers: 5.0 is an integer
    text = value.strip() if isinstance(value, str) else ""
    if error_type == "int_type" and INTEGER.fullmatch(text):
        return int(text)
    if error_type == "float_type" and NUMBER.fullmatch(text):
        return float(text)
    if error_type == "bool_type" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    raise NotUnderstood


def parsed(text: Json, kind: type) -> Json:
    """JSON inside of a string, if it is of this kind. Raises `NotUnderstood`."""
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        raise NotUnderstood from None
    if not isinstance(value, kind):
        raise NotUnderstood
    return value


def _brief(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"
