"""The wire diff's picture: three columns, one label for one thing. (chapter 5.2)"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.view import Picture
from freya_teach.lab.views.wire_fields import ONLY, OTHER
from freya_teach.lab.views.wire_pieces import Line, Piece, Row, Unit
from freya_teach.lab.views.words import cut, one_line, wrap

WIDTH, TOP = 888, 109
NAMES = ("neutral", "OpenAI", "Gemini")
LEFT, WIDE, GAP = 8, 286, 7
"""Of the columns, in pixels."""
GUTTER = 40
"""Where the labels stand, left of the lines."""
MOST_LINES = 3
"""Of one field."""
MOST_ROWS = 8
LEGEND = (
    "The same label is the same thing: a number is a message, a letter a call and its result.",
    f"{ONLY} only on this wire · {OTHER} in another form on the other wire · ▶ what is looked at",
)
TONES = (palette.HARNESS, palette.TOOLS, palette.MODEL, palette.STOP)
"""Of calls and their results, by letter; whatever is no call is grey."""
NOTHING = "(nothing)"


@dataclass(frozen=True, slots=True)
class Shown:
    """A history on three wires, and the message that is looked at."""

    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    roles: tuple[str, ...]
    selected: int
    foreign: str = ""

    @property
    def near(self) -> tuple[Row, ...]:
        """The rows that fit: those around the selected message, and those of no message."""
        messages = [row for row in self.rows if row.numbers]
        here = next((n for n, row in enumerate(messages) if self.selected in row.numbers), 0)
        start = max(0, min(here - MOST_ROWS // 2, len(messages) - MOST_ROWS))
        kept = messages[start : start + MOST_ROWS]
        return tuple(row for row in self.rows if not row.numbers or row in kept)


def draw(shown: Shown) -> Picture:
    """The history and both bodies, with the selected message in a thick frame."""
    parts, y = list(_head(shown)), float(TOP)
    for row in shown.near:
        height = 0.0
        for n, units in enumerate(row.cells):
            svg, high = _cell(units, shown.selected)
            parts.append(f'<g transform="translate({_left(n):g} {y:g})">{svg}</g>')
            height = max(height, high)
        y += height + 4
    svg = drawing.svg((WIDTH, y + 6), "One history on two wires", _headline(shown), parts)
    return Picture(svg, tell(shown))


def tell(shown: Shown) -> str:
    """The same in words: for each message three lines."""
    lines = [_headline(shown), _left_out(shown), *LEGEND]
    lines += [f"{name}: {head}" for name, head in zip(NAMES, shown.heads, strict=True)]
    near = shown.near
    for number in sorted({number for row in near for number in row.numbers}):
        mark = "▶" if number == shown.selected else " "
        lines.append(f"{mark}{number} {shown.roles[number]}")
        row = next(row for row in near if number in row.numbers)
        lines += [
            f"    {name}: {_told_of(units, number)}"
            for name, units in zip(NAMES, row.cells, strict=True)
        ]
    for unit_lines in _of_no_message(near):
        lines += unit_lines
    return "\n".join(line for line in lines if line)


def _told_of(units: Iterable[Unit], number: int) -> str:
    """All pieces of a message on one line."""
    told = []
    for unit in units:
        pieces = [piece for piece in unit.pieces if number in piece.numbers]
        if pieces:
            told += [f"{unit.title}:", *map(_told, pieces)]
    return one_line(" ".join(told)) or NOTHING


def _told(piece: Piece) -> str:
    label = [f"[{piece.label}]"] if piece.label else []
    return " ".join([*label, " · ".join(str(line).strip() for line in piece.lines)])


def _of_no_message(rows: Iterable[Row]) -> Iterator[list[str]]:
    """What adapters have added, tools, and the other fields."""
    for row in rows:
        for name, units in zip(NAMES, row.cells, strict=True):
            for unit in units:
                pieces = [piece for piece in unit.pieces if not piece.numbers]
                if pieces:
                    told = " ".join(map(_told, pieces))
                    yield [one_line(f" {name} {unit.title}: {told}")]


# ---- the picture ---------------------------------------------------------------------------


def _headline(shown: Shown) -> str:
    if not shown.roles:
        return "One history on two wires: no message yet"
    over = f" · {cut(shown.foreign, 40)} takes over" if shown.foreign else ""
    return (
        f"One history on two wires: message {shown.selected} ({shown.roles[shown.selected]}) "
        f"of {len(shown.roles)}{over}"
    )


def _left_out(shown: Shown) -> str:
    numbers = {number for row in shown.near for number in row.numbers}
    if not numbers or len(numbers) == len(shown.roles):
        return ""
    return f"‹ {min(numbers)} earlier · {len(shown.roles) - 1 - max(numbers)} later ›"


def _left(column: int) -> float:
    return LEFT + column * (WIDE + GAP)


def _head(shown: Shown) -> Iterator[str]:
    yield drawing.heading((14, 25), _headline(shown))
    if left_out := _left_out(shown):
        yield drawing.text((WIDTH - 14, 25), left_out, palette.MUTED, anchor="end")
    yield drawing.paragraph((14, 31), LEGEND, palette.MUTED)
    for n, (name, head) in enumerate(zip(NAMES, shown.heads, strict=True)):
        yield drawing.text((_left(n) + 8, 86), name, bold=True)
        yield drawing.text((_left(n) + 8, 102), cut(head, drawing.fits(WIDE - 8)), palette.MUTED)


def _cell(units: Iterable[Unit], selected: int) -> tuple[str, float]:
    """The entries of one row and wire, below each other: SVG, and its height."""
    parts, y = list[str](), 0.0
    for unit in units:
        svg, height = _unit(unit, selected)
        parts.append(f'<g transform="translate(0 {y:g})">{svg}</g>')
        y += height + 4
    return "".join(parts), y


def _unit(unit: Unit, selected: int) -> tuple[str, float]:
    is_selected = selected in unit.numbers
    title = _wrapped(unit.title, WIDE - 24)
    parts = list(_lines(title, 22, 3, bold=True))
    if is_selected:
        parts.append(drawing.text((6, 16), "▶", palette.WARN.strong, bold=True))
    y = 6.0 + drawing.ROW * len(title)
    for piece in unit.pieces:
        svg, height = _piece(piece, is_selected=selected in piece.numbers)
        parts.append(f'<g transform="translate(0 {y:g})">{svg}</g>')
        y += height
    edge = palette.WARN.strong if is_selected else palette.LINE
    frame = drawing.rect((0, 0, WIDE, y + 4), palette.CARD, edge, thick=2.5 if is_selected else 1)
    return frame + "".join(parts), y + 4


def _piece(piece: Piece, *, is_selected: bool) -> tuple[str, float]:
    """The label on the left, the fields beside it."""
    lines = [each for line in piece.lines for each in _wrapped(line, WIDE - GUTTER - 6)]
    height = max(1, len(lines)) * drawing.ROW + 6.0
    tone, parts = _tone(piece), list[str]()
    if is_selected:
        parts.append(drawing.rect((3, 0, WIDE - 6, height), tone.pale, radius=3))
    parts.append(drawing.rect((GUTTER - 5, 2, 2, height - 4), tone.strong, radius=0))
    if piece.label:
        parts.append(drawing.badge((4, 2), cut(piece.label, 4), tone, width=GUTTER - 10))
    parts += _lines(lines, GUTTER, 2)
    return "".join(parts), height


def _tone(piece: Piece) -> palette.Tone:
    return TONES[ord(piece.letter[-1]) % len(TONES)] if piece.letter else palette.PERSON


def _wrapped(line: Line, width: float) -> list[tuple[str, bool]]:
    """The lines that a field takes, and whether they are its note."""
    columns = drawing.fits(width)
    return [
        *((each, False) for each in wrap(line.text, columns, MOST_LINES)),
        *((f"  {each}", True) for each in wrap(line.note, columns - 2) if each),
    ]


def _lines(
    lines: Iterable[tuple[str, bool]], x: float, y: float, *, bold: bool = False
) -> Iterator[str]:
    for n, (line, is_note) in enumerate(lines):
        colour = palette.WARN.strong if is_note else palette.INK
        at = (x, y + 13 + drawing.ROW * n)
        yield drawing.text(at, line, colour, bold=bold or is_note)
