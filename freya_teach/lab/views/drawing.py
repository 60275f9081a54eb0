"""SVG by hand: boxes, words, arrows. (start)

Each function returns a piece of SVG as text and remembers nothing: no ids, no clock, so the same
picture is always the same bytes. Lengths are in pixels of the picture, which a page may scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from freya_teach.lab.views import palette
from freya_teach.lab.views.words import visible

FONT = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
STYLE = "display:block;max-width:100%;height:auto;margin-bottom:6px"
SIZE = 12
ROW = 17
"""Pixels from one line of words to the next."""
COLUMN = 7.3
"""Pixels that one character of `SIZE` takes, in the widest of the fonts."""

Point = tuple[float, float]
Area = tuple[float, float, float, float]
"""Left, top, width, height."""


def fits(pixels: float) -> int:
    """How many columns of text fit into so many pixels."""
    return max(1, int(pixels / COLUMN))


def text(
    at: Point, words: str, colour: str = palette.INK, *, bold: bool = False, anchor: str = "start"
) -> str:
    """One line of words, standing on the point `at`."""
    # subtle: SVG drops plain spaces at the front of a line
    indent = len(words) - len(words.lstrip(" "))
    shown = "\u00a0" * indent + words[indent:]
    weight = ' font-weight="700"' if bold else ""
    place = f' text-anchor="{anchor}"' if anchor != "start" else ""
    (x, y), safe = at, _safe(shown)
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}"{weight}{place}>{safe}</text>'


def heading(at: Point, words: str, colour: str = palette.INK) -> str:
    """A line in larger, bold letters."""
    return f'<g font-size="15">{text(at, words, colour, bold=True)}</g>'


def rect(area: Area, fill: str, edge: str = "none", *, thick: float = 1, radius: float = 6) -> str:
    """A rectangle with round corners."""
    x, y, width, height = area
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" '
        f'fill="{fill}" stroke="{edge}" stroke-width="{thick:g}"/>'
    )


def paragraph(at: Point, lines: Iterable[str], colour: str = palette.INK) -> str:
    """Lines below each other; `at` is the upper left corner of the first one."""
    (x, y), first = at, 13
    shown = (
        text((x, y + first + ROW * n), line, colour) for n, line in enumerate(lines) if line.strip()
    )
    return "".join(shown)


def badge(at: Point, words: str, tone: palette.Tone, width: float = 0) -> str:
    """A word in white on a strong colour, 18 pixels high; `at` is its upper left corner."""
    (x, y), wide = at, width or COLUMN * len(words) + 14
    middle = text((x + wide / 2, y + 13), words, palette.CARD, bold=True, anchor="middle")
    return rect((x, y, wide, 18), tone.strong, radius=4) + middle


def arrow(points: Sequence[Point], colour: str) -> str:
    """A line through the points with a head at its end; the last stretch is level or upright."""
    (from_x, from_y), (x, y) = points[-2], points[-1]
    step_x, step_y = _sign(x - from_x), _sign(y - from_y)
    back_x, back_y = x - 8 * step_x, y - 8 * step_y
    side_x, side_y = 4 * step_y, 4 * step_x
    head = _path([(x, y), (back_x + side_x, back_y + side_y), (back_x - side_x, back_y - side_y)])
    stem = _path([*points[:-1], (back_x, back_y)])
    return (
        f'<polyline points="{stem}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        f'<polygon points="{head}" fill="{colour}"/>'
    )


def _path(points: Iterable[Point]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def svg(size: Point, title: str, about: str, parts: Iterable[str]) -> str:
    """The whole picture on its own panel; a screen reader reads `title` and `about` out."""
    width, height = size
    panel = rect((0.5, 0.5, width - 1, height - 1), palette.PANEL, palette.LINE, radius=8)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" font-family="{FONT}" font-size="{SIZE}" style="{STYLE}">'
        f"<title>{_safe(title)}</title><desc>{_safe(about)}</desc>{panel}{''.join(parts)}</svg>"
    )


def _safe(words: str) -> str:
    return escape(visible(words), quote=False)
