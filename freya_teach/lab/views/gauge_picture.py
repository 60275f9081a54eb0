"""The context gauge's picture: bars of the window, and its parts in a table. (chapter 7.1)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.gauge_levels import AFTER, BEFORE, Gauge, Level, Segment
from freya_teach.lab.views.view import Picture
from freya_teach.lab.views.words import cut

WIDTH, BAR_X, BAR_WIDTH, BAR_HEIGHT = 888, 14, 860, 34
MOST_TURNS = 8
NAME, TOKENS, SHARE, SAID = 42, 236, 300, 388
"""Where each column of the table begins, or ends where it holds numbers."""


def draw(gauge: Gauge) -> Picture:
    """A bar for each state so far, its marks, and the parts of the last one."""
    parts, y = list(_head(gauge)), 62.0
    most = max(each.total for _, each in gauge.numbered())
    scale = BAR_WIDTH / max(gauge.window, most)
    for number, level in gauge.numbered():
        parts += _bar(gauge, number, level, scale, y)
        y += BAR_HEIGHT + 30
    parts += _marks(gauge, scale, y + 6)
    y += 70
    parts += _columns(y)
    for row in _rows(gauge):
        y += 19
        parts += _row(row, y)
    for line in _changes(gauge):
        y += 21
        parts.append(drawing.text((BAR_X, y), cut(line, 116), bold=True))
    svg = drawing.svg((WIDTH, y + 16), "The context gauge", _headline(gauge), parts)
    return Picture(svg, tell(gauge))


def tell(gauge: Gauge) -> str:
    """The same in words."""
    lines = [_headline(gauge), _status(gauge, gauge.now)[1]]
    if gauge.states > 1:
        for number, level in gauge.numbered():
            lines.append(f"{_caption(number, level)} · {_status(gauge, level)[1]}")
            lines.append(f"    {_holds(level)}")
    elif sum(each.kind == "turn" for each in gauge.now.segments) > MOST_TURNS:
        lines.append(_holds(gauge.now))
    lines += [" · ".join(f"▲ {words}" for _, words, _ in _all_marks(gauge)), _HEAD]
    for row in _rows(gauge):
        said = f" {row.said}" if row.said else ""
        lines.append(f"{row.sign} {row.name}: {row.tokens} · {row.share}{said}")
    return "\n".join([*lines, *(cut(line, 116) for line in _changes(gauge))])


# ---- words that both have ------------------------------------------------------------------

_HEAD = "part: tokens · of the window · began with"


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _headline(gauge: Gauge) -> str:
    total = gauge.now.total
    return f"The context gauge: {cut(gauge.now.label, 36)} · {total:,} of {gauge.window:,} tokens"


def _status(gauge: Gauge, level: Level) -> tuple[palette.Tone, str]:
    """How full that is, in words, and the tone for them."""
    total = level.total
    if total > gauge.window:
        return palette.STOP, f"✗ over the window by {total - gauge.window:,}"
    if total > gauge.limit:
        return palette.STOP, f"✗ over what the answer leaves by {total - gauge.limit:,}"
    if total > gauge.mark(BEFORE):
        return palette.WARN, f"! over {_percent(BEFORE)}: made smaller before the next call"
    if total > gauge.mark(AFTER):
        return palette.HARNESS, f"◔ over {_percent(AFTER)}: summarised in the background"
    return palette.TOOLS, f"✓ below {_percent(AFTER)}"


def _caption(number: int, level: Level) -> str:
    return f"{number} {cut(level.label, 44)}: {level.total:,} tokens"


def _holds(level: Level) -> str:
    """The segments of a bar, from the left."""
    return "holds " + ", ".join(f"{each.name} {each.tokens:,}" for each in level.segments)


def _all_marks(gauge: Gauge) -> Iterator[tuple[int, str, palette.Tone]]:
    for share in (AFTER, BEFORE):
        tone = palette.HARNESS if share == AFTER else palette.WARN
        yield gauge.mark(share), f"{_percent(share)} = {gauge.mark(share):,}", tone
    if gauge.answer:
        yield gauge.limit, f"limit {gauge.limit:,}", palette.STOP
    yield gauge.window, f"window {gauge.window:,}", palette.STOP


@dataclass(frozen=True, slots=True)
class _Row:
    sign: str
    name: str
    tokens: str
    share: str
    said: str
    tone: palette.Tone


def _rows(gauge: Gauge) -> Iterator[_Row]:
    """System, summary, the newest turns; the older ones together; then what is free."""
    level = gauge.now
    turns = [each for each in level.segments if each.kind == "turn"]
    for each in level.segments:
        if each.kind != "turn":
            yield _row_of(gauge, each.name, each.tokens, "", _tone(each))
    older = turns[:-MOST_TURNS]
    if older:
        name = f"the {len(older)} turns before"
        yield _row_of(gauge, name, sum(each.tokens for each in older), "", palette.PERSON)
    for each in turns[-MOST_TURNS:]:
        yield _row_of(gauge, each.name, each.tokens, each.said, _tone(each))
    if gauge.answer:
        yield _row_of(gauge, "room for the answer", gauge.answer, "", palette.MODEL)
    free = gauge.limit - level.total
    name = "free" if free >= 0 else "missing"
    yield _row_of(gauge, name, abs(free), "", palette.PERSON if free >= 0 else palette.STOP)


def _row_of(gauge: Gauge, name: str, tokens: int, said: str, tone: palette.Tone) -> _Row:
    sign = {"free": "□", "missing": "✗", "room for the answer": "▨"}.get(name, "■")
    quoted = f"“{cut(said, 62)}”" if said else ""
    return _Row(sign, name, f"{tokens:,}", f"{tokens / gauge.window * 100:.1f} %", quoted, tone)


def _tone(segment: Segment) -> palette.Tone:
    if segment.kind == "turn":
        odd = segment.name[-1:] in "13579"
        return palette.HARNESS if odd else palette.TOOLS
    return palette.WARN if segment.kind == "head" else palette.PERSON


def _changes(gauge: Gauge) -> Iterator[str]:
    """What the last step did to the state before it."""
    now, before = gauge.now, gauge.before
    if before is None:
        return
    yield f"this step: {before.total:,} → {now.total:,} tokens ({now.total - before.total:+,})"
    gone = [each for each in before.segments if each.kind == "turn" and not now.named(each.name)]
    if gone:
        names = _together([each.name for each in gone])
        yield f"− left: {names} ({sum(each.tokens for each in gone):,} tokens)"
    for each in now.segments:
        old = before.named(each.name)
        if old is None:
            yield f"+ new: {each.name} ({each.tokens:,} tokens)"
        elif old.tokens != each.tokens:
            yield f"≠ {each.name}: {old.tokens:,} → {each.tokens:,} tokens"


def _together(names: list[str]) -> str:
    """Three turns or more in a row are named as one: "turns 1 to 3"."""
    found = [name.removeprefix("turn ") for name in names]
    numbers = [int(number) for number in found if number.isdecimal()]
    if len(numbers) == len(names) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"turns {numbers[0]} to {numbers[-1]}"
    return ", ".join(names)


# ---- the picture ---------------------------------------------------------------------------


def _head(gauge: Gauge) -> Iterator[str]:
    tone, words = _status(gauge, gauge.now)
    yield drawing.heading((14, 25), _headline(gauge))
    yield drawing.text((14, 46), words, tone.strong, bold=True)


def _bar(gauge: Gauge, number: int, level: Level, scale: float, y: float) -> Iterator[str]:
    """The window; in it the segments from the left, and the answer's room from the right."""
    if gauge.states > 1:
        tone, words = _status(gauge, level)
        yield drawing.text(
            (BAR_X, y + 12), _caption(number, level), bold=number == len(gauge.levels)
        )
        yield drawing.text((WIDTH - 14, y + 12), words, tone.strong, anchor="end")
    top = y + 18
    whole = (BAR_X, top, gauge.window * scale, BAR_HEIGHT)
    yield drawing.rect(whole, palette.CARD, palette.MUTED, radius=2)
    if gauge.answer:
        yield from _room(gauge, scale, top)
    x, limit = float(BAR_X), BAR_X + gauge.limit * scale
    for each in level.segments:
        wide, tone = each.tokens * scale, _tone(each)
        yield drawing.rect((x, top + 3, wide, BAR_HEIGHT - 6), tone.pale, tone.strong, radius=1)
        label = {"turn": each.name.removeprefix("turn "), "head": each.name[:3], "fixed": "sys"}
        free = min(x + wide, limit) - x if x < limit else wide
        if free > drawing.COLUMN * len(label[each.kind]) + 3:
            at = (x + free / 2, top + 22)
            yield drawing.text(at, label[each.kind], tone.strong, bold=True, anchor="middle")
        x += wide
    if level.total > gauge.limit:
        yield from _stripes(limit, x, top)
    for tokens, _, tone in _all_marks(gauge):
        line = (BAR_X + tokens * scale - 0.75, top - 3, 1.5, BAR_HEIGHT + 6)
        yield drawing.rect(line, tone.strong, radius=0)


