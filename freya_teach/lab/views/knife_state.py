"""Where the knife stands, and what is known about that cut. (chapter 7.2)"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from freya_teach.context.numbered import Numbered, summary_message
from freya_teach.context.window import Cut, cuts, system_end, turn_starts
from freya_teach.lab.gateway.question import Wire
from freya_teach.lab.source_compactor import source_safe_index
from freya_teach.lab.views.protocol_rows import Row, Rows, gemini_body, openai_body, rows_of
from freya_teach.lab.views.protocol_verdicts import Verdict, verdict
from freya_teach.llm.gemini import UNSIGNED
from freya_teach.llm.messages import Message

SUMMARY = summary_message("What was said before.")
NEXT = Row("user", "And then?")
"""What a history is judged with that ends with an answer: alone, it would be no request."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """Calls and their results: the row that calls, and the last row with a result of it."""

    first: int
    last: int
    letters: str


@dataclass(frozen=True, slots=True)
class Knife:
    """A history and a place in it: the rows from `at` on stay, and the system messages."""

    rows: Rows
    start: int
    """The first row that can be cut off."""
    newest: int | None
    """The row of the newest request, if there is a request."""
    kernel_cuts: tuple[Cut, ...]
    source_at: int
    openai: str
    gemini: str
    at: int
    summary: bool = False
    """Whether a summary is put in the place of what goes."""

    def check(self, row: int) -> None:
        """Raises `ValueError` when the knife cannot stand before this row."""
        last = len(self.rows) - 1
        if not self.start <= row <= last:
            says = f"the knife can stand before rows {self.start} to {last}"
            raise ValueError(f"There is no cut before row {row}: {says}.")

    def places(self) -> list[Knife]:
        """The same history with the knife at every place."""
        return [replace(self, at=at) for at in range(self.start, len(self.rows))]

    # ---- this cut --------------------------------------------------------------------------

    @property
    def kept(self) -> tuple[int, ...]:
        """The rows that stay."""
        return (*range(self.start), *range(self.at, len(self.rows)))

    @property
    def lost(self) -> range:
        """The rows that go."""
        return range(self.start, self.at)

    @property
    def request_survives(self) -> bool:
        """Whether the newest request is among what stays."""
        return self.newest is None or self.newest >= self.at

    @property
    def kernel_cut(self) -> Cut | None:
        """The kernel's cut at this place, if this is one."""
        return next((cut for cut in self.kernel_cuts if cut.at == self.at), None)

    @property
    def brackets(self) -> tuple[Bracket, ...]:
        """Calls and results, bracketed together."""
        return tuple(_brackets(self.rows))

    @property
    def torn(self) -> tuple[Bracket, ...]:
        """The brackets that the knife goes through."""
        return tuple(each for each in self.brackets if each.first < self.at <= each.last)

    @property
    def is_answered(self) -> bool:
        """Whether the history ends with an answer, so that the user speaks next."""
        return self.rows[-1].role == "assistant" and not self.rows[-1].calls

    def verdict(self, wire: Wire) -> Verdict:
        """What the provider says to what is left."""
        return self._judged(wire, self.kept)

    def kernel_verdict(self, wire: Wire) -> Verdict | None:
        """What the provider says to what the kernel would leave here, with the request in it."""
        cut = self.kernel_cut
        return self._judged(wire, cut.kept(self.start, len(self.rows))) if cut else None

    def _judged(self, wire: Wire, places: Sequence[int]) -> Verdict:
        rows = [self.rows[place] for place in places]
        if self.summary and self.lost:
            rows[self.start : self.start] = rows_of([SUMMARY])
        if self.is_answered:
            rows.append(NEXT)
        if wire == "openai":
            return verdict(wire, self.openai, openai_body(tuple(rows), self.openai))
        return verdict(wire, self.gemini, gemini_body(tuple(rows)))


def bench(history: Sequence[Message], keep_turns: int, openai: str, gemini: str) -> Knife:
    """The history under the knife, nothing cut off. Raises `ValueError` for an empty one."""
    start = system_end(history)
    if start == len(history):
        raise ValueError("There is nothing to cut: the history has no message but the system's.")
    _, first_cut = Numbered(tuple(history)).places()
    return Knife(
        tuple(map(_signed, rows_of(history))),
        start,
        max(turn_starts(history, start), default=None),
        tuple(cuts(history, first_cut)),
        start + source_safe_index(history[start:], keep_turns),
        openai,
        gemini,
        start,
    )


def _signed(row: Row) -> Row:
    """Give calls without a signature the placeholder, so that only the cut is judged."""
    if not row.calls or row.calls[0].signature:
        return row
    return replace(row, calls=(replace(row.calls[0], signature=UNSIGNED), *row.calls[1:]))


def _brackets(rows: Rows) -> Iterator[Bracket]:
    for first, row in enumerate(rows):
        if row.calls:
            last = first
            while last + 1 < len(rows) and rows[last + 1].role == "tool":
                last += 1
            yield Bracket(first, last, ", ".join(call.letter for call in row.calls))
