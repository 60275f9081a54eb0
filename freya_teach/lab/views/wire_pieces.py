"""What a picture of two wires is made of: lines, pieces with a label, rows. (chapter 5.2)

A message has a number, counted from 0 as in everybody's error texts; a call has a letter, and a
result has the letter of its call: `2A` is a call in message 2, `4A` the result that message 4
brings for it. The same label stands in all three columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from freya_teach.llm.messages import AssistantMessage, Message, ToolCall, ToolMessage


@dataclass(frozen=True, slots=True)
class Line:
    """A field and its value, and what is special about it on this wire."""

    text: str
    note: str = ""

    def __str__(self) -> str:
        """The line with its note."""
        return f"{self.text} {self.note}".rstrip()


@dataclass(frozen=True, slots=True)
class Piece:
    """What became of a message, or of one call or result in it."""

    numbers: tuple[int, ...]
    """The messages that it comes from; none for what the adapter has added."""
    letter: str
    lines: tuple[Line, ...]

    @property
    def label(self) -> str:
        """The same for the same thing on every wire."""
        return "+".join(map(str, self.numbers)) + self.letter


@dataclass(frozen=True, slots=True)
class Unit:
    """One entry of a wire's list, or what stands outside of it."""

    title: Line
    pieces: tuple[Piece, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The messages that it comes from."""
        return tuple(number for piece in self.pieces for number in piece.numbers)


def letter_of(place: int) -> str:
    """The letter of a call, counted from 0.

    >>> letter_of(0), letter_of(25), letter_of(26)
    ('A', 'Z', 'AA')
    """
    more, here = divmod(place, 26)
    return (letter_of(more - 1) if more else "") + chr(ord("A") + here)


@dataclass(frozen=True, slots=True)
class Labels:
    """Who is who in a history that keeps the rule: every call has one result."""

    messages: tuple[Message, ...]
    calls: tuple[tuple[int, str, ToolCall], ...]
    """Message number, letter and call, in the order in which they were made."""
    results: dict[str, int]
    """Letter → the number of the message with the result."""

    def letter(self, call_id: str) -> str:
        """The letter of the call with this id."""
        return next(letter for _, letter, call in self.calls if call.id == call_id)


def label(messages: Sequence[Message]) -> Labels:
    """Number the messages from 0, and give each call its letter."""
    made = [
        (number, call)
        for number, message in enumerate(messages)
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    ]
    calls = tuple((number, letter_of(place), call) for place, (number, call) in enumerate(made))
    letters = {call.id: letter for _, letter, call in calls}
    results = {
        letters[message.call_id]: number
        for number, message in enumerate(messages)
        if isinstance(message, ToolMessage)
    }
    return Labels(tuple(messages), calls, results)


# ---- side by side --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """What belongs together, wire by wire: a message, or those that one wire puts into one."""

    cells: tuple[tuple[Unit, ...], ...]
    """Neutral, OpenAI, Gemini."""

    @property
    def numbers(self) -> frozenset[int]:
        """The messages in it."""
        return frozenset(number for cell in self.cells for unit in cell for number in unit.numbers)


def side_by_side(*columns: tuple[Unit, ...]) -> Iterator[Row]:
    """Rows as small as can be: what one wire has in one entry is not torn apart."""
    places = [0] * len(columns)
    while any(place < len(units) for place, units in zip(places, columns, strict=True)):
        last = _end_of_row(columns, places)
        cells = []
        for n, units in enumerate(columns):
            start = places[n]
            while places[n] < len(units) and _first(units[places[n]]) <= last:
                places[n] += 1
            cells.append(units[start : places[n]])
        yield Row(tuple(cells))


def _end_of_row(columns: Sequence[tuple[Unit, ...]], places: Sequence[int]) -> int:
    """The number of the last message of the row that begins here."""
    left = [units[place:] for units, place in zip(columns, places, strict=True)]
    last = min(_first(units[0]) for units in left if units)
    rest = [unit for units in left for unit in units]
    while True:
        further = max(max(unit.numbers, default=-1) for unit in rest if _first(unit) <= last)
        if further <= last:
            return last
        last = further


def _first(unit: Unit) -> int:
    """Its first message; what the adapter has added comes as soon as it can."""
    return min(unit.numbers, default=-1)
