"""The tool timeline: when each call began and ended, and beside which others. (chapter 4.3)

    agent.events.subscribe(events.append)
    lab.view.timeline(events)

A lane for each call. From left to right runs the order of the events, not the time on a clock:
that is what a run guarantees, and it is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from freya_teach.events import Event, ToolStatus, TurnStarted
from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.steps import SIGNS
from freya_teach.lab.views.view import Picture, View
from freya_teach.lab.views.words import cut
from freya_teach.llm.messages import ToolCall
from freya_teach.trace import ToolState

WIDTH, TOP, LANE_HEIGHT = 888, 66, 46
TURN, CALL, TRACK, STATE = 16, 62, 430, 764
"""Where each column begins."""
WIDEST_STEP, NARROWEST_LABEL = 60.0, 24.0
TOLD_CHARS = 600
TONES: dict[ToolState, palette.Tone] = {
    "running": palette.HARNESS,
    "completed": palette.TOOLS,
    "failed": palette.STOP,
    "refused": palette.WARN,
}


@dataclass(frozen=True, slots=True)
class Lane:
    """One call: the event that began it, the one that ended it, and how it stands."""

    turn: int
    call: ToolCall
    first: int
    last: int
    state: ToolState
    observation: str = ""

    def beside(self, other: Lane) -> bool:
        """Whether both were running at the same moment; a refused call never ran."""
        if self is other or "refused" in (self.state, other.state):
            return False
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, slots=True)
class Moment:
    """The calls as they stand after so many of the events."""

    lanes: tuple[Lane, ...]
    now: int
    total: int


def timeline(events: Iterable[Event]) -> View[Moment]:
    """Step through the tool events of a run; the last moment is shown first. Raises no error."""
    seen = list(events)
    total = sum(isinstance(event, ToolStatus) for event in seen)
    frames, lanes, turn, now = [], list[Lane](), 0, 0
    for event in seen:
        if isinstance(event, TurnStarted):
            turn = event.number
        elif isinstance(event, ToolStatus):
            now += 1
            lanes = _after(lanes, event, turn, now)
            frames.append(Moment(tuple(lanes), now, total))
    return View(frames or [Moment((), 0, 0)], draw, step=max(1, len(frames)))


def _after(lanes: Sequence[Lane], event: ToolStatus, turn: int, now: int) -> list[Lane]:
    """The lanes after one more event: what runs goes on, and one begins or ends."""
    going = [replace(lane, last=now) if lane.state == "running" else lane for lane in lanes]
    ended = [n for n, lane in enumerate(lanes) if lane.state == "running"]
    ended = [n for n in ended if lanes[n].call.id == event.call.id]
    if event.state == "running" or not ended:
        return [*going, Lane(turn, event.call, now, now, event.state, event.observation)]
    going[ended[0]] = replace(going[ended[0]], state=event.state, observation=event.observation)
    return going


def draw(moment: Moment) -> Picture:
    """A bar for each call, from the event that began it to the one that ended it."""
    parts = list(_head(moment))
    for number, lane in enumerate(moment.lanes):
        parts += _lane(lane, moment, TOP + number * (LANE_HEIGHT + 4))
    height = TOP + len(moment.lanes) * (LANE_HEIGHT + 4) + 6 if moment.lanes else 40
    svg = drawing.svg((WIDTH, height), "The tool calls of a run", _headline(moment), parts)
    return Picture(svg, tell(moment))


def tell(moment: Moment) -> str:
    """The same in words."""
    lines = [_headline(moment), "(turn: call, → what the model reads; its events; its state)"]
    for lane in moment.lanes:
        lines.append(f"{_turn(lane)}: {_called(lane, TOLD_CHARS)}")
        lines.append(f"    {_span(lane)}{_company(lane, moment.lanes)}")
        if lane.observation:
            lines.append(f"    → {cut(lane.observation, TOLD_CHARS)}")
    return "\n".join(lines if moment.lanes else [_headline(moment)])


def _headline(moment: Moment) -> str:
    if not moment.total:
        return "The tool calls: none was made"
    running = sum(lane.state == "running" for lane in moment.lanes)
    return f"The tool calls: event {moment.now} of {moment.total}, {running or 'none'} running"


def _turn(lane: Lane) -> str:
    return f"turn {lane.turn}" if lane.turn else "call"


def _called(lane: Lane, width: int) -> str:
    return cut(f"{lane.call.name}({lane.call.arguments})", width)


def _state(lane: Lane) -> str:
    return f"{SIGNS[lane.state]} {lane.state}"


def _span(lane: Lane) -> str:
    if lane.first == lane.last:
        return f"event {lane.first}: {_state(lane)}"
    if lane.state == "running":
        return f"since event {lane.first}: {_state(lane)}"
    return f"event {lane.first}: {SIGNS['running']} running, event {lane.last}: {_state(lane)}"


def _company(lane: Lane, lanes: Iterable[Lane]) -> str:
    others = [other.call.name for other in lanes if lane.beside(other)]
    return f"; side by side with {', '.join(others)}" if others else ""


def _step(moment: Moment) -> float:
    """Pixels from one event to the next."""
    return min(WIDEST_STEP, (STATE - TRACK - 24) / max(1, moment.total))


def _place(event: int, moment: Moment) -> float:
    return TRACK + (event - 0.5) * _step(moment)


def _head(moment: Moment) -> Iterator[str]:
    yield drawing.heading((14, 24), _headline(moment))
    if not moment.lanes:
        return
    yield drawing.text((TURN, 54), "turn", palette.MUTED, bold=True)
    yield drawing.text((CALL, 54), "call, → what the model reads", palette.MUTED, bold=True)
    every = -(-NARROWEST_LABEL // _step(moment))
    for event in range(1, moment.now + 1):
        if event % every == 0 or event in (1, moment.now):
            at = (_place(event, moment), 54)
            yield drawing.text(at, str(event), palette.MUTED, bold=True, anchor="middle")
    yield drawing.text((STATE, 54), "state", palette.MUTED, bold=True)


def _lane(lane: Lane, moment: Moment, y: float) -> Iterator[str]:
    tone, width = TONES[lane.state], drawing.fits(TRACK - CALL - 12)
    yield drawing.rect((8, y, WIDTH - 16, LANE_HEIGHT), palette.CARD, palette.LINE)
    yield drawing.text((TURN, y + 19), str(lane.turn or ""), palette.MUTED, bold=True)
    yield drawing.text((CALL, y + 19), _called(lane, width), bold=True)
    if lane.observation:
        yield drawing.text((CALL, y + 37), cut(f"→ {lane.observation}", width), palette.MUTED)
    left = _place(lane.first, moment) - 5
    bar = (left, y + 14, _place(lane.last, moment) + 5 - left, 18)
    fill = tone.pale if lane.state == "running" else tone.strong
    yield drawing.rect(bar, fill, tone.strong, thick=1.5, radius=4)
    yield drawing.text((STATE, y + 27), _state(lane), tone.strong, bold=True)
