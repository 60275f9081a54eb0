"""The text that a model wrote as arguments → values in the types of the signature. (chapter 4.3)

First the text is checked as it is, by pydantic alone. Only when that fails is it looked at with
care: a known stumble is put right, and a note tells the model what was understood.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from freya_teach.llm.messages import Json
from freya_teach.tools.repair import NotUnderstood, parsed, repair
from freya_teach.tools.tool import Tool

MAX_ROUNDS = 4
"""A list in quotes may hold objects in quotes, which hold numbers in quotes."""
MAX_NOTES = 5


class NotJson(Exception):
    """The arguments cannot be parsed; `why` is the parser's own exception."""

    def __init__(self, why: Exception) -> None:
        super().__init__("the arguments are no JSON")
        self.why = why


class NotAnObject(Exception):
    """The arguments are JSON, but no object; `value` is what they are."""

    def __init__(self, value: Json) -> None:
        super().__init__("the arguments are no JSON object")
        self.value = value


def read_arguments(tool: Tool, text: str) -> tuple[dict[str, Any], str]:
    """The arguments of a call, checked, and a note on what had to be understood for that.

    An empty text means that there are none. Raises `NotJson`, `NotAnObject` and pydantic's
    `ValidationError`; also whatever a validator in the tool's own types raises.
    """
    try:
        return tool.validate_json(text), ""
    except ValidationError:
        pass
    try:
        raw = json.loads(text.strip() or "{}")
    except (ValueError, RecursionError) as problem:
        raise NotJson(problem) from None
    return _read_with_care(tool, raw)


def _read_with_care(tool: Tool, raw: Json) -> tuple[dict[str, Any], str]:
    """Repair what the check complains about, as often as there is something to repair."""
    notes: list[str] = []
    if isinstance(raw, str):
        raw = _object_in(raw)
        notes.append("the arguments were a string and were read as the object in it")
    if not isinstance(raw, dict):
        raise NotAnObject(raw)
    for _ in range(MAX_ROUNDS):
        try:
            return _checked(tool, raw), _told(notes)
        except ValidationError as problem:
            if not (more := repair(tool, raw, problem)):
                raise
            notes += filter(None, more)
    return _checked(tool, raw), _told(notes)


def _object_in(text: str) -> Json:
    """What a model wrote as JSON inside of JSON. Raises `NotAnObject`."""
    try:
        return parsed(text, dict)
    except NotUnderstood:
        raise NotAnObject(text) from None


def _checked(tool: Tool, raw: dict[str, Json]) -> dict[str, Any]:
    try:
        return tool.validate_json(json.dumps(raw))
    except RecursionError:
        pass
    except ValidationError as problem:
        if problem.errors(include_url=False, include_context=False)[0]["type"] != "json_invalid":
            raise
    # subtle: half a surrogate pair and 200 nested lists are JSON, but not for pydantic's parser
    return tool.validate(raw)


def _told(notes: list[str]) -> str:
    """What is added to the observation; nothing when all was as it should be."""
    if not notes:
        return ""
    more = [f"{len(notes) - MAX_NOTES} more"] if len(notes) > MAX_NOTES else []
    told = "; ".join([*notes[:MAX_NOTES], *more])
    return f"\n(Note: {told}. Next time, send it as the schema says.)"
