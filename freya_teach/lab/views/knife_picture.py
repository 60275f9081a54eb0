"""The knife's picture: the rows on both sides of it, and what is known of the cut. (chapter 7.2)"""

from __future__ import annotations

from collections.abc import Iterator

from freya_teach.lab.gateway.question import Wire
from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.knife_state import Knife
from freya_teach.lab.views.protocol_rows import Row
from freya_teach.lab.views.protocol_verdicts import Verdict
from freya_teach.lab.views.view import Picture
from freya_teach.lab.views.words import cut, one_line, wrap

WIDTH, ROW, GAP = 888, 27, 26
STATE, NUMBER, ROLE, WORDS, MARKS = 18, 118, 156, 246, 660
"""Where each column begins; numbers end at theirs."""
MOST_ROWS = 16
NAMES: tuple[tuple[Wire, str], ...] = (("openai", "OpenAI"), ("gemini", "Gemini"))
TONES = (palette.HARNESS, palette.TOOLS, palette.MODEL)
Told = tuple[str, palette.Tone | None]


def draw(knife: Knife) -> Picture:
    """The rows, the knife between two of them, and the findings."""
    first, last = _near(knife)
    parts, y = list(_head(knife)), 62.0
    tops: dict[int, float] = {}
    for place in range(first, last):
        if place == knife.at:
            parts += _blade(knife, y)
            y += GAP
        tops[place] = y
        parts += _row(knife, place, y)
        y += ROW
    parts += _brackets(knife, tops)
    y += 8
    for words, tone in _findings(knife):
        for line in wrap(one_line(words), drawing.fits(WIDTH - 40), 3):
            y += drawing.ROW + 2
            colour = tone.strong if tone else palette.INK
            parts.append(drawing.text((STATE, y), line, colour, bold=tone is not None))
    svg = drawing.svg((WIDTH, y + 16), "The truncation knife", _headline(knife), parts)
    return Picture(svg, tell(knife))


def tell(knife: Knife) -> str:
    """The same in words."""
    first, last = _near(knife)
    lines = [
        _headline(knife),
        _left_out(knife),
        _LEGEND,
        "(stays or goes, row, role: what it holds)",
    ]
    for place in range(first, last):
        if place == knife.at:
            lines.append(_blade_words(knife))
        row = knife.rows[place]
        lines.append(f"{_state(knife, place)} {place} {row.role}: {_words(row, 400)}")
        if marks := _marks(knife, place):
            lines.append(f"      {marks}")
    return "\n".join([line for line in lines if line] + [one_line(f) for f, _ in _findings(knife)])


# ---- words that both have ------------------------------------------------------------------

_LEGEND = "★ newest request · K a cut of the kernel's · S the source's cut"


def _headline(knife: Knife) -> str:
    stay = len(knife.kept)
    return f"The truncation knife: before row {knife.at} · {stay} of {len(knife.rows)} rows stay"


