"""The live event view's picture, and the same in words. (chapter 8.1)"""

from __future__ import annotations

from collections.abc import Iterator

from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.drawing import ROW
from freya_teach.lab.views.live_state import Moment, Row, Shown
from freya_teach.lab.views.steps import SIGNS
from freya_teach.lab.views.timeline import TONES
from freya_teach.lab.views.view import Picture
from freya_teach.lab.views.words import cut, one_line, wrap

WIDTH, EDGE, TOP = 888, 8, 62
TURN, WORDS, STATE = 20, 128, 744
"""Where each column begins."""
FITS = drawing.fits(STATE - WORDS - 14)
LINES = 4
"""Lines of a text that are shown: its end, since that is where it grows."""
TOLD_CHARS = 2000
LABELS = {"text": "answer", "thinking": "thinking", "tool": "tool", "note": "note"}
NEW = "◀ new"


def draw(moment: Moment) -> Picture:
    """A panel for each run: its text as far as it has come, its tools, its tokens."""
    parts, y = list(_head(moment)), float(TOP)
    for key, shown in moment.runs.items():
        height = _height(shown)
        parts += _run(shown, y, height, is_newest=key == moment.newest)
        y += height + 10
    svg = drawing.svg((WIDTH, y), "The events of a run, as they come", _headline(moment), parts)
    return Picture(svg, tell(moment))


def tell(moment: Moment) -> str:
    """The same in words."""
    lines = [_headline(moment), _newest(moment)]
    for key, shown in moment.runs.items():
        lines.append(_title(shown, is_newest=key == moment.newest))
        for place, row in enumerate(shown.rows):
            lines += _told(row, is_new=place == shown.newest and key == moment.newest)
    return "\n".join(lines)


def _headline(moment: Moment) -> str:
    return f"What the screen shows after event {moment.number}"


def _newest(moment: Moment) -> str:
    return f"newest event: {one_line(moment.event)}"


def _title(shown: Shown, *, is_newest: bool) -> str:
    title = one_line(f"{shown.name} · {shown.stands} · {shown.tokens:,} tokens")
    return f"{title} {NEW}" if is_newest and shown.newest < 0 else title


def _label(row: Row) -> str:
    return f"{row.turn} {LABELS[row.kind]}"


def _state(row: Row) -> str:
    return f"{SIGNS[row.state]} {row.state}" if row.state else ""


def _told(row: Row, *, is_new: bool) -> list[str]:
    mark = f" {NEW}" if is_new else ""
    if row.kind != "tool":
        return [f"    {_label(row)}: {_end(row.words)}{mark}"]
    told = [f"    {_label(row)}: {cut(row.call, TOLD_CHARS)} {_state(row)}{mark}"]
    return [*told, f"        → {cut(row.words, TOLD_CHARS)}"] if row.words else told


def _end(words: str) -> str:
    """The last characters of a long text."""
    return one_line(words if len(words) <= TOLD_CHARS else f"…{words[-TOLD_CHARS:]}")


def _lines(row: Row) -> list[str]:
    """What the picture has room for."""
    if row.kind == "tool":
        found = [f"→ {row.words}"] if row.words else []
        return [cut(words, FITS) for words in (row.call, *found)]
    lines = wrap(_end(row.words), FITS)
    return lines if len(lines) <= LINES else [f"…{lines[-LINES]}", *lines[1 - LINES :]]


def _row_height(row: Row) -> float:
    return len(_lines(row)) * ROW + 12


def _height(shown: Shown) -> float:
    return 34 + sum(_row_height(row) + 4 for row in shown.rows) + 4


def _head(moment: Moment) -> Iterator[str]:
    yield drawing.heading((14, 25), _headline(moment))
    yield drawing.text((14, 48), cut(_newest(moment), drawing.fits(WIDTH - 28)), palette.MUTED)


def _run(shown: Shown, y: float, height: float, *, is_newest: bool) -> Iterator[str]:
    tone = palette.HARNESS if is_newest else palette.PERSON
    yield drawing.rect((EDGE, y, WIDTH - 2 * EDGE, height), tone.pale, tone.strong)
    title = cut(_title(shown, is_newest=is_newest), drawing.fits(WIDTH - 2 * TURN))
    yield drawing.text((TURN, y + 22), title, tone.strong, bold=True)
    y += 34
    for place, row in enumerate(shown.rows):
        yield from _row(row, y, is_new=is_newest and place == shown.newest)
        y += _row_height(row) + 4


def _row(row: Row, y: float, *, is_new: bool) -> Iterator[str]:
    tone = TONES[row.state] if row.state else palette.MODEL
    edge, thick = (tone.strong, 2.0) if is_new else (palette.LINE, 1.0)
    area = (EDGE + 6, y, WIDTH - 2 * EDGE - 12, _row_height(row))
    yield drawing.rect(area, palette.CARD, edge, thick=thick)
    yield drawing.text((TURN, y + 19), _label(row), palette.MUTED, bold=True)
    yield drawing.paragraph((WORDS, y + 6), _lines(row))
    if state := _state(row):
        yield drawing.text((STATE, y + 19), state, tone.strong, bold=True)
    if is_new:
        yield drawing.text((WIDTH - EDGE - 14, y + 19), NEW, tone.strong, anchor="end")
