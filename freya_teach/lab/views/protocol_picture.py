"""The bench's picture: the rows, and below them what both providers say. (chapter 5.1)"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from freya_teach.lab.gateway.question import Wire
from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.protocol_rows import Call, Row
from freya_teach.lab.views.protocol_state import Bench
from freya_teach.lab.views.protocol_verdicts import KernelSays, Verdict
from freya_teach.lab.views.view import Picture
from freya_teach.lab.views.words import cut, one_line, wrap
from freya_teach.llm.gemini import UNSIGNED

WIDTH, TOP = 888, 64
PANEL = 432
"""Pixels of one provider's verdict."""
ROLE, WORDS = 62, 176
TOLD = 400
"""Columns of one row at most, in words."""
MOST_LINES = 9
MOST_ROWS = 14
NAMES: tuple[tuple[Wire, str], ...] = (("openai", "OpenAI"), ("gemini", "Gemini"))
CALLS = (palette.HARNESS, palette.TOOLS, palette.MODEL)
Told = tuple[str, palette.Tone | None]
"""A line, and the tone it stands in; without one, it is plain."""


def draw(bench: Bench) -> Picture:
    """The rows, the last click, and both verdicts."""
    parts, y = list(_head(bench)), float(TOP)
    first, shown = _near(bench)
    for place, row in enumerate(shown, start=first):
        svg, height = _row(bench, place, row)
        parts.append(_moved(svg, 0, y))
        y += height + 3
    high = 0.0
    for x, (wire, name) in zip((8, WIDTH - 8 - PANEL), NAMES, strict=True):
        svg, height = _panel(list(_verdict_lines(bench, wire, name)), bench.verdict(wire))
        parts.append(_moved(svg, x, y + 6))
        high = max(high, height)
    svg = drawing.svg((WIDTH, y + high + 14), "The protocol bench", _headline(bench), parts)
    return Picture(svg, tell(bench))


def tell(bench: Bench) -> str:
    """The same in words."""
    first, shown = _near(bench)
    lines = [_headline(bench), _last_click(bench), _left_out(bench)]
    for place, row in enumerate(shown, start=first):
        mark = "▶" if place == bench.selected else " "
        lines.append(f"{mark}{place} {_role(bench, place, row)}")
        lines += [f"      {cut(line, TOLD)}" for line, _ in _words(row)]
    for wire, name in NAMES:
        told = [one_line(line) for line, _ in _verdict_lines(bench, wire, name)]
        lines += [told[0], *(f"    {line}" for line in told[1:])]
    return "\n".join(line for line in lines if line)


# ---- words that both have ------------------------------------------------------------------


def _headline(bench: Bench) -> str:
    rows = len(bench.rows)
    verdicts = " · ".join(
        f"{name} {'accepts' if bench.verdict(wire).accepted else 'refuses'}" for wire, name in NAMES
    )
    return f"The protocol bench: {'1 row' if rows == 1 else f'{rows} rows'} · {verdicts}"


def _last_click(bench: Bench) -> str:
    if bench.problem:
        return cut(f"✗ Nothing has changed. {bench.problem}", 110)
    gone = len(bench.original) - len(bench.rows)
    removed = f" · {gone} of {len(bench.original)} rows removed" if gone else ""
    return f"last click: {cut(bench.click, 60) or 'none yet'}{removed}"


