"""What a screen knows after each event of a run: text, tools, tokens. (chapter 8.1)

    after(moment, event) → the next moment

A pure function: the same events in the same order always give the same screen.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from freya_teach import events
from freya_teach.events import Event
from freya_teach.lab.views.steps import SIGNS
from freya_teach.trace import ToolState

Kind = Literal["text", "thinking", "tool", "note"]


@dataclass(frozen=True, slots=True)
class Row:
    """A piece of what is on the screen: words that grow, or a tool call and how it stands."""

    turn: int
    kind: Kind
    words: str = ""
    call: str = ""
    call_id: str = ""
    state: ToolState | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """One run, as far as its events have told."""

    session: str
    run: int
    turn: int = 0
    rows: tuple[Row, ...] = ()
    newest: int = -1
    """The row that the newest event has changed, or -1."""
    tokens: int = 0
    """Tokens of the turns that are over, in and out, and of summaries."""
    ended: str = ""

    @property
    def name(self) -> str:
        """Which run it is."""
        return f"run {self.run}" + (f" of session {self.session}" if self.session else "")

    @property
    def stands(self) -> str:
        """What is going on, in a word or two."""
        running = sum(row.state == "running" for row in self.rows)
        if self.ended:
            return f"■ over: {self.ended}"
        if running:
            return f"turn {self.turn}: {running} running"
        return f"turn {self.turn}" if self.turn else "not begun"


@dataclass(frozen=True, slots=True)
class Moment:
    """All runs after so many events; `event` is the newest one in words."""

    number: int = 0
    event: str = "no event yet"
    newest: tuple[str, int] | None = None
    runs: dict[tuple[str, int], Shown] = field(default_factory=dict)


def after(moment: Moment, event: Event) -> Moment:
    """The moment with one more event told."""
    key = (event.session, event.run)
    before = replace(moment.runs.get(key, Shown(*key)), newest=-1)
    told, shown = _told(event), _after(before, event)
    return Moment(moment.number + 1, told, key, {**moment.runs, key: shown})


def _told(event: Event) -> str:
    """The event's name, and what it brings."""
    match event:
        case events.TextDelta() | events.ReasoningDelta():
            return f"{event.name} {event.text!r}"
        case events.ToolStatus():
            return f"{event.name} {event.call.name} {SIGNS[event.state]} {event.state}"
        case events.TurnStarted():
            return f"{event.name} {event.number}"
        case events.TurnDone():
            return f"{event.name} {event.turn.number}"
        case events.RunDone():
            return f"{event.name} {event.result.stop_reason}"
        case events.ContextCompacted():
            return event.name
        case _:
            assert_never(event)


def _after(shown: Shown, event: Event) -> Shown:
    match event:
        case events.TurnStarted():
            return replace(shown, turn=event.number)
        case events.TextDelta() | events.ReasoningDelta():
            kind: Kind = "text" if isinstance(event, events.TextDelta) else "thinking"
            return _written(shown, kind, event.text)
        case events.ToolStatus():
            return _tool(shown, event)
        case events.TurnDone():
            return replace(shown, tokens=shown.tokens + event.turn.reply.usage.total_tokens)
        case events.ContextCompacted():
            words = f"context compacted: {event.before:,} → {event.after:,} tokens"
            told = _added(shown, Row(shown.turn, "note", words))
            return replace(told, tokens=told.tokens + event.usage.total_tokens)
        case events.RunDone():
            return replace(shown, ended=event.result.stop_reason)
        case _:
            assert_never(event)


def _added(shown: Shown, row: Row) -> Shown:
    return replace(shown, rows=(*shown.rows, row), newest=len(shown.rows))


def _changed(shown: Shown, place: int, row: Row) -> Shown:
    rows = (*shown.rows[:place], row, *shown.rows[place + 1 :])
    return replace(shown, rows=rows, newest=place)


def _written(shown: Shown, kind: Kind, text: str) -> Shown:
    """A piece of a text goes to the row that is being written, or begins one."""
    last = shown.rows[-1] if shown.rows else None
    if last is None or (last.kind, last.turn) != (kind, shown.turn):
        return _added(shown, Row(shown.turn, kind, text))
    return _changed(shown, len(shown.rows) - 1, replace(last, words=last.words + text))


def _tool(shown: Shown, event: events.ToolStatus) -> Shown:
    """A call that starts gets a row; one that ends finds its own."""
    call = event.call
    if event.state != "running":
        for place, row in enumerate(shown.rows):
            if row.state == "running" and row.call_id == call.id:
                ended = replace(row, state=event.state, words=event.observation)
                return _changed(shown, place, ended)
    called = f"{call.name}({call.arguments})"
    row = Row(shown.turn, "tool", event.observation, called, call.id, event.state)
    return _added(shown, row)
