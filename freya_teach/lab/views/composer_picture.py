"""The composer's picture: the parts, what can be kept of them, and the prompt. (chapter 3.3)"""

from __future__ import annotations

from collections.abc import Iterator

from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.composition import Choice, Composition
from freya_teach.lab.views.view import Picture
from freya_teach.lab.views.words import cut, visible, wrap
from freya_teach.prompt.composer import Row

WIDTH = 888
HEAD = ("part", "origin", "characters", "tokens", "share")
PLACES = (16, 264, 476, 552, 612)
"""Where the first two columns begin, and where the numbers end."""
BAR, BAR_PLACE = 244, 628
ROW_HEIGHT = 24
MOST_LINES = 8
"""Of one part; the words have all of it."""
ORIGINS = {
    "packaged": ("□", palette.PERSON),
    "override": ("◆", palette.MODEL),
    "clock": ("◷", palette.WARN),
    "tools": ("▲", palette.TOOLS),
    "skills": ("≡", palette.HARNESS),
}
"""A sign and a colour for each origin."""
MARK = "≠ the next line holds the first difference: from there on nothing can be kept"

Piece = tuple[str, float]
"""SVG, and how many pixels high it is."""


def draw(now: Composition) -> Picture:
    """One composition as a picture, and in words."""
    y, parts = 8.0, []
    for svg, height in (_title(now), _table(now), _cache(now), _prompt(now)):
        parts.append(f'<g transform="translate(0 {y:g})">{svg}</g>')
        y += height + 10
    whole = drawing.svg((WIDTH, y), "The system prompt, part by part", _headline(now), parts)
    return Picture(whole, tell(now))


def tell(now: Composition) -> str:
    """The same in words, with the whole prompt."""
    lines = [_headline(now), _chosen(now.choice), *_problem(now), "", _columns(HEAD)]
    lines += [_columns(cells) for cells in _cells(now)]
    lines += ["", *_kept(now), ""]
    for marked, _, text in _pieces(now):
        lines += [*([MARK] if marked else []), text, ""]
    return "\n".join(map(visible, lines[:-1]))


# ---- words that both have --------------------------------------------------------------------


def _headline(now: Composition) -> str:
    rows = now.prompt.report()
    tokens, characters = sum(row.tokens for row in rows), len(now.prompt.text)
    return f"System prompt: {len(rows)} parts, {characters:,} characters, about {tokens:,} tokens"


def _chosen(choice: Choice) -> str:
    skills = f"skill {choice.active or 'none'}" if choice.skills else "skills off"
    on = {True: "on", False: "off"}
    later = f" · {choice.minutes} min later" if choice.minutes else ""
    return (
        f"override {on[choice.override]} · tools {on[choice.tools]} · {skills} · "
        f"time by {choice.granularity}{later}"
    )


def _problem(now: Composition) -> list[str]:
    told = f"✗ This could not be composed, so nothing has changed. {now.problem}"
    return [told] if now.problem else []


def _cells(now: Composition) -> Iterator[tuple[str, ...]]:
    for part, row in zip(now.prompt.parts, now.prompt.report(), strict=True):
        numbers = f"{row.characters:,}", f"{row.tokens:,}", f"{round(100 * row.share)} %"
        yield cut(part.title, 32), f"{ORIGINS[row.origin][0]} {row.origin}", *numbers


def _columns(cells: tuple[str, ...]) -> str:
    part, origin, characters, tokens, share = cells
    return f"{part:32} {origin:10} {characters:>10} {tokens:>6} {share:>5}"


def _kept(now: Composition) -> list[str]:
    """How much is as before, in two lines."""
    if now.before is None:
        return ["Nothing to compare with yet: switch something."]
    total = len(now.prompt.text)
    kept = f"{now.same:,} of {total:,} characters ({_percent(now.same, total)})"
    if now.first_difference:
        where = f"The first difference is in {now.first_difference}."
    elif now.before.text == now.prompt.text:
        where = "Nothing has changed."
    else:
        where = "Only the end has been taken away."
    return [f"The same as before “{now.click}”, from the start: {kept}", where]


def _percent(part: int, total: int) -> str:
    """Never 100 % where something is missing, and never 0 % where there is something."""
    rounded = round(100 * part / max(total, 1))
    return f"{min(max(rounded, int(part > 0)), 100 - int(part < total))} %"


