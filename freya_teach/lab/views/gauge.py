"""The context gauge: how full the window is, turn by turn, and what a compaction did. (chapter 7.1)

    lab.view.gauge(history, window=8_192, fixed=900, answer=1_024)
    lab.view.gauge([("before", old), ("after", new)], window=8_192)

Of one history, each step is the state after another turn; of several, each step is the next one,
compared with the one before. Tokens are estimates, by the kernel's counter if no other is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from freya_teach.context.numbered import Numbered, is_summary
from freya_teach.context.window import turn_starts
from freya_teach.lab.views.gauge_levels import Gauge, Level, Segment
from freya_teach.lab.views.gauge_picture import draw
from freya_teach.lab.views.view import View
from freya_teach.llm.messages import Message
from freya_teach.llm.request_tokens import message_tokens
from freya_teach.llm.tokens import CalibratedCounter, TokenCounter

History = Sequence[Message]
States = Sequence[tuple[str, History]]


@dataclass(slots=True)
class _Measure:
    """Turns histories into levels; a turn keeps its number from one state to the next."""

    fixed: int
    counter: TokenCounter
    known: list[tuple[int, Message]]
    """The turns of the state before: their numbers and requests."""

    def level(self, label: str, history: History) -> Level:
        """The state in tokens, segment by segment."""
        system, start = Numbered(tuple(history)).places()
        turns = turn_starts(history, start)
        fixed = self.fixed + self._tokens(history[:system])
        segments = [Segment("fixed", "system and tools", fixed)]
        for message in history[system:start]:
            name = "summary" if is_summary(message) else "remark"
            segments.append(Segment("head", name, self._tokens([message])))
        first = turns[0] if turns else len(history)
        segments.append(Segment("turn", "no request", self._tokens(history[start:first])))
        ends = [*turns[1:], len(history)][: len(turns)]
        numbers = self._numbers([history[at] for at in turns])
        for number, at, end in zip(numbers, turns, ends, strict=True):
            tokens, said = self._tokens(history[at:end]), history[at].text
            segments.append(Segment("turn", f"turn {number}", tokens, said))
        return Level(label, tuple(each for each in segments if each.tokens))

    def _tokens(self, messages: History) -> int:
        return sum(message_tokens(message, self.counter) for message in messages)

    def _numbers(self, requests: list[Message]) -> list[int]:
        """The turns' numbers: the old one, for a request that was there before, else the next."""
        numbers: list[int] = [0] * len(requests)
        before = len(self.known)
        for place in range(len(requests) - 1, -1, -1):
            same = [i for i in range(before) if self.known[i][1] == requests[place]]
            if same:
                before = same[-1]
                numbers[place] = self.known[before][0]
        last = max([0, *(number for number, _ in self.known)])
        for place, number in enumerate(numbers):
            if not number:
                last += 1
                numbers[place] = last
        self.known = list(zip(numbers, requests, strict=True))
        return numbers


def gauge(
    history: History | States,
    *,
    window: int,
    fixed: int = 0,
    answer: int = 0,
    counter: TokenCounter | None = None,
) -> View[Gauge]:
    """How full the window is; all numbers are tokens. The last step is shown first.

    `fixed` is what every request has beside the history, `answer` the room kept for the answer.
    Raises `ValueError` for a window that has no room beside the answer.
    """
    if not 0 <= answer < window:
        raise ValueError(
            f"An answer of {answer:,} tokens leaves no room in a window of {window:,}."
        )
    measure = _Measure(fixed, counter or CalibratedCounter(), [])
    several = bool(history) and isinstance(history[0], tuple)
    if several:
        levels = [measure.level(label, each) for label, each in cast(States, history)]
        frames = [
            Gauge(window, answer, tuple(levels[: n + 1]), len(levels)) for n in range(len(levels))
        ]
    else:
        levels = [measure.level(*state) for state in _after_each_turn(cast(History, history))]
        frames = [Gauge(window, answer, (level,), 1) for level in levels]
    return View(frames, draw, step=len(frames))


def _after_each_turn(history: History) -> Iterator[tuple[str, History]]:
    _, start = Numbered(tuple(history)).places()
    turns = turn_starts(history, start)
    ends = [*turns[1:], len(history)]
    for number, end in enumerate(ends, start=1):
        label = f"after turn {number} of {len(turns)}" if turns else "no turn yet"
        yield label, history[:end]
