"""Any value that a tool may return → text: strings as they are, all else as JSON. (chapter 4.4)

The same value gives the same text every time: a set is sorted, and no address in memory is shown.
What JSON cannot hold is named in its place, and nothing is run: of a generator, nobody knows
whether it ends.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Iterator,
    Mapping,
    Sequence,
    ValuesView,
)
from collections.abc import (
    Set as AbstractSet,
)
from enum import Enum
from itertools import islice
from typing import Any

from pydantic_core import to_jsonable_python

MAX_DEPTH = 40
MAX_ITEMS = 100_000
MAX_DIGITS = 4_000
NOT_SHOWN = (Iterator, AsyncIterator, Awaitable, type)
"""What would have to be run to be seen, and classes."""
ADDRESS = re.compile(r" (?:object )?at 0x[0-9a-fA-F]+")


def to_text(value: Any) -> str:
    """The value as a model reads it.

    >>> to_text({"b", "a"}), to_text([1.5, None]), to_text(object())
    ('["a", "b"]', '[1.5, null]', '[object]')
    """
    plain = to_plain(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def to_plain(value: Any, inside: tuple[int, ...] = ()) -> Any:
    """The value in JSON's own types, at any depth."""
    if value is None or type(value) in {str, bool}:
        return value
    if isinstance(value, int | float) and not isinstance(value, Enum):
        return _number(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes(bytes(value))
    if isinstance(value, NOT_SHOWN):
        return _named(value)
    if id(value) in inside or len(inside) >= MAX_DEPTH:
        return "[the same again]" if id(value) in inside else "[more inside]"
    return _container(value, (*inside, id(value)))


def _container(value: Any, inside: tuple[int, ...]) -> Any:
    """What holds other values; anything else is left to pydantic, and to its own `str`."""
    if isinstance(value, Mapping):
        return {_key(key, inside): to_plain(item, inside) for key, item in value.items()}
    if isinstance(value, Sequence | ValuesView) and not isinstance(value, str):
        shown = [to_plain(item, inside) for item in islice(value, MAX_ITEMS)]
        more = len(value) - len(shown)
        return [*shown, f"[{more:,} more]"] if more else shown
    if isinstance(value, AbstractSet):
        return sorted((to_plain(item, inside) for item in value), key=json.dumps)
    try:
        known = to_jsonable_python(value, inf_nan_mode="strings", bytes_mode="base64")
    except Exception:  # noqa: BLE001 - a serializer is the tool's own code
        return _by_fields(value, inside)
    return known if isinstance(known, str | None) else to_plain(known, inside)


def _by_fields(value: Any, inside: tuple[int, ...]) -> Any:
    """A model or dataclass with something in it that pydantic does not know; or any object."""
    names = getattr(type(value), "model_fields", None) or getattr(
        type(value), "__dataclass_fields__", None
    )
    if isinstance(names, dict):
        return {name: to_plain(getattr(value, name, None), inside) for name in names}
    return _named(value)


def _named(value: Any) -> str:
    """An object in its own words when it has any, else the name of its class."""
    kind = type(value)
    if isinstance(value, type):
        return f"[{value.__name__}]"
    if not has_words(value) or callable(value) or isinstance(value, NOT_SHOWN):
        return f"[{kind.__name__}]"
    try:
        return ADDRESS.sub("", str(value))
    except Exception:  # noqa: BLE001 - an object may fail even at this
        return f"[{kind.__name__}]"


def has_words(value: Any) -> bool:
    """Whether the class of a value says more of it than where it lies in memory."""
    return any(
        "__str__" in vars(kind) or "__repr__" in vars(kind) for kind in type(value).mro()[:-1]
    )


def _number(value: int | float) -> Any:  # noqa: PYI041 - the two are treated differently
    """A number that JSON can hold; it has no NaN, and Python writes no endless integers."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _infinite(value)
    digits = int(value.bit_length() * math.log10(2)) + 1
    return int(value) if digits <= MAX_DIGITS else f"[an integer of about {digits:,} digits]"


def _infinite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _bytes(data: bytes) -> str:
    """Bytes inside of something else: their text, or how many they are."""
    number = f"[{len(data):,} byte{'' if len(data) == 1 else 's'}]"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return number
    return number if "\0" in text else text


def _key(key: Any, inside: tuple[int, ...]) -> str:
    plain = to_plain(key, inside)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
