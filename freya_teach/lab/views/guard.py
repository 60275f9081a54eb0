"""The loop guard at work: each turn's calls, how often each came back the same. (chapter 2.4)

    lab.view.guard(result)

A row for each call: what was called, what came back, in how many turns that had happened, and
what the guard did about it. On the right, the tokens that the run had used by then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.repeats import Act, GuardedCall, guarded_turns
from freya_teach.lab.views.view import Picture, View
from freya_teach.lab.views.words import cut, visible, wrap
from freya_teach.trace import RunResult

WIDTH, TOP = 888, 66
HEAD = ("turn", "call", "result", "same so far", "the guard", "tokens of the run")
EDGES = (16, 60, 352, 492, 606, 706)
"""Where each column begins."""
BAR = 158
ROW_HEIGHT = 34
MOST_SIGNS = 5
ACTS: dict[Act, str] = {"": "–", "warned": "! warned", "stopped": "■ stopped"}
TONES: dict[Act, palette.Tone] = {
    "": palette.PERSON,
    "warned": palette.WARN,
    "stopped": palette.STOP,
}


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn's calls, and the tokens that the run has used up to its end."""

    number: int
    calls: tuple[GuardedCall, ...]
    tokens: int
    total: int


@dataclass(frozen=True, slots=True)
class Watch:
    """A run up to a turn."""

    turns: tuple[Turn, ...]
    most_tokens: int
    end: str
    """How the run ended, where the last turn has been reached."""


def guard(result: RunResult) -> View[Watch]:
    """Watch the loop guard, turn by turn; the last turn is shown first. Raises no error."""
    turns, total = [], 0
    for turn, calls in zip(result.trace.turns, guarded_turns(result), strict=True):
        tokens = turn.reply.usage.total_tokens
        total += tokens
        turns.append(Turn(turn.number, calls, tokens, total))
    end = f"The run ended: {result.stop_reason}. {result.detail}".strip()
    last = len(turns)
    frames = [Watch(tuple(turns[:n]), total, end if n == last else "") for n in range(1, last + 1)]
    return View(frames or [Watch((), 0, end)], draw, step=max(1, last))


def draw(watch: Watch) -> Picture:
    """The turns so far as a table."""
    parts, y = list(_head(watch)), float(TOP)
    for turn in watch.turns:
        height = ROW_HEIGHT * max(1, len(turn.calls)) + 8
        parts += _turn(turn, watch, y, height)
        y += height + 4
    if watch.end:
        lines = wrap(watch.end, drawing.fits(WIDTH - 40), 3)
        parts.append(_ending(watch.end, lines, y))
        y += drawing.ROW * len(lines) + 18
    svg = drawing.svg((WIDTH, y + 6), "The loop guard, turn by turn", _headline(watch), parts)
    return Picture(svg, tell(watch))


def _ending(end: str, lines: list[str], y: float) -> str:
    """Why the run ended, in a box; in the colour of a stop where the guard ended it."""
    tone = palette.STOP if end.startswith("The run ended: loop.") else palette.PERSON
    box = drawing.rect(
        (8, y + 2, WIDTH - 16, drawing.ROW * len(lines) + 12), tone.pale, tone.strong
    )
    return box + drawing.paragraph((18, y + 7), lines)


def tell(watch: Watch) -> str:
    """The same in words."""
    lines = [_headline(watch), "(turn: tokens of the run; call → result; same so far; the guard)"]
    for turn in watch.turns:
        lines.append(f"turn {turn.number}: {_tokens(turn)}")
        lines += [f"    {_call_in_words(call)}" for call in turn.calls] or ["    (no calls)"]
    return "\n".join([*lines, *([visible(watch.end)] if watch.end else [])])


def _headline(watch: Watch) -> str:
    calls = sum(len(turn.calls) for turn in watch.turns)
    return f"The loop guard: {len(watch.turns)} turns, {calls} calls"


def _tokens(turn: Turn) -> str:
    return f"+{turn.tokens:,} = {turn.total:,} tokens"


def _call_in_words(call: GuardedCall) -> str:
    same = f"same so far: {_signs(call.count)} {_turns(call.count)}"
    called = f"{_called(call, 60)} → {_result(call, 60)}"
    return f"{called}\n        {same}; the guard: {ACTS[call.act]}"


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"


def _called(call: GuardedCall, width: int) -> str:
    return cut(f"{call.name}({call.arguments})", width)


def _result(call: GuardedCall, width: int) -> str:
    return cut(call.result, width)


def _signs(count: int) -> str:
    return "●" * min(count, MOST_SIGNS) + ("…" if count > MOST_SIGNS else "")


def _head(watch: Watch) -> Iterator[str]:
    yield drawing.heading((14, 24), _headline(watch))
    for x, name in zip(EDGES, HEAD, strict=True):
        yield drawing.text((x, 54), name, palette.MUTED, bold=True)


def _turn(turn: Turn, watch: Watch, y: float, height: float) -> Iterator[str]:
    acts = {call.act for call in turn.calls}
    worst: Act = "stopped" if "stopped" in acts else "warned" if "warned" in acts else ""
    tone = TONES[worst]
    ground = tone.pale if worst else palette.CARD
    yield drawing.rect((8, y, WIDTH - 16, height), ground, palette.LINE)
    yield drawing.badge((EDGES[0], y + 12), str(turn.number), tone, width=30)
    for number, call in enumerate(turn.calls):
        yield from _row(call, y + 4 + number * ROW_HEIGHT + 21)
    if not turn.calls:
        yield drawing.text((EDGES[1], y + 25), "(no calls)", palette.MUTED)
    yield from _bar(turn, watch.most_tokens, y)


def _row(call: GuardedCall, y: float) -> Iterator[str]:
    tone = TONES[call.act]
    _, called, came_back, same, acted, _ = EDGES
    yield drawing.text((called, y), _called(call, drawing.fits(came_back - called - 8)))
    yield drawing.text((came_back, y), _result(call, drawing.fits(same - came_back - 8)))
    yield drawing.text((same, y), _signs(call.count), tone.strong)
    yield drawing.text((same + 48, y), _turns(call.count))
    yield drawing.text((acted, y), ACTS[call.act], tone.strong, bold=bool(call.act))


def _bar(turn: Turn, most: int, y: float) -> Iterator[str]:
    """The run's tokens as a bar, this turn's share of it in a strong colour."""
    scale = BAR / max(most, 1)
    before = (turn.total - turn.tokens) * scale
    x, top = EDGES[-1], y + 24
    yield drawing.text((x, y + 17), f"+{turn.tokens:,} = {turn.total:,}")
    yield drawing.rect((x, top, BAR, 8), palette.PERSON.pale, palette.LINE, radius=2)
    yield drawing.rect((x, top, before, 8), palette.LINE, radius=2)
    share = (x + before, top, turn.tokens * scale, 8)
    yield drawing.rect(share, palette.HARNESS.strong, radius=2)
