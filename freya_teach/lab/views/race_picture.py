"""A race drawn: a column for each task, time runs down. (chapter 6.4)

Beside each column run two bars: one while the task is in its write, one while it waits. What a
turn changes happens in the middle of its row, so a write that ends there meets the one that begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from freya_teach.lab.races.stage import Stand
from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.drawing import ROW
from freya_teach.lab.views.race_moment import (
    BARS,
    TWO_AT_ONCE,
    Bar,
    Moment,
    headline,
    shared,
    tell,
)
from freya_teach.lab.views.view import Picture
from freya_teach.lab.views.words import cut, wrap

WIDTH, TOP, TURN, LANES, SHARED, EDGE = 888, 74, 18, 58, 230, 10
MARGIN, BAR_WIDTH = 28, 8
"""Pixels that a column leaves to its bars, and that a bar is wide."""
NARROWEST = 104.0
"""Pixels of a column; with many tasks the picture grows."""
IN_WRITE, WAITS = palette.HARNESS, palette.WARN


def draw(moment: Moment) -> Picture:
    """The turns so far, below each other."""
    rows = [Row(moment, turn) for turn in range(1, moment.now + 1)]
    tops = [float(TOP)]
    for row in rows:
        tops.append(tops[-1] + row.height)
    parts = [*_grounds(moment, tops), *_bars(moment, tops)]
    for row, y in zip(rows, tops, strict=False):
        parts += row.words(y)
    legend, ending = _legend(moment, tops[-1]), _ending(moment)
    y = tops[-1] + (34 if legend else 10)
    parts += [*legend, *_verdict(moment, ending, y)]
    height = y + (ROW * len(ending) + 22 if ending else 0)
    svg = drawing.svg((width_of(moment), height), "A race, turn by turn", headline(moment), parts)
    return Picture(svg, tell(moment))


def lane_width(moment: Moment) -> float:
    """Pixels from one task's column to the next."""
    return max(NARROWEST, (WIDTH - LANES - SHARED - EDGE) / max(1, len(moment.names)))


def width_of(moment: Moment) -> float:
    """Pixels of the whole picture."""
    return LANES + lane_width(moment) * max(1, len(moment.names)) + SHARED + EDGE


def lane(moment: Moment, name: str) -> float:
    """Where a task's column begins."""
    return LANES + moment.names.index(name) * lane_width(moment)


def _bars(moment: Moment, tops: list[float]) -> Iterator[str]:
    """Each bar, from the middle of one row to the middle of another, or to the last row's end."""
    middles = [(top + bottom) / 2 for top, bottom in pairwise(tops)] + [tops[-1]]
    for name in moment.names:
        x = lane(moment, name) + 6
        for place, bar in enumerate(BARS):
            for first, last in moment.spans(bar, name):
                y, end = middles[first - 1], middles[last - 1]
                yield _bar(bar, (x + place * (BAR_WIDTH + 3), y, BAR_WIDTH, end - y))


def _bar(bar: Bar, area: drawing.Area) -> str:
    tone, fill = (IN_WRITE, IN_WRITE.strong) if bar == "write" else (WAITS, WAITS.pale)
    return drawing.rect(area, fill, tone.strong, radius=0)


