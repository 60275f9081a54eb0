"""What a person in the model's place sees: the request, the tools, the moves so far. (chapter 2.2)

One list of rows is both drawn and told, so the words name everything that the picture shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from freya_teach.lab import show
from freya_teach.lab.gateway.question import Call, Move, Offered, Question, Said
from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.drawing import ROW
from freya_teach.lab.views.sitting import Phase, Sitting
from freya_teach.lab.views.stepper import stepper
from freya_teach.lab.views.view import Picture
from freya_teach.lab.views.words import visible, wrap

WIDTH, LEFT = 888, 128
COLUMNS = drawing.fits(WIDTH - LEFT - 24)
MOST_LINES = 4
MOST_SAID = 12
ROLES = {"system": "system", "user": "user", "assistant": "you", "tool": "tool"}
TONES = {
    "system": palette.HARNESS,
    "user": palette.PERSON,
    "you": palette.MODEL,
    "tool": palette.TOOLS,
    "may call": palette.TOOLS,
    "answer": palette.MODEL,
    "problem": palette.STOP,
}
OWNERS = {"openai": "OpenAI's", "gemini": "Gemini's", "postcard": "the postcard"}
STATES: dict[Phase, str] = {
    "not started": "nothing has been asked yet",
    "your move": "▶ it is your move; the run is waiting for it",
    "harness at work": "… the harness is at work",
    "over": "✓ the run is over",
    "failed": "✗ the run has failed",
    "left": "■ the seat was left; the run was cancelled",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A word in a badge, the lines beside it, and whether they were not there last time."""

    badge: str
    lines: tuple[str, ...]
    new: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a heading."""

    heading: str
    rows: tuple[Row, ...]


def picture(sitting: Sitting) -> Picture:
    """The sitting as it is now; at its end the run's own picture is added to it."""
    headline, sections = _headline(sitting), list(_sections(sitting))
    seat = Picture(_draw(headline, sections), _tell(headline, sections))
    if sitting.result is None or not sitting.result.trace.turns:
        return seat
    run = stepper(sitting.result)
    run.go(len(run.frames))
    return Picture(seat.svg + run.svg, f"{seat.text}\n\n{run.text}")


def packet_html(sitting: Sitting) -> str:
    """The newest packet as it was sent, folded; nothing before the first one."""
    if not sitting.packets:
        return ""
    packet = escape(visible(show.packet(sitting.packets[-1])), quote=False)
    return f"<details><summary>The packet itself</summary><pre>{packet}</pre></details>"


def _headline(sitting: Sitting) -> str:
    wire = f", over {OWNERS[sitting.asked[-1].wire]} wire" if sitting.asked else ""
    return f"You are the model{wire}: {STATES[sitting.phase]}"


def _sections(sitting: Sitting) -> Iterator[Section]:
    if sitting.asked and not sitting.result:
        question = sitting.asked[-1]
        before = len(sitting.asked[-2].said) if len(sitting.asked) > 1 else 0
        heading = f"What you are sent: request {len(sitting.asked)} (+ marks what is new)"
        yield Section(heading, tuple(_said(question, before)))
        tools = [_tool(tool) for tool in question.tools]
        yield Section("Tools that it offers you", tuple(tools) or (Row("may call", ("none",)),))
    if sitting.moves:
        yield Section(
            "Your moves", tuple(map(_move, range(1, 1 + len(sitting.moves)), sitting.moves))
        )
    if sitting.problem:
        yield Section("What went wrong", (_row("problem", sitting.problem),))
    if sitting.result:
        yield Section("How it ended", tuple(_end(sitting)))


def _said(question: Question, before: int) -> Iterator[Row]:
    left_out = max(0, len(question.said) - MOST_SAID)
    if left_out:
        yield Row("user", (f"({left_out} earlier messages)",))
    for place, said in enumerate(question.said[left_out:], start=left_out):
        calls = [f"calls {_call(call)}" for call in said.calls]
        words = "\n".join([*([said.text] if said.text or not calls else []), *calls])
        yield _row(ROLES[said.role], _named(said, words), new=place >= before)


def _named(said: Said, words: str) -> str:
    return f"{said.name} returned: {words}" if said.role == "tool" and said.name else words


def _tool(tool: Offered) -> Row:
    kinds = [f"{name}: {_kind(schema)}" for name, schema in tool.fields.items()]
    return _row("may call", f"{tool.name}({', '.join(kinds)})\n{tool.description}")


def _kind(schema: object) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return str(kind or "any JSON")


def _move(number: int, move: Move) -> Row:
    told = [f"calls {_call(call)}" for call in move.calls]
    if move.text or not told:
        told.insert(0, f"says {move.text!r}" if move.text else "says nothing")
    return _row("you", f"{number}. " + "\n   ".join(told))


def _call(call: Call) -> str:
    if isinstance(call.arguments, str):
        return f"{call.name} with the raw text {call.arguments}"
    return (
        f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"
    )


def _end(sitting: Sitting) -> Iterator[Row]:
    result = sitting.result
    assert result is not None
    if result.text or result.stop_reason == "answer":
        yield _row("answer", result.text or "(no words)")
    if result.stop_reason == "answer":
        return
    reason = f"The run ended: {result.stop_reason}. {result.detail}".strip()
    raw = [call for call in sitting.moves[-1].calls if isinstance(call.arguments, str)]
    if raw and sitting.asked[-1].wire == "gemini":
        reason += ". On Gemini's wire arguments are an object: a text that is none has no place."
    yield _row("problem", reason)


def _row(badge: str, words: str, *, new: bool = False) -> Row:
    return Row(badge, tuple(wrap(words, COLUMNS, MOST_LINES)), new)


def _tell(headline: str, sections: list[Section]) -> str:
    lines = [headline]
    for section in sections:
        lines += ["", section.heading]
        for row in section.rows:
            first, *others = row.lines
            lines.append(f"{'+' if row.new else ' '} {row.badge:9} {first}")
            lines += [f"            {line}" for line in others]
    return "\n".join(line.rstrip() for line in lines)


def _draw(headline: str, sections: list[Section]) -> str:
    parts = [drawing.heading((14, 24), headline)]
    y = 38.0
    for section in sections:
        parts.append(drawing.text((14, y + 15), section.heading, palette.MUTED, bold=True))
        y += 24
        for row in section.rows:
            parts += _draw_row(row, y)
            y += ROW * len(row.lines) + 16
        y += 6
    return drawing.svg((WIDTH, y + 4), "You are the model", headline, parts)


def _draw_row(row: Row, y: float) -> Iterator[str]:
    tone, area = TONES[row.badge], (8, y, WIDTH - 16, ROW * len(row.lines) + 12)
    fill, edge = (tone.pale, tone.strong) if row.new else (palette.CARD, palette.LINE)
    yield drawing.rect(area, fill, edge)
    yield drawing.badge((32, y + 6), row.badge, tone, width=80)
    if row.new:
        yield drawing.text((16, y + 19), "+", tone.strong, bold=True)
    yield drawing.paragraph((LEFT, y + 6), row.lines)
