"""A model that repeats itself, noticed. (chapter 2.4)

The same call with the same arguments *and the same result*, turn after turn, is a loop: nothing
new can come of it. Polling is none (its result changes), neither is a retry after an error that
then succeeds, nor a test that fails alike while the code is edited in between. So what is counted
is the three together, once per turn, and the count starts again when a turn brings anything new.

First the model is told, in the observation; then the run is stopped with the reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from freya_teach.llm.messages import ToolCall
from freya_teach.tools.observation import shorten

MAX_SHOWN_CHARS = 300
SORTED = json.JSONEncoder(sort_keys=True, ensure_ascii=False)


@dataclass(slots=True)
class LoopGuard:
    """Counts in how many turns each call came back with the same result, and nothing was new."""

    warn: int
    stop: int
    stopped: str = ""
    """Why the run has to stop; empty while it has not."""
    _seen: set[tuple[str, str, str]] = field(default_factory=set)
    _turns: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def notes(self, results: Sequence[tuple[ToolCall, str]]) -> list[str]:
        """One turn's calls with their observations → a note to add to each, mostly empty."""
        keys = [(call.name, _same(call.arguments), text) for call, text in results]
        if not self._seen.issuperset(keys):
            self._turns.clear()  # something new has come of this turn: so far it was no loop
        self._seen.update(keys)
        self._turns.update(set(keys))
        return [self._note(key) for key in keys]

    def _note(self, key: tuple[str, str, str]) -> str:
        name, arguments, _ = key
        turns = self._turns[key]
        if turns >= self.stop:
            shown = shorten(f"{name}({arguments})", MAX_SHOWN_CHARS)
            self.stopped = f"{shown} was called in {turns} turns with the same result each time"
        if turns < self.warn:
            return ""
        return (
            f"\n\n[Note: this is turn {turns} in which you make this very call, and its result is "
            "the same. Do not repeat it: use the result, try something else, or answer the user.]"
        )


def _same(arguments: str) -> str:
    """Arguments that mean the same are the same: white space and key order do not count."""
    try:
        return SORTED.encode(json.loads(arguments or "{}"))
    except (ValueError, RecursionError):
        return arguments
