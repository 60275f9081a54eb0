"""Arguments that do not fit the schema: each fault with its place and its cure. (chapter 4.4)

"Bad parameter" makes a model try the same again. So a fault says which argument, what was sent,
what is expected, with an example, and for a name that does not exist, which one was meant.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from freya_teach.llm.wirejson import as_dict, as_list
from freya_teach.tools.expectation import brief, expected, resolved

MAX_FAULTS = 8
MAX_FIELD_CHARS = 100

Schema = Mapping[str, Any]
Step = str | int

NOT_THIS = {
    "string": "not a string",
    "int": "not an integer",
    "float": "not a number",
    "finite": "not a finite number",
    "bool": "not true or false",
    "list": "not a list",
    "tuple": "not a list",
    "set": "not a list",
    "dict": "not an object",
    "model": "not an object",
    "literal": "not one of the allowed values",
    "enum": "not one of the allowed values",
    "none": "not null",
}
"""By the first word of pydantic's name for a fault of the type."""
TYPE_FAULTS = ("_type", "_parsing", "_error", "_from_float", "_number", "enum", "_attributes_type")


def lines_of(problem: ValidationError, schema: Schema) -> list[str]:
    """One line for each argument that is wrong; with no schema, without what is expected."""
    errors = problem.errors(include_url=False, include_context=False)
    missing = [str(error["loc"][-1]) for error in errors if error["type"] == "missing"]
    lines: dict[tuple[Step, ...], str] = {}
    for error in errors:
        place, part = _find(error["loc"], schema)
        if error["type"] in {"missing", "extra_forbidden"}:  # these are about a name
            place = (*_find(error["loc"][:-1], schema)[0], error["loc"][-1])
        lines.setdefault(place, _line(error, place, part, schema, missing))
    shown = list(lines.values())
    more = len(shown) - MAX_FAULTS
    return [*shown[:MAX_FAULTS], f"- and {more} more"] if more > 0 else shown


def _line(
    error: Any, place: Sequence[Step], part: Schema | None, whole: Schema, missing: list[str]
) -> str:
    field = " ".join(".".join(map(str, place)).split())[:MAX_FIELD_CHARS] or "(all)"
    sent = f"; you sent {brief(error['input'])}"
    if error["type"] == "missing":
        return f"- {field}: missing.{_expectation(part, whole)}"
    if error["type"] == "extra_forbidden":
        names = _names(place[:-1], whole)
        return f"- {field}: there is no such argument{sent}.{did_you_mean(place, names, missing)}"
    words = _what_is_wrong(error)
    close = ""
    if part and isinstance(error["input"], str):
        values = as_list(resolved(part, whole).get("enum"))
        close = _close(error["input"], [each for each in values if isinstance(each, str)])
    return f"- {field}: {words}{sent}.{close}{_expectation(part, whole)}"


def _what_is_wrong(error: Any) -> str:
    """Few and plain words for a wrong type; for a limit, pydantic's own are plain."""
    kind = str(error["type"])
    if kind.endswith(TYPE_FAULTS) and (words := NOT_THIS.get(kind.partition("_")[0])):
        return words
    said = str(error["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return said.replace("Input should", "it should").removesuffix(".")


def _expectation(part: Schema | None, whole: Schema) -> str:
    return f" Expected: {expected(part, whole)}." if part else ""


def did_you_mean(place: Sequence[Step], names: Sequence[str], missing: Sequence[str]) -> str:
    """The name that was meant, when it is close, or the only one that is missing."""
    close = _close(str(place[-1]), names)
    if not close and len(missing) == 1 and (not names or missing[0] in names):
        close = f" Did you mean {missing[0]}?"
    return close or (f" Arguments: {', '.join(names)}." if names else "")


def _close(name: str, names: Iterable[str]) -> str:
    """Compared without case and without _, because models mix `fileName` and `file_name`."""
    plain = {_plain(each): each for each in names}
    found = difflib.get_close_matches(_plain(name[:80]), plain, n=1)
    return f" Did you mean {plain[found[0]]}?" if found else ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _find(loc: Sequence[Step], schema: Schema) -> tuple[tuple[Step, ...], Schema | None]:
    """Walk to the schema of a place. A step of pydantic's own, as into a union, ends it."""
    if not schema:
        return tuple(loc), None
    part: Schema | None = schema
    for done, step in enumerate(loc):
        inner = _step(resolved(part or {}, schema), step)
        if inner is None:
            return tuple(loc[:done]), part
        part = inner
    return tuple(loc), part


def _step(schema: Schema, step: Step) -> Schema | None:
    """One step down, also into the only member of an optional type."""
    options = [as_dict(each) for each in as_list(schema.get("anyOf"))]
    if len(others := [each for each in options if each.get("type") != "null"]) == 1:
        schema = others[0]
    if isinstance(step, int):
        items = as_list(schema.get("prefixItems"))
        found = items[step] if step < len(items) else schema.get("items")
    else:
        found = as_dict(schema.get("properties")).get(step, schema.get("additionalProperties"))
    return found if isinstance(found, dict) else None


def _names(place: Sequence[Step], schema: Schema) -> list[str]:
    part = _find(place, schema)[1] if place else schema
    return list(as_dict(resolved(part or {}, schema).get("properties")))
