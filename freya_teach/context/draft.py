"""A history that is being made smaller, one small step after the other. (chapter 7.3)

    old results shortened, oldest first → a cut, and the next one → newest results → the summary

Each step costs the model more than the one before, so whoever takes them stops at the first that
is enough. A step that saves nothing is not taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from freya_teach.context.numbered import OMITTED, Numbered, Plan, is_summary, total
from freya_teach.context.shortening import LEVELS, OLD_RESULT_CHARS, shortened
from freya_teach.context.window import Cut, Size, cuts, kept_sizes
from freya_teach.llm.messages import AssistantMessage, Message, ToolMessage, UserMessage


class Draft:
    """A history as it would be, step by step, with its size kept up to date."""

    def __init__(self, now: Numbered, size: Size) -> None:
        self.now = now
        self.size = size
        self.messages = list(now.messages)
        """With the shortened results in their places."""
        self.system, self.start = now.places()
        self.head = list(range(self.system, self.start))
        """The places of the summary and the remark that stay."""
        self.cut = Cut(self.start)
        self.total = total(now.messages, size)

    def results(self, start: int, end: int) -> list[int]:
        """The places of the tool results between two places."""
        return [i for i in range(start, end) if isinstance(self.messages[i], ToolMessage)]

    def shorten(self, place: int, change: Callable[[ToolMessage], ToolMessage]) -> None:
        """Put a shorter result in its place, if it costs less."""
        old = self.messages[place]
        if isinstance(old, ToolMessage) and (new := change(old)) is not old:
            saved = self.size(old) - self.size(new)
            if saved > 0:
                self.messages[place] = new
                self.total -= saved

    def reductions(self) -> Iterator[None]:
        """Do one step after the other, and stop before the first and after each."""
        yield
        newest = _newest_round(self.messages)
        for place in self.results(self.start, newest):
            self.shorten(place, lambda message: shortened(message, OLD_RESULT_CHARS))
            yield
        yield from self._cutting()
        for level in LEVELS:
            for place in self.results(newest, len(self.messages)):
                self.shorten(place, partial(shortened, limit=level))
                yield
        for place in [i for i in self.head if is_summary(self.messages[i])]:
            self._leave_out_summary(place)
            yield
        yield from self._cutting()  # once something is missing, the remark costs nothing more

    def _cutting(self) -> Iterator[None]:
        """One cut after the other, each of which leaves less than the one before."""
        found = cuts(self.messages, self.start)
        sizes = kept_sizes(self.messages, found, self.start, self.size)
        present = found.index(self.cut)
        others = self.total - sizes[present] + self._cost_of_remark()
        for cut, left in zip(found[present:], sizes[present:], strict=True):
            if others + left < self.total:
                self.cut, self.total = cut, others + left
                yield

    def _leave_out_summary(self, place: int) -> None:
        saved = self.size(self.messages[place]) - self._cost_of_remark()
        if saved > 0:
            self.head.remove(place)
            self.total -= saved

    def _something_is_missing(self) -> bool:
        return self.cut.at > self.start or len(self.head) < self.start - self.system

    def _has_remark(self) -> bool:
        return any(self.messages[place] == OMITTED for place in self.head)

    def _cost_of_remark(self) -> int:
        """Tokens that the first loss costs by being told."""
        return 0 if self._something_is_missing() or self._has_remark() else self.size(OMITTED)

    def plan(self) -> Plan | None:
        """What `History.replace` needs; None when nothing has changed."""
        shorter = [i for i in range(self.cut.at, len(self.messages)) if self._is_new(i)]
        last = max([self.cut.at - 1, *shorter])
        if not (shorter or self._something_is_missing()):
            return None
        remark = [OMITTED] if self._something_is_missing() and not self._has_remark() else []
        kept = self.cut.kept(0, last + 1)
        tail = [self.messages[i] if self._is_new(i) else self.now.first + i for i in kept]
        head = [self.now.first + i for i in (*range(self.system), *self.head)]
        through = self.now.first + last
        return Plan(self.now.revision, through, (*head, *remark, *tail), self.total)

    def _is_new(self, place: int) -> bool:
        return self.messages[place] is not self.now.messages[place]


def _newest_round(messages: Sequence[Message]) -> int:
    """Where the newest round of the newest turn begins: its results have not been read yet."""
    for place in range(len(messages) - 1, -1, -1):
        if isinstance(messages[place], AssistantMessage):
            return place
        if isinstance(messages[place], UserMessage):
            break
    return len(messages)