def _pieces(now: Composition) -> Iterator[tuple[bool, bool, str]]:
    """The prompt in pieces: does the mark stand before it, is it as before, its text."""
    all_same = now.before is not None
    for same, text in now.pieces():
        yield all_same and not same, same, text
        all_same = all_same and same


# ---- the four pieces of the picture ----------------------------------------------------------


def _title(now: Composition) -> Piece:
    parts = [drawing.heading((14, 16), _headline(now))]
    parts.append(drawing.text((16, 38), _chosen(now.choice), palette.MUTED))
    height = 42.0
    for told in _problem(now):
        lines = wrap(told, drawing.fits(WIDTH - 40), MOST_LINES)
        area = (8, height + 6, WIDTH - 16, drawing.ROW * len(lines) + 10)
        parts.append(drawing.rect(area, palette.STOP.pale, palette.STOP.strong))
        parts.append(drawing.paragraph((18, height + 8), lines, palette.STOP.strong))
        height += area[3] + 6
    return "".join(parts), height


def _table(now: Composition) -> Piece:
    rows = list(zip(now.prompt.report(), _cells(now), strict=True))
    height = ROW_HEIGHT * (len(rows) + 1) + 4
    parts = [drawing.rect((8, 0, WIDTH - 16, height), palette.CARD, palette.LINE)]
    parts += _head()
    for number, (row, cells) in enumerate(rows, start=1):
        parts += _row(row, cells, ROW_HEIGHT * number)
    return "".join(parts), height


def _head() -> Iterator[str]:
    for x, words in zip(PLACES, HEAD, strict=True):
        anchor = "start" if x in PLACES[:2] else "end"
        yield drawing.text((x, 17), words, palette.MUTED, anchor=anchor)


def _row(row: Row, cells: tuple[str, ...], y: float) -> Iterator[str]:
    """A part: its title, its origin, three numbers, and its share as a piece of the whole bar."""
    title, origin, *numbers = cells
    tone = ORIGINS[row.origin][1]
    yield drawing.text((PLACES[0], y + 17), title)
    yield drawing.badge((PLACES[1], y + 4), origin, tone, width=104)
    for x, number in zip(PLACES[2:], numbers, strict=True):
        yield drawing.text((x, y + 17), number, anchor="end")
    yield drawing.rect((BAR_PLACE, y + 7, BAR, 10), tone.pale, radius=2)
    yield drawing.rect((BAR_PLACE, y + 7, BAR * row.share, 10), tone.strong, radius=2)


def _cache(now: Composition) -> Piece:
    """What is as before, as a part of the whole."""
    lines = _kept(now)
    parts = [drawing.paragraph((16, 0), lines)]
    height = drawing.ROW * len(lines) + 4.0
    if now.before is None:
        return "".join(parts), height
    wide = WIDTH - 32
    kept = wide * now.same / max(len(now.prompt.text), 1)
    new, old = palette.WARN, palette.TOOLS
    parts.append(drawing.rect((16, height + 4, wide, 14), new.pale, new.strong, radius=2))
    parts.append(drawing.rect((16, height + 4, kept, 14), old.strong, radius=2))
    return "".join(parts), height + 20


def _prompt(now: Composition) -> Piece:
    """The prompt; what is as before stands in grey behind a line, up to the mark."""
    width, y, parts = drawing.fits(WIDTH - 64), 6.0, list[str]()
    for marked, same, text in _pieces(now):
        if marked:
            parts.append(drawing.rect((16, y + 2, WIDTH - 32, 19), palette.WARN.pale, radius=2))
            parts.append(drawing.text((24, y + 16), MARK, palette.WARN.strong, bold=True))
            y += 24
        lines = wrap(text, width, MOST_LINES)
        if same:
            stroke = (18, y + 2, 3, drawing.ROW * len(lines))
            parts.append(drawing.rect(stroke, palette.TOOLS.strong, radius=0))
        parts.append(drawing.paragraph((32, y), lines, palette.MUTED if same else palette.INK))
        y += drawing.ROW * len(lines) + 8
    ground = drawing.rect((8, 0, WIDTH - 16, y), palette.CARD, palette.LINE)
    return ground + "".join(parts), y
