"""The ReAct stepper: a run as a path between model, harness and tools. (chapter 2.2)

    lab.view.stepper(result)

Three lanes, and a card for each step in the lane where it happens. The current step is filled,
framed and marked ▶; below it stands what was sent or came back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from freya_teach.lab.views import drawing, palette
from freya_teach.lab.views.drawing import ROW
from freya_teach.lab.views.steps import Step, in_one_line, steps_of
from freya_teach.lab.views.view import Picture, View
from freya_teach.lab.views.words import wrap
from freya_teach.trace import RunResult

LANES = ("model", "harness", "tools")
TONES = {"model": palette.MODEL, "harness": palette.HARNESS, "tools": palette.TOOLS}
ABOUT = {
    "model": ("reads a packet,", "writes a reply"),
    "harness": ("your program:", "the loop"),
    "tools": ("functions that", "really run"),
}
WIDTH, LEFT, TOP = 888, 134, 34
COLUMNS = 6
COLUMN = (WIDTH - LEFT - 10) / COLUMNS
CARD, CARD_HEIGHT, LANE_HEIGHT = 104, 84, 100
CARD_LINES = 3


@dataclass(frozen=True, slots=True)
class Place:
    """A run's steps, and the one that is current (counted from 0)."""

    steps: tuple[Step, ...]
    current: int

    @property
    def window(self) -> range:
        """The steps that fit into the picture: the current one is always among them."""
        last = max(0, len(self.steps) - COLUMNS)
        first = min(max(0, self.current - COLUMNS // 2), last)
        return range(first, min(first + COLUMNS, len(self.steps)))


def stepper(result: RunResult) -> View[Place]:
    """Step through a run, from the question to the answer."""
    steps = steps_of(result)
    return View([Place(steps, number) for number in range(len(steps))], draw)


def draw(place: Place) -> Picture:
    """One step of a run, in its lane, with what was sent or came back."""
    detail = place.steps[place.current].detail
    height = TOP + 3 * LANE_HEIGHT + 56 + ROW * len(detail)
    parts = [*_heading(place), *map(_lane, LANES), *_arrows(place), *_cards(place)]
    parts += _detail(place, TOP + 3 * LANE_HEIGHT + 8)
    svg = drawing.svg((WIDTH, height), "A run, step by step", _headline(place), parts)
    return Picture(svg, tell(place))


def tell(place: Place) -> str:
    """The same in words: where we are, all steps, and the current one in full."""
    lines = [_headline(place), *filter(None, [_outside(place)])]
    for number, step in enumerate(place.steps):
        mark = "▶" if number == place.current else " "
        lines.append(f"{mark} {number + 1:2} {step.name:10} {step.lane:8} {in_one_line(step)}")
    about = [f"{lane}: {' '.join(ABOUT[lane])}" for lane in LANES]
    return "\n".join([*lines, "", *place.steps[place.current].detail, "", *about])


def _headline(place: Place) -> str:
    step = place.steps[place.current]
    return f"Step {place.current + 1} of {len(place.steps)}: {step.lane}, {step.name}"


def _outside(place: Place) -> str:
    """How many steps the picture has no room for, on either side."""
    earlier, later = place.window.start, len(place.steps) - place.window.stop
    told = [f"‹ {earlier} earlier"] if earlier else []
    return " · ".join([*told, *([f"{later} later ›"] if later else [])])


def _heading(place: Place) -> Iterator[str]:
    yield drawing.heading((14, 23), _headline(place))
    yield drawing.text((WIDTH - 14, 22), _outside(place), palette.MUTED, anchor="end")


def _lane(lane: str) -> str:
    y, tone = TOP + LANES.index(lane) * LANE_HEIGHT, TONES[lane]
    ground = drawing.rect((8, y + 2, WIDTH - 16, LANE_HEIGHT - 4), tone.pale)
    name = drawing.heading((18, y + 34), lane, tone.strong)
    return ground + name + drawing.paragraph((18, y + 42), ABOUT[lane], palette.MUTED)


def _corner(place: Place, number: int) -> tuple[float, float]:
    """The upper left corner of a step's card."""
    x = LEFT + (number - place.window.start) * COLUMN + (COLUMN - CARD) / 2
    lane = LANES.index(place.steps[number].lane)
    return x, TOP + lane * LANE_HEIGHT + (LANE_HEIGHT - CARD_HEIGHT) / 2


def _arrows(place: Place) -> Iterator[str]:
    for number in place.window[1:]:
        (x, y), (to_x, to_y) = _corner(place, number - 1), _corner(place, number)
        middle = CARD_HEIGHT / 2
        colour = palette.INK if number <= place.current else palette.MUTED
        if y == to_y:
            yield drawing.arrow([(x + CARD, y + middle), (to_x, y + middle)], colour)
            continue
        turn = to_x + CARD / 2
        end = to_y if to_y > y else to_y + CARD_HEIGHT
        yield drawing.arrow([(x + CARD, y + middle), (turn, y + middle), (turn, end)], colour)


def _cards(place: Place) -> Iterator[str]:
    for number in place.window:
        x, y = _corner(place, number)
        step, tone = place.steps[number], TONES[place.steps[number].lane]
        current = number == place.current
        frame, head = (x, y, CARD, CARD_HEIGHT), (x, y, CARD, 22)
        yield drawing.rect(frame, palette.CARD, tone.strong, thick=3 if current else 1)
        yield drawing.rect(head, tone.strong if current else tone.pale, tone.strong)
        name = f"{'▶' if current else ''}{number + 1} {step.name}"
        yield drawing.text(
            (x + 5, y + 15), name, palette.CARD if current else tone.strong, bold=True
        )
        yield drawing.paragraph((x + 6, y + 26), _few_lines(step))


def _few_lines(step: Step) -> list[str]:
    """As much of a step's summary as fits on its card; each of its parts gets its share."""
    width = drawing.fits(CARD - 12)
    share = max(1, CARD_LINES // len(step.summary))
    lines = [line for part in step.summary for line in wrap(part, width, share)]
    return lines if len(lines) <= CARD_LINES else wrap("\n".join(lines), width, CARD_LINES)


def _detail(place: Place, y: float) -> Iterator[str]:
    step = place.steps[place.current]
    tone, height = TONES[step.lane], ROW * len(step.detail) + 38
    yield drawing.rect((8, y, WIDTH - 16, height), palette.CARD, tone.strong)
    yield drawing.badge((16, y + 6), step.name, tone)
    for number, line in enumerate(step.detail):
        new = line.startswith("+")
        colour = tone.strong if new else palette.INK
        yield drawing.text((16, y + 40 + ROW * number), line, colour, bold=new)