class Row:
    """One turn: the step in its task's column, what it changed, and what is shared afterwards."""

    def __init__(self, moment: Moment, turn: int) -> None:
        self.moment, self.turn, self.event = moment, turn, moment.events[turn - 1]
        self.width = lane_width(moment) - MARGIN - 12
        fits = drawing.fits(self.width - 16)
        note = wrap(f"· {self.event.note}", fits, 3) if self.event.note else []
        self.step, self.note = wrap(self.event.what, fits, 3), note
        self.changed = {name: wrap(moment.changed(turn, name), fits, 3) for name in moment.names}
        self.shared = wrap(shared(self.event), drawing.fits(SHARED - 24), 5)
        self.height = max(self._height(name) for name in moment.names)
        self.height = max(self.height, ROW * len(self.shared) + 20)

    def _box(self) -> float:
        return ROW * (len(self.step) + len(self.note)) + 10

    def _height(self, name: str) -> float:
        box = self._box() if name == self.event.who else 0
        changed = [line for line in self.changed[name] if line]
        return box + ROW * len(changed) + 20

    def words(self, y: float) -> Iterator[str]:
        """The step, what changed in each column, and what is shared."""
        yield drawing.badge((TURN, y + 10), str(self.turn), palette.PERSON, width=28)
        for name in self.moment.names:
            yield from self._cell(name, y + 8)
        x = width_of(self.moment) - EDGE - SHARED + 12
        yield drawing.paragraph((x, y + 8), [n for n in self.shared if n != TWO_AT_ONCE])
        if TWO_AT_ONCE in self.shared:
            at = (x, y + 8 + ROW * (len(self.shared) - 1) + 13)
            yield drawing.text(at, TWO_AT_ONCE, palette.WARN.strong, bold=True)

    def _cell(self, name: str, y: float) -> Iterator[str]:
        x, newest = lane(self.moment, name) + MARGIN, self.turn == self.moment.now
        if name == self.event.who:
            box = (x, y, self.width, self._box())
            yield drawing.rect(box, palette.CARD, palette.INK, thick=2.5 if newest else 1)
            for number, line in enumerate(self.step):
                yield drawing.text((x + 8, y + 18 + ROW * number), line, bold=True)
            yield drawing.paragraph((x + 8, y + 5 + ROW * len(self.step)), self.note, palette.MUTED)
            y += self._box() + 2
        stand = self.moment.stand(self.turn, name)
        colour = _tone(stand).strong
        yield drawing.paragraph((x + 8, y), self.changed[name], colour)


def _tone(stand: Stand) -> palette.Tone:
    if stand.state == "failed":
        return palette.STOP
    if stand.state == "waits":
        return WAITS
    return palette.TOOLS if stand.state == "done" else IN_WRITE


def _grounds(moment: Moment, tops: list[float]) -> Iterator[str]:
    """The headline, the columns with their names, and a line above each row."""
    yield drawing.heading((14, 25), headline(moment))
    yield drawing.text((TURN, 62), "turn", palette.MUTED, bold=True)
    wide = lane_width(moment)
    for name in moment.names:
        x = lane(moment, name)
        yield drawing.rect((x, 44, wide - 6, tops[-1] - 44), palette.PERSON.pale, radius=4)
        shown = cut(name, drawing.fits(wide - MARGIN - 12))
        yield drawing.text((x + MARGIN, 62), shown, bold=True)
    x = width_of(moment) - EDGE - SHARED + 12
    yield drawing.text((x, 62), "shared, afterwards", palette.MUTED, bold=True)
    for y in tops[:-1]:
        yield drawing.rect((EDGE, y, width_of(moment) - 2 * EDGE, 0.5), palette.LINE, radius=0)


def _legend(moment: Moment, y: float) -> list[str]:
    """What the bars mean that are to be seen."""
    parts, x = [], float(LANES)
    for bar, words in BARS.items():
        if any(moment.spans(bar, name) for name in moment.names):
            parts.append(_bar(bar, (x + 6, y + 10, BAR_WIDTH, 14)))
            parts.append(drawing.text((x + 22, y + 22), words, palette.MUTED))
            x += 140
    return parts


def _ending(moment: Moment) -> list[str]:
    fits = drawing.fits(width_of(moment) - 2 * EDGE - 24)
    return wrap(moment.ending, fits, 4) if moment.ending else []


def _verdict(moment: Moment, lines: list[str], y: float) -> Iterator[str]:
    """How it came out, in a box."""
    if lines:
        tone = palette.STOP if moment.run.wrong else palette.TOOLS
        box = (EDGE, y, width_of(moment) - 2 * EDGE, ROW * len(lines) + 12)
        yield drawing.rect(box, tone.pale, tone.strong)
        yield drawing.paragraph((EDGE + 10, y + 5), lines)