def _near(knife: Knife) -> tuple[int, int]:
    """The rows around the knife that fit."""
    first = min(knife.at - MOST_ROWS // 2, len(knife.rows) - MOST_ROWS)
    first = max(0, first)
    return first, min(len(knife.rows), first + MOST_ROWS)


def _left_out(knife: Knife) -> str:
    first, last = _near(knife)
    later = len(knife.rows) - last
    return f"‹ {first} earlier rows · {later} later rows ›" if first or later else ""


def _state(knife: Knife, place: int) -> str:
    return "✗ goes" if place in knife.lost else "✓ stays"


def _words(row: Row, width: int) -> str:
    if row.role == "tool":
        return cut(f"result {row.letter or '?'}: {row.text or ''}", width)
    called = " ".join(f"call {c.letter}: {c.name}({one_line(str(c.arguments))})" for c in row.calls)
    return cut(f"{row.text or ''} {called}".strip() or "(an empty text)", width)


def _marks(knife: Knife, place: int) -> str:
    """Who would put the knife before this row, and which request is the newest."""
    marks = []
    if place == knife.newest:
        marks.append("★ newest")
    if any(each.at == place for each in knife.kernel_cuts):
        marks.append("K kernel")
    if place == knife.source_at:
        marks.append("S source")
    return " · ".join(marks)


def _blade_words(knife: Knife) -> str:
    if not knife.lost:
        return "✂ the knife: nothing is cut off"
    return "✂ the knife: a summary stands here" if knife.summary else "✂ the knife"


def _findings(knife: Knife) -> Iterator[Told]:
    """What is known of this cut, line by line."""
    for torn in knife.torn:
        calls = "calls" if "," in torn.letters else "call"
        yield f"✗ {calls} {torn.letters}: cut off from the results", palette.STOP
    for wire, name in NAMES:
        yield from _verdict(name, knife.verdict(wire))
    if knife.is_answered:
        yield "    (asked with a next question of the user's behind the last row)", palette.PERSON
    if knife.newest is None:
        yield "– there is no request of the user's", palette.PERSON
    elif knife.request_survives:
        yield f"✓ the newest request, row {knife.newest}, stays", palette.TOOLS
    else:
        yield f"✗ the newest request, row {knife.newest}, is lost", palette.STOP
    yield _kernel(knife)
    yield _source(knife)


def _verdict(name: str, found: Verdict) -> Iterator[Told]:
    yield f"{name}: {found.headline}", palette.TOOLS if found.accepted else palette.STOP
    if not found.accepted:
        rule = f" (rule {found.rule.name})" if found.rule else ""
        yield f"    “{found.words}”{rule}", None


def _kernel(knife: Knife) -> Told:
    here = knife.kernel_cut
    if here is None:
        return "– kernel: not one of its cuts", palette.PERSON
    number = f"number {knife.kernel_cuts.index(here) + 1} of {len(knife.kernel_cuts)} that it tries"
    judged = [(name, knife.kernel_verdict(wire)) for wire, name in NAMES]
    verdicts = ", ".join(f"{name} {found.headline}" for name, found in judged if found)
    also = "" if here.request is None else f"; it keeps row {here.request}, the request, too"
    fine = all(found and found.accepted for _, found in judged)
    tone = palette.TOOLS if fine else palette.STOP
    return f"{'✓' if fine else '✗'} kernel: one of its cuts, {number}{also}: {verdicts}", tone


def _source(knife: Knife) -> Told:
    if knife.source_at == knife.at:
        return "▶ source: it cuts here", palette.WARN
    if knife.source_at == knife.start:
        return "– source: it cuts nothing off", palette.PERSON
    return f"– source: it cuts before row {knife.source_at}", palette.PERSON


# ---- the picture ---------------------------------------------------------------------------


def _head(knife: Knife) -> Iterator[str]:
    yield drawing.heading((14, 25), _headline(knife))
    yield drawing.text((14, 48), _left_out(knife), palette.MUTED)
    yield drawing.text((WIDTH - 14, 48), _LEGEND, palette.MUTED, anchor="end")


def _blade(knife: Knife, y: float) -> Iterator[str]:
    yield drawing.rect((8, y + 10, WIDTH - 16, 3), palette.STOP.strong, radius=1)
    words = _blade_words(knife)
    yield drawing.badge((WORDS, y + 2), words, palette.STOP)


def _row(knife: Knife, place: int, y: float) -> Iterator[str]:
    row, goes = knife.rows[place], place in knife.lost
    ground = palette.PERSON.pale if goes else palette.CARD
    colour = palette.MUTED if goes else palette.INK
    state = palette.STOP.strong if goes else palette.TOOLS.strong
    yield drawing.rect((8, y, WIDTH - 16, ROW - 3), ground, palette.LINE, radius=4)
    yield drawing.text((STATE, y + 16), _state(knife, place), state, bold=True)
    yield drawing.text((NUMBER, y + 16), str(place), palette.MUTED, bold=True, anchor="end")
    yield drawing.text((ROLE, y + 16), row.role, colour, bold=True)
    words = _words(row, drawing.fits(MARKS - WORDS - 8))
    yield drawing.text((WORDS, y + 16), words, colour)
    yield drawing.text((MARKS, y + 16), _marks(knife, place), palette.HARNESS.strong, bold=True)


def _brackets(knife: Knife, tops: dict[int, float]) -> Iterator[str]:
    """An upright line from each call to its last result, in the gap before the roles."""
    for number, each in enumerate(knife.brackets):
        shown = [place for place in range(each.first, each.last + 1) if place in tops]
        if not shown:
            continue
        tone = palette.STOP if each in knife.torn else TONES[number % len(TONES)]
        x, top, low = 132.0, tops[shown[0]] + 5, tops[shown[-1]] + 18
        yield drawing.rect((x, top, 2.5, low - top), tone.strong, radius=0)
        for y, here in ((top, each.first in shown), (low - 2.5, each.last in shown)):
            if here:
                yield drawing.rect((x, y, 10, 2.5), tone.strong, radius=0)
