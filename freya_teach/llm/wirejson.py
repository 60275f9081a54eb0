"""Small helpers for JSON that somebody else wrote, or will read. (chapter 4.2)

Nothing that comes over the wire has the type that its documentation promises: a field may be
missing, null, or something else. These helpers turn whatever is there into what was expected.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from pydantic_core import PydanticSerializationError, to_json

from freya_teach.llm.messages import Json


def encode(value: Json) -> bytes:
    r"""JSON as UTF-8 bytes, without spaces.

    Chinese stays Chinese: escaped, it would cost several times the tokens. Half of a
    surrogate pair, which UTF-8 cannot hold, becomes the \udXXX that JSON has for it. What is no
    JSON value at all (bytes, a set, a date) becomes the nearest one.

    >>> encode({"city": "北京"}).decode()
    '{"city":"北京"}'
    """
    try:
        return to_json(value)  # a long history in a third of the time that json takes
    except PydanticSerializationError:  # half of a pair, or more than 200 levels
        return ENCODER.encode(value).encode("utf-8", "backslashreplace")


ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=256)
def legal_name(name: str) -> str:
    """A tool's name as both wires take it in a history.

    A model may call a tool that no one declared, under a name that a provider refuses; the
    refusal would come again with every later request of that conversation.

    >>> legal_name("functions.get weather"), legal_name("")
    ('functions_get_weather', '_')
    """
    name = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64]
    return name if re.match(r"[A-Za-z_]", name) else f"_{name}"[:64]


def as_dict(value: Json) -> dict[str, Json]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: Json) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_int(value: Json) -> int:
    """The value if it is a finite number (servers send 12.0 too), else 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if abs(value) < 2**53 else 0
