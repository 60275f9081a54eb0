"""A race up to one of its turns: what has happened, in words. (chapter 6.4)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freya_teach.lab.races.orders import Run
from freya_teach.lab.races.stage import Event, Stand
from freya_teach.lab.views.words import one_line, visible

Bar = Literal["write", "wait"]
BARS: dict[Bar, str] = {"write": "in its write", "wait": "waits"}
TWO_AT_ONCE = "! two writes at once"
NOT_YET = Stand("not begun")


@dataclass(frozen=True, slots=True)
class Moment:
    """A run after so many of its turns, and the name of the case that it plays."""

    run: Run
    case: str
    now: int

    @property
    def events(self) -> tuple[Event, ...]:
        """The turns so far."""
        return self.run.events[: self.now]

    @property
    def names(self) -> list[str]:
        """Every task of the run, in the order of the stage."""
        return list(self.run.events[-1].stands) if self.run.events else []

    def stand(self, turn: int, name: str) -> Stand:
        """How a task stood after a turn, counted from 1."""
        return self.events[turn - 1].stands.get(name, NOT_YET) if turn else NOT_YET

    def changed(self, turn: int, name: str) -> str:
        """What a turn changed for a task, in words; empty where it changed nothing."""
        return changes(self.stand(turn - 1, name), self.stand(turn, name))

    def spans(self, bar: Bar, name: str) -> list[tuple[int, int]]:
        """A task's bars, each from the turn that begins it to the one that ends it or will come."""
        turns = [turn for turn in range(1, self.now + 1) if _has(bar, self.stand(turn, name))]
        first = [turn for turn in turns if turn - 1 not in turns]
        last = [turn + 1 for turn in turns if turn + 1 not in turns]
        return list(zip(first, last, strict=True))

    @property
    def ending(self) -> str:
        """How it came out, once the last turn has been reached."""
        if self.now < len(self.run.events):
            return ""
        if self.run.wrong:
            return f"✗ {self.run.wrong}"
        failed = [name for name in self.names if self.stand(self.now, name).state == "failed"]
        told = f"; told of its own error: {', '.join(failed)}" if failed else ""
        return f"✓ no accident in this order{told}"


def _has(bar: Bar, stand: Stand) -> bool:
    return stand.in_write if bar == "write" else stand.state == "waits"


def changes(before: Stand, after: Stand) -> str:
    """What a turn changed for a task, in words; empty where it changed nothing."""
    told = [f"▼ {BARS['write']}"] if after.in_write and not before.in_write else []
    if after.state != before.state:
        if after.state == "waits":
            told.append(f"… {BARS['wait']}")
        elif after.state == "done":
            told.append("✓ done")
        elif after.state == "failed":
            told.append(f"✗ failed: {after.error}")
        elif before.state == "waits" and not told:
            told.append("▶ may go on")
    return ", ".join(told)


def shared(event: Event) -> str:
    """What the tasks share after a turn, and whether two of them are writing."""
    writing = sum(stand.in_write for stand in event.stands.values())
    return f"{event.shared}\n{TWO_AT_ONCE}" if writing > 1 else event.shared


def tell(moment: Moment) -> str:
    """The run so far in words."""
    lines = [headline(moment), f"tasks: {', '.join(map(one_line, moment.names))}"]
    lines.append("(turn. task: its step · what it noted; what changed; what is shared, afterwards)")
    for turn, event in enumerate(moment.events, 1):
        note = f" · {event.note}" if event.note else ""
        lines.append(f"{turn}. {one_line(event.who)}: {one_line(event.what + note)}")
        changed = {name: moment.changed(turn, name) for name in moment.names}
        lines += [f"    {one_line(f'{name}: {words}')}" for name, words in changed.items() if words]
        lines.append(f"    shared: {one_line(shared(event)).replace(' ⏎ ', '; ')}")
    return "\n".join([*lines, *filter(None, [visible(moment.ending)])])


def headline(moment: Moment) -> str:
    """Which run, and how far it has come."""
    case = f", {moment.case}" if moment.case else ""
    return one_line(f"{moment.run.title}{case}: turn {moment.now} of {len(moment.run.events)}")
