"""Where the answer stood, and how often it was found: the paper's tables, drawn. (chapter 3.4)

    middle()              20 documents; the buttons lead to 10 and to 30
    middle().at(3)        30 documents, as a plain picture

A panel for each model, a bar for each place, all from 0 to 100 percent. Two lines show what the
model knew without any document, and what it made of the right document alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from freya_teach.lab.middle import MEASURED, PLACES, SOURCE, TABLES, Measured
from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.view import Picture, View

WIDTH, HEIGHT = 888, 576
TOP, LEFT, GAP = 78, 12, 10
COLUMNS = 3
PANEL = (281, 226)
"""Width and height of one model's panel."""
FLOOR, CEILING = 196, 46
"""Where 0 and 100 percent are, in pixels from the top of a panel."""
FIRST_BAR, ROOM, BAR = 14, 253, 32
"""Where the first bar begins, the width that all of them share, and the width of one."""


def middle() -> View[int]:
    """The answers found, by place; a step for 10, 20 and 30 documents. Raises no error."""
    return View(tuple(PLACES), draw, step=2)


def draw(documents: int) -> Picture:
    """All models with this many documents."""
    title = _title(documents)
    parts = [drawing.heading((14, 26), title), *_legend()]
    for number, measured in enumerate(MEASURED):
        row, column = divmod(number, COLUMNS)
        x, y = LEFT + column * (PANEL[0] + GAP), TOP + row * (PANEL[1] + GAP)
        parts += _panel(measured, documents, x, y)
    about = f"{SOURCE}, {TABLES[documents]}; six models, a bar for each place."
    return Picture(drawing.svg((WIDTH, HEIGHT), title, about, parts), tell(documents))


def tell(documents: int) -> str:
    """The same in words."""
    lines = [
        _title(documents),
        f"({SOURCE}, {TABLES[documents]}; lines: table 1)",
        f"{WITHOUT}; {ALONE}; {SPREAD}: best place minus worst place",
    ]
    for measured in MEASURED:
        lines.append(measured.model)
        found = measured.by_place.get(documents)
        if found is None:
            lines.append(f"    {NO_ROW}")
            continue
        pairs = zip(PLACES[documents], found, strict=True)
        lines.append("    " + ", ".join(f"place {place}: {right}" for place, right in pairs))
        lines.append(f"    {_sum(measured, documents)}")
    return "\n".join(lines)


WITHOUT = "- - without any document"
ALONE = "━━ with the right document alone"
SPREAD = "spread"
NO_ROW = "not in this table"


def _title(documents: int) -> str:
    return f"Right answers in percent, by where the right one of {documents} documents stands"


def _legend() -> Iterator[str]:
    yield drawing.text((14, 52), WITHOUT, palette.STOP.strong, bold=True)
    yield drawing.text((220, 52), ALONE, palette.TOOLS.strong, bold=True)
    yield drawing.text((490, 52), f"{SPREAD}: best place minus worst place", palette.MUTED)
    yield drawing.text((14, HEIGHT - 14), SOURCE, palette.MUTED)


def _sum(measured: Measured, documents: int) -> str:
    drop = measured.drop(documents)
    return f"- - {measured.closed_book} · ━━ {measured.oracle} · {SPREAD} {drop}"


def _panel(measured: Measured, documents: int, x: float, y: float) -> Iterator[str]:
    yield drawing.rect((x, y, *PANEL), palette.CARD, palette.LINE)
    yield drawing.text((x + 12, y + 20), measured.model, bold=True)
    found = measured.by_place.get(documents)
    if found is None:
        yield drawing.text((x + 12, y + 110), NO_ROW, palette.MUTED)
        return
    yield drawing.text((x + 12, y + 37), _sum(measured, documents), palette.MUTED)
    step = (ROOM - BAR) / (len(found) - 1)
    for number, (place, right) in enumerate(zip(PLACES[documents], found, strict=True)):
        lowest = right == min(found)
        yield from _bar(str(place), right, (x + FIRST_BAR + number * step, y), lowest=lowest)
    yield _line(measured.closed_book, x, y, palette.STOP, dashes=' stroke-dasharray="6 4"')
    yield _line(measured.oracle, x, y, palette.TOOLS)


def _bar(place: str, right: float, at: drawing.Point, *, lowest: bool) -> Iterator[str]:
    """A bar with its figure in it and its place below; the lowest one is framed and darker."""
    tone = palette.WARN if lowest else palette.HARNESS
    x, y = at
    top = _height(right)
    edge = tone.strong if lowest else palette.LINE
    yield drawing.rect((x, y + top, BAR, FLOOR - top), tone.pale, edge, thick=2, radius=2)
    middle_of_bar = x + BAR / 2
    written = (middle_of_bar, y + FLOOR - 8)
    yield drawing.text(written, f"{right}", tone.strong, bold=lowest, anchor="middle")
    yield drawing.text((middle_of_bar, y + FLOOR + 18), place, palette.MUTED, anchor="middle")


def _line(percent: float, x: float, y: float, tone: palette.Tone, dashes: str = "") -> str:
    height = y + _height(percent)
    return (
        f'<line x1="{x + 8:g}" y1="{height:g}" x2="{x + PANEL[0] - 8:g}" y2="{height:g}" '
        f'stroke="{tone.strong}" stroke-width="2"{dashes}/>'
    )


def _height(percent: float) -> float:
    return round(FLOOR - (FLOOR - CEILING) * percent / 100, 1)
