"""What a schema expects, in words that fit behind "Expected:". (chapter 4.4)

The model has seen the schema already, some thousand tokens ago. An error repeats the part that
counts now: the type, the limits, the allowed values, the description, and one good example.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from freya_teach.llm.wirejson import as_dict, as_list, as_text
from freya_teach.tools.truncation import shorten

MAX_DESCRIPTION_CHARS = 200
MAX_VALUES = 20
TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matching {}",
    "format": "in the format {}",
}
EXAMPLE = re.compile(
    r"""(?:for example|for instance|such as|e\.g\.|example:)[ ,:]*"""
    r"""("[^"\n]{1,80}"|'[^'\n]{1,80}'|`[^`\n]{1,80}`)""",
    re.IGNORECASE,
)


def expected(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
    """Type, limits, allowed values, description and example of one argument.

    >>> expected({"type": "integer", "minimum": 1, "default": 2}, {})
    'an integer, at least 1, for example 2'
    """
    schema = resolved(schema, whole)
    words = ", ".join([_kind(schema, whole), *_limits(schema)])
    about = " ".join(as_text(schema.get("description")).split())
    if about:
        words += f" ({shorten(about, MAX_DESCRIPTION_CHARS).rstrip('.')})"
    shown = example(schema)
    if shown is None or brief(shown) in words:
        return words
    return f"{words}, for example {brief(shown)}"


def resolved(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema behind a `$ref`; what stands beside the reference stays."""
    seen: set[str] = set()
    while (ref := as_text(schema.get("$ref"))) and ref not in seen:
        seen.add(ref)
        target: Any = whole
        for step in ref.removeprefix("#/").split("/"):
            target = as_dict(target).get(step)
        schema = {**as_dict(target), **{k: v for k, v in schema.items() if k != "$ref"}}
    return schema


def _kind(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
    values = as_list(schema.get("enum")) or ([schema["const"]] if "const" in schema else [])
    if values:
        more = ", …" if len(values) > MAX_VALUES else ""
        return f"one of {', '.join(map(brief, values[:MAX_VALUES]))}{more}"
    options = as_list(schema.get("anyOf")) or as_list(schema.get("oneOf"))
    if options:
        kinds = [_kind(resolved(as_dict(each), whole), whole) for each in options]
        return " or ".join(dict.fromkeys(kinds))
    kind = schema.get("type")
    if kind == "array" and as_text(as_dict(schema.get("items")).get("type")):
        return f"a list, each item {TYPES.get(schema['items']['type'], 'a value')}"
    names = kind if isinstance(kind, list) else [kind]
    return " or ".join(TYPES.get(str(name), "a value") for name in names)


def _limits(schema: Mapping[str, Any]) -> list[str]:
    return [words.format(schema[name]) for name, words in LIMITS.items() if name in schema]


def example(schema: Mapping[str, Any]) -> Any:
    """A value that fits, from the schema itself; None when it shows none."""
    for found in (as_list(schema.get("examples")), as_list(schema.get("enum"))):
        if found:
            return found[0]
    if (match := EXAMPLE.search(as_text(schema.get("description")))) and (
        schema.get("type") == "string"
    ):
        return match[1][1:-1]
    return schema.get("default")


def brief(value: Any) -> str:
    """A value as JSON, at most 60 characters of it."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:60] + "…"


def shape(schema: Mapping[str, Any]) -> str:
    """The keys of an object, each with its type: `city (a string, required)`."""
    required = as_list(schema.get("required"))
    return ", ".join(
        f"{name} ({_kind(resolved(as_dict(each), schema), schema)}"
        f"{', required' if name in required else ''})"
        for name, each in as_dict(schema.get("properties")).items()
    )
