"""The deadlock trace's picture: a row and a bar for each step. (chapter 7.4)"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freya_teach.lab.deadlock import GOOD, NAMES, Defences, Held, Step, Story, Verdict, trace
from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.view import Picture
from freya_teach.lab.views.words import cut

WIDTH, ROW = 888, 32
ACT, SAYS, BAR, TOTAL, CALLS = 16, 112, 504, 736, 836
"""Where each column begins."""
BAR_WIDTH = TOTAL - BAR - 16
CAPTIONS = {
    "one_summary": "at most one summary for each request",
    "cap": "a summary over the cap is thrown away",
    "input_cut": "what is summarised is cut to fit",
    "fallback": "no usable summary: old turns are dropped",
    "until_it_fits": "truncate until it fits, else an error",
}
ENDS: dict[Verdict, str] = {
    "fits": "✓ fits: the request is sent",
    "error": "✓ refused with an error: nothing is sent",
    "loops": "✗ loops: one summary after the other",
    "too large": "✗ sent too large: the provider refuses it",
    "crowded out": "✗ crowded out: the summary takes the turns' room",
    "forgets": "✗ forgets: dropped without a summary",
}


@dataclass(frozen=True, slots=True)
class Stage:
    """A story and the defences that are on; `stories` are those that can be chosen."""

    story: Story
    defences: Defences
    stories: tuple[Story, ...]

    def steps(self, story: Story | None = None) -> tuple[Step, ...]:
        """The steps of this story, or of another one with the same defences."""
        return trace(self.defences, story or self.story)


def draw(stage: Stage) -> Picture:
    """The defences, the steps, and how every story ends with these defences."""
    steps = stage.steps()
    parts, y = list(_head(stage)), 134.0
    parts += _columns(y)
    y += 14
    most = max(stage.story.window, *(step.held.total for step in steps))
    for step in steps:
        parts += _row(step, stage.story, BAR_WIDTH / most, y)
        y += ROW
    parts += _window(stage.story, BAR_WIDTH / most, (y - ROW * len(steps), y))
    y += 26
    parts.append(drawing.text((ACT, y), _LEGEND, palette.MUTED))
    y += 30
    parts.append(drawing.text((ACT, y), _SAME, bold=True))
    for story in stage.stories:
        y += 20
        parts += _end(stage, story, y)
    svg = drawing.svg((WIDTH, y + 14), "The deadlock trace", _headline(stage), parts)
    return Picture(svg, tell(stage))


def tell(stage: Stage) -> str:
    """The same in words."""
    story, on = stage.story, stage.defences
    lines = [_headline(stage), cut(story.says, 110)]
    lines += [_defence(name, on=getattr(on, name)) for name in NAMES]
    lines.append("step · what happened · tokens, calls to the model")
    for step in stage.steps():
        verdict = f" · {_sign(step, story)}"
        lines.append(f"{step.act} · {cut(step.says, 110)}")
        lines.append(f"    {step.held.total:,} tokens{verdict} · {_calls(step)}")
        lines.append(f"    {_holds(step.held)}")
    lines.append(f"{_TRIGGER} {story.trigger:,} · {_LIMIT} {story.window:,}")
    lines += [_LEGEND, _SAME]
    for each in stage.stories:
        mark = "▶" if each == story else " "
        lines.append(f"{mark} {each.name}: {_ending(stage, each)}")
    return "\n".join(lines)


# ---- words that both have ------------------------------------------------------------------

_LEGEND = "S summary · 1, 2, … older turns · Q the newest request · R the newest result"
_SAME = "Every story with the same defences"
_TRIGGER, _LIMIT = "│ trigger", "┃ window"


def _headline(stage: Stage) -> str:
    last = stage.steps()[-1]
    assert last.verdict is not None
    return f"The deadlock trace: {cut(stage.story.name, 30)} · {ENDS[last.verdict]}"


def _defence(name: str, *, on: bool) -> str:
    return f"{'☑ on ' if on else '☐ off'} {name.replace('_', ' ')}: {CAPTIONS[name]}"


def _calls(step: Step) -> str:
    return "1 call" if step.calls == 1 else f"{step.calls} calls"


def _sign(step: Step, story: Story) -> str:
    if step.held.total > story.window:
        return "▲ > window"
    return "! > trigger" if step.held.total > story.trigger else "✓"


def _ending(stage: Stage, story: Story) -> str:
    last = stage.steps(story)[-1]
    assert last.verdict is not None
    return f"{ENDS[last.verdict]} ({_calls(last)})"


def _pieces(held: Held) -> Iterator[tuple[str, int, palette.Tone]]:
    """What the history holds, in its order: a label, tokens, a tone."""
    yield "S", held.summary, palette.MODEL
    for number, tokens in enumerate(held.older, start=held.left + 1):
        yield str(number), tokens, palette.PERSON
    yield "Q", held.request, palette.HARNESS
    yield "R", held.result, palette.TOOLS


def _holds(held: Held) -> str:
    return "holds " + ", ".join(f"{name} {tokens:,}" for name, tokens, _ in _pieces(held) if tokens)


# ---- the picture ---------------------------------------------------------------------------


def _head(stage: Stage) -> Iterator[str]:
    last = stage.steps()[-1].verdict
    tone = palette.TOOLS if last in GOOD else palette.STOP
    yield drawing.heading((14, 25), _headline(stage), tone.strong)
    yield drawing.text((14, 47), cut(stage.story.says, 110), palette.MUTED)
    for place, name in enumerate(NAMES):
        on = getattr(stage.defences, name)
        at = (14.0 + 436 * (place % 2), 68.0 + 19 * (place // 2))
        colour = palette.TOOLS.strong if on else palette.MUTED
        yield drawing.text(at, _defence(name, on=on), colour, bold=on)


def _columns(y: float) -> Iterator[str]:
    names = ((ACT, "step"), (SAYS, "what happened"), (TOTAL + 16, "tokens"), (CALLS, "calls"))
    for x, name in names:
        yield drawing.text((x, y), name, palette.MUTED, bold=True)


def _row(step: Step, story: Story, scale: float, y: float) -> Iterator[str]:
    ground = palette.CARD
    if step.verdict:
        ground = palette.TOOLS.pale if step.verdict in GOOD else palette.STOP.pale
    yield drawing.rect((8, y, WIDTH - 16, ROW - 3), ground, palette.LINE, radius=4)
    yield drawing.text((ACT, y + 19), step.act, bold=True)
    yield drawing.text((SAYS, y + 19), cut(step.says, drawing.fits(BAR - SAYS - 8)))
    x = float(BAR)
    for label, tokens, tone in _pieces(step.held):
        if tokens:
            wide = tokens * scale
            yield drawing.rect((x, y + 5, wide, ROW - 13), tone.pale, tone.strong, radius=2)
            if wide > 12:
                at = (x + wide / 2, y + 18)
                yield drawing.text(at, label, tone.strong, bold=True, anchor="middle")
            x += wide
    tone = palette.STOP if step.held.total > story.window else palette.WARN
    fine = step.held.total <= story.trigger
    colour = palette.TOOLS.strong if fine else tone.strong
    sign = _sign(step, story)[0]
    yield drawing.text((TOTAL + 16, y + 19), f"{step.held.total:,}", colour, bold=True)
    yield drawing.text((TOTAL, y + 19), sign, colour, bold=True)
    yield drawing.text((CALLS, y + 19), str(step.calls))


def _window(story: Story, scale: float, span: tuple[float, float]) -> Iterator[str]:
    """The trigger and the window as upright lines through all bars, named below them."""
    top, bottom = span
    for tokens, colour, thick in (
        (story.trigger, palette.WARN.strong, 1),
        (story.window, palette.STOP.strong, 2.5),
    ):
        x = BAR + tokens * scale
        yield drawing.rect((x - thick / 2, top, thick, bottom - top), colour, radius=0)
    right = WIDTH - 14.0
    for words, tone in (
        (f"{_LIMIT} {story.window:,}", palette.STOP),
        (f"{_TRIGGER} {story.trigger:,}", palette.WARN),
    ):
        yield drawing.text((right, bottom + 10), words, tone.strong, anchor="end")
        right -= 110


def _end(stage: Stage, story: Story, y: float) -> Iterator[str]:
    good = stage.steps(story)[-1].verdict in GOOD
    chosen = story == stage.story
    if chosen:
        yield drawing.text((ACT, y), "▶", bold=True)
    yield drawing.text((ACT + 18, y), cut(story.name, 22), bold=chosen)
    colour = palette.TOOLS.strong if good else palette.STOP.strong
    yield drawing.text((SAYS + 100, y), _ending(stage, story), colour, bold=True)
