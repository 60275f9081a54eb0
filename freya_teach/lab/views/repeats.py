"""What the loop guard saw in a run, found out by asking the guard itself. (chapter 2.4)

Its rule is not written down a second time. A guard of patience n speaks up when a call has come
back the same in n turns; so of a row of guards, each more patient than the one before, as many
speak up as there were such turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from freya_teach.agent.loop_guard import LoopGuard
from freya_teach.llm.messages import ToolCall
from freya_teach.trace import RunResult, TurnTrace

Act = Literal["", "warned", "stopped"]


@dataclass(frozen=True, slots=True)
class GuardedCall:
    """A call, its result without the guard's note, and in how many turns it was the same."""

    name: str
    arguments: str
    result: str
    count: int
    act: Act


def guarded_turns(result: RunResult) -> list[tuple[GuardedCall, ...]]:
    """For each turn of the run its calls, as the guard saw them."""
    turns = result.trace.turns
    notes = _notes(len(turns))
    guards = [LoopGuard(patience, patience) for patience in range(1, len(turns) + 1)]
    watched = [_watched(turn, guards, notes) for turn in turns]
    if watched and result.stop_reason == "loop":
        watched[-1] = _stopped(watched[-1])
    return watched


def _notes(turns: int) -> list[str]:
    """The note that a guard adds to a call's result in the first turn, the second, and so on."""
    guard, call = LoopGuard(1, turns + 1), ToolCall("any", "any", "{}")
    return [guard.notes([(call, "")])[0] for _ in range(turns)]


def _watched(turn: TurnTrace, guards: list[LoopGuard], notes: list[str]) -> tuple[GuardedCall, ...]:
    """Show the turn to all guards, and count who speaks up at each call."""
    seen, acts = [], []
    for trace in turn.calls:
        note = next((note for note in notes if trace.observation.endswith(note)), "")
        seen.append((trace.call, trace.observation.removesuffix(note)))
        acts.append("warned" if note else "")
    counts = [0] * len(seen)
    for guard in guards:
        said = guard.notes(seen)
        counts = [count + bool(note) for count, note in zip(counts, said, strict=True)]
    return tuple(
        GuardedCall(call.name, call.arguments, text, count, "warned" if act else "")
        for (call, text), count, act in zip(seen, counts, acts, strict=True)
    )


def _stopped(calls: tuple[GuardedCall, ...]) -> tuple[GuardedCall, ...]:
    """The last turn of a run that the guard ended: the call repeated most is the one that did."""
    most = max((call.count for call in calls), default=0)
    return tuple(
        GuardedCall(call.name, call.arguments, call.result, call.count, "stopped")
        if call.count == most
        else call
        for call in calls
    )
