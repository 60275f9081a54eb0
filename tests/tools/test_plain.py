"""Any value that a tool returns has a text, the same every time."""

import dataclasses
import enum
import json
import math
from collections import UserDict, deque, namedtuple
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from freya_teach.tools.plain import to_plain, to_text


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Name(enum.StrEnum):
    OSLO = "Oslo"


@dataclasses.dataclass
class Place:
    name: str
    since: Any = None


class Trip(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    place: str
    more: Any = None


class Silent:
    pass


class Mute:
    def __repr__(self) -> str:
        raise ValueError


class Talking:
    def __str__(self) -> str:
        return f"talking {object()!r}"


Point = namedtuple("Point", "x y")  # noqa: PYI024 - a tool may return one
ROUND: list[Any] = [1]
ROUND.append(ROUND)
SAME = ["x"]
DEEP: list[Any] = []
for _ in range(5_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (True, "true"),
        (2.5, "2.5"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        ([math.inf, 1], '["Infinity", 1]'),
        (10**30, "1" + "0" * 30),
        (10**5_000, "[an integer of about 5,001 digits]"),
        ({"n": [10**5_000]}, '{"n": ["[an integer of about 5,001 digits]"]}'),
        (date(2026, 11, 30), "2026-11-30"),
        ([datetime(2026, 11, 30, 12, tzinfo=UTC)], '["2026-11-30T12:00:00Z"]'),
        (timedelta(minutes=90), "PT1H30M"),
        (Decimal("9.90"), "9.90"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Colour.RED, "red"),
        (Level.HIGH, "3"),
        ([Name.OSLO], '["Oslo"]'),
        ({Colour.RED: {1: None}}, '{"red": {"1": null}}'),
        ({(1, 2): "pair"}, '{"[1, 2]": "pair"}'),
        (Point(1, 2), "[1, 2]"),
        (UserDict(a=1), '{"a": 1}'),
        ({3, 20, 100}, "[100, 20, 3]"),
        ({"b", 1, None}, '["b", 1, null]'),
        (PurePosixPath("notes/a.txt"), "notes/a.txt"),
        (PureWindowsPath("notes\\a.txt"), "notes\\a.txt"),
        (Place("Oslo", date(2026, 11, 30)), '{"name": "Oslo", "since": "2026-11-30"}'),
        (Place("Oslo", Silent()), '{"name": "Oslo", "since": "[Silent]"}'),
        (Trip(place="Oslo", more=Silent()), '{"place": "Oslo", "more": "[Silent]"}'),
        ([b"text", b"\xff", bytearray(b"\0\0")], '["text", "[1 byte]", "[2 bytes]"]'),
        (ROUND, '[1, "[the same again]"]'),
        ([SAME, SAME], '[["x"], ["x"]]'),
        (deque([1, 2]), "[1, 2]"),
        ({"a": 1}.keys(), '["a"]'),
        ({"a": 1}.values(), "[1]"),
        (Silent(), "[Silent]"),
        ([Mute()], '["[Mute]"]'),
        (Talking(), "talking <object>"),
        (Silent, "[Silent]"),
        ([len, lambda: 1], '["[builtin_function_or_method]", "[function]"]'),
        ([iter([1]), (x for x in "ab")], '["[list_iterator]", "[generator]"]'),
        (ValueError("no"), "no"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_kind_of_value_has_its_text(value: Any, text: str) -> None:
    assert to_text(value) == text


def test_what_is_nested_too_deeply_is_told_in_part() -> None:
    assert "more inside" in to_text(DEEP)


def test_a_list_without_end_is_told_in_part() -> None:
    assert to_plain(range(3)) == [0, 1, 2]
    assert to_plain([0] * 100_001)[-1] == "[1 more]"


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
    | st.dates()
    | st.decimals()
    | st.sampled_from([Silent, Talking, lambda: Colour.RED, lambda: Place("x"), lambda: len]).map(
        lambda make: make()
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
        | st.tuples(inner, inner)
    ),
    max_leaves=15,
)


@given(values)
def test_whatever_is_returned_the_text_is_json_without_addresses(value: Any) -> None:
    text = to_text(value)
    assert text == to_text(value)
    if not isinstance(to_plain(value), str):
        json.loads(text, parse_constant=pytest.fail)