def _near(bench: Bench) -> tuple[int, tuple[Row, ...]]:
    """The rows around the selected one that fit, and the place of the first of them."""
    start = min(bench.selected - MOST_ROWS // 2, len(bench.rows) - MOST_ROWS)
    start = max(0, start)
    return start, bench.rows[start : start + MOST_ROWS]


def _left_out(bench: Bench) -> str:
    first, shown = _near(bench)
    later = len(bench.rows) - first - len(shown)
    return f"‹ {first} earlier · {later} later ›" if first or later else ""


def _role(bench: Bench, place: int, row: Row) -> str:
    return f"{row.role} ≠ changed" if bench.is_changed(place) else row.role


def _words(row: Row) -> Iterator[Told]:
    """What the row holds, line by line; a call and its result have one letter and one tone."""
    if row.role in ("tool", "function"):
        apart = " · in a content of its own" if row.apart else ""
        to = f"result {row.letter or '?'} · id {_id(row.call_id)} · name {row.name}{apart}"
        yield to, _tone(row.letter)
    if row.text is None:
        yield "(no content)", palette.WARN
    elif row.text or not row.calls:
        yield one_line(row.text) or "(an empty text)", None
    for call in row.calls:
        yield _call(call), _tone(call.letter)


def _call(call: Call) -> str:
    raw = isinstance(call.arguments, str)
    arguments = call.arguments if raw else json.dumps(call.arguments, ensure_ascii=False)
    kind = "" if raw else " (an object)"
    called = f"{call.name}({one_line(arguments)}){kind}"
    return f"call {call.letter} · id {_id(call.id)} · {called}{_signature(call)}"


def _signature(call: Call) -> str:
    """Whose signature the call has; the gateway's tells the call's id to whoever decodes it."""
    if not call.signature:
        return ""
    if call.signature == UNSIGNED:
        return " · signed: the placeholder"
    return f" · signed {call.signature[-12:]}"


def _id(id_: str | None) -> str:
    return "none" if id_ is None else one_line(id_) or '""'


def _tone(letter: str) -> palette.Tone:
    return CALLS[ord(letter[-1]) % len(CALLS)] if letter else palette.PERSON


def _verdict_lines(bench: Bench, wire: Wire, name: str) -> Iterator[Told]:
    """The provider's answer to the plain body; then, if asked for, what the kernel would do."""
    found = bench.verdict(wire)
    tone = palette.TOOLS if found.accepted else palette.STOP
    yield f"{name} · {cut(bench.model(wire), 40)}: {found.headline}", tone
    yield from _refusal(found)
    if bench.kernel:
        yield from _kernel_lines(bench.kernel_says(wire))


def _refusal(found: Verdict) -> Iterator[Told]:
    if found.accepted:
        return
    yield f"“{one_line(found.words)}”", None
    if found.rule:
        yield f"rule {found.rule.name}: {found.rule.says}", palette.PERSON
        yield f"who: {found.rule.since} · seen: {found.rule.source}", palette.PERSON


def _kernel_lines(says: KernelSays) -> Iterator[Told]:
    if says.error:
        yield "kernel: stops before anything is sent", palette.HARNESS
        yield one_line(says.error), None
    elif says.verdict:
        body = "another body" if says.changed else "the same body"
        yield f"kernel: sends {body}: {says.verdict.headline}", palette.HARNESS
        if not says.verdict.accepted:
            yield f"“{one_line(says.verdict.words)}”", None


# ---- the picture ---------------------------------------------------------------------------


def _moved(svg: str, x: float, y: float) -> str:
    return f'<g transform="translate({x:g} {y:g})">{svg}</g>'


def _head(bench: Bench) -> Iterator[str]:
    yield drawing.heading((14, 25), _headline(bench))
    colour = palette.STOP.strong if bench.problem else palette.MUTED
    yield drawing.text((14, 48), _last_click(bench), colour)
    yield drawing.text((WIDTH - 14, 48), _left_out(bench), palette.MUTED, anchor="end")


def _row(bench: Bench, place: int, row: Row) -> tuple[str, float]:
    """A row: its number, its role, and what it holds."""
    lines = [
        (line, tone)
        for words, tone in _words(row)
        for line in wrap(cut(words, TOLD), drawing.fits(WIDTH - WORDS - 20), 3)
    ]
    height = drawing.ROW * max(1 + bench.is_changed(place), len(lines)) + 9.0
    is_selected = place == bench.selected
    edge, thick = (palette.WARN.strong, 2.5) if is_selected else (palette.LINE, 1)
    parts = [drawing.rect((8, 0, WIDTH - 16, height), palette.CARD, edge, thick=thick)]
    if is_selected:
        parts.append(drawing.text((14, 17), "▶", palette.WARN.strong, bold=True))
    parts.append(drawing.text((50, 17), str(place), palette.MUTED, bold=True, anchor="end"))
    parts.append(drawing.text((ROLE, 17), row.role, bold=True))
    if bench.is_changed(place):
        parts.append(drawing.text((ROLE, 34), "≠ changed", palette.WARN.strong, bold=True))
    parts += _told(lines, WORDS, 4)
    return "".join(parts), height


def _panel(told: Iterable[Told], found: Verdict) -> tuple[str, float]:
    """One provider's verdict, in the colour of a yes or a no."""
    tone = palette.TOOLS if found.accepted else palette.STOP
    lines = [
        (line, tone)
        for words, tone in told
        for line in wrap(one_line(words), drawing.fits(PANEL - 24), MOST_LINES)
    ]
    height = drawing.ROW * len(lines) + 16.0
    ground = drawing.rect((0, 0, PANEL, height), palette.CARD, tone.strong, thick=2)
    return ground + "".join(_told(lines, 12, 6)), height


def _told(lines: Iterable[Told], x: float, y: float) -> Iterator[str]:
    for n, (line, tone) in enumerate(lines):
        colour = tone.strong if tone else palette.INK
        bold = tone not in (None, palette.PERSON)
        yield drawing.text((x, y + 13 + drawing.ROW * n), line, colour, bold=bold)