def _room(gauge: Gauge, scale: float, top: float) -> Iterator[str]:
    """The room for the answer, with level lines."""
    left, wide = BAR_X + gauge.limit * scale, gauge.answer * scale
    yield drawing.rect((left, top, wide, BAR_HEIGHT), palette.MODEL.pale, palette.MUTED, radius=1)
    for line in range(6, BAR_HEIGHT, 7):
        yield drawing.rect((left, top + line, wide, 1), palette.MODEL.strong, radius=0)


def _stripes(left: float, right: float, top: float) -> Iterator[str]:
    """Upright stripes over what is too much."""
    x = left
    while x < right:
        yield drawing.rect((x, top - 3, 2.5, BAR_HEIGHT + 6), palette.STOP.strong, radius=0)
        x += 6


def _marks(gauge: Gauge, scale: float, y: float) -> Iterator[str]:
    """The marks' names below the bars, each on a line of its own."""
    for tokens, words, tone in _all_marks(gauge):
        x = BAR_X + tokens * scale
        is_right = x > WIDTH / 2
        beside = (x - 8, y) if is_right else (x + 8, y)
        yield drawing.text((x, y), "▲", tone.strong, anchor="middle")
        anchor = "end" if is_right else "start"
        yield drawing.text(beside, words, tone.strong, bold=True, anchor=anchor)
        y += 14


def _columns(y: float) -> Iterator[str]:
    yield drawing.text((NAME, y), "part", palette.MUTED, bold=True)
    yield drawing.text((TOKENS, y), "tokens", palette.MUTED, bold=True, anchor="end")
    yield drawing.text((SHARE + 60, y), "of the window", palette.MUTED, bold=True, anchor="end")
    yield drawing.text((SAID, y), "began with", palette.MUTED, bold=True)


def _row(row: _Row, y: float) -> Iterator[str]:
    yield drawing.text((BAR_X + 6, y), row.sign, row.tone.strong, bold=True)
    yield drawing.text((NAME, y), row.name)
    yield drawing.text((TOKENS, y), row.tokens, anchor="end")
    yield drawing.text((SHARE + 60, y), row.share, palette.MUTED, anchor="end")
    yield drawing.text((SAID, y), row.said, palette.MUTED)
