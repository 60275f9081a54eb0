"""Which sections fit into a workshop, in which order, with breaks. Plans, and nothing else. (start)

The sections on which most others build come first, so that what is chosen never hangs in the air;
a section without time for its first exercise is left for another day. What is left of the time
brings back further exercises, then audits, then the tables of other people's designs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from freya_teach.lab.workshop.sections import Kind, Piece, Section

FEWEST_MINUTES = 30
OPENING = 5
CLOSING = 5
BREAK = 10
LONG_BREAK = 30
MOST_WITHOUT_BREAK = 90
HALF_DAY = 150
"""After so many minutes the next break is a long one; two half days are parted there."""
WORTH_A_BREAK = 45
"""Minutes after which a break between two sections is better than one in the middle of the next."""
BROUGHT_BACK: tuple[Kind, ...] = ("exercise", "audit", "production")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a schedule. `start` counts minutes from the beginning of the workshop."""

    kind: Literal["opening", "piece", "break", "long break", "closing"]
    start: int
    minutes: int
    section: Section | None = None
    piece: Piece | None = None

    @property
    def end(self) -> int:
        """The minute at which it is over."""
        return self.start + self.minutes


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A piece of a taught section for which there is no time."""

    section: Section
    piece: Piece


@dataclass(frozen=True, slots=True)
class Schedule:
    """A plan that never takes longer than `minutes`."""

    minutes: int
    entries: tuple[Entry, ...]
    left_out: tuple[LeftOut, ...] = ()
    not_taught: tuple[Section, ...] = ()
    assumed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Needed section that is not taught before → the taught ones that need it."""

    @property
    def end(self) -> int:
        """The minute at which the workshop is over."""
        return self.entries[-1].end

    @property
    def sections(self) -> tuple[Section, ...]:
        """What is taught, in this order."""
        return tuple(dict.fromkeys(e.section for e in self.entries if e.section is not None))


Chosen = dict[Section, set[Piece]]


def plan(sections: Sequence[Section], minutes: int) -> Schedule:
    """Choose from these sections, which are in the order of the course, what fits.

    Raises `ValueError` below 30 minutes or without sections.
    """
    if minutes < FEWEST_MINUTES or not sections:
        raise ValueError(f"a workshop needs a section, and at least {FEWEST_MINUTES} minutes")
    chosen: Chosen = {}
    for section in by_importance(sections):
        if _least(section) and all(need in chosen for need in _needed(section, sections)):
            _add_if_it_fits(chosen, section, _least(section), sections, minutes)
    if not chosen:
        chosen = next(filter(None, (_beginning(s, minutes) for s in by_importance(sections))), {})
    for kind in BROUGHT_BACK:
        for section in _in_order(chosen, sections):
            for piece in section.pieces:
                if piece.kind == kind and not _is_cut(section, chosen[section]):
                    _add_if_it_fits(chosen, section, {piece}, sections, minutes)
    return Schedule(
        minutes,
        tuple(lay_out(chosen, sections)),
        tuple(_left_out(chosen, sections)),
        tuple(section for section in sections if section not in chosen),
        _assumed(_in_order(chosen, sections)),
    )


def by_importance(sections: Sequence[Section]) -> list[Section]:
    """First those that most others build on, directly or not; a section comes after its needs."""
    building: dict[Section, set[str]] = {section: set() for section in sections}
    for section in sections:
        open_needs = _needed(section, sections)
        while open_needs:
            need = open_needs.pop()
            if section.id not in building[need]:
                building[need].add(section.id)
                open_needs += _needed(need, sections)
    return sorted(sections, key=lambda section: -len(building[section]))


def lay_out(chosen: Chosen, sections: Sequence[Section]) -> list[Entry]:
    """Put the chosen pieces one after another, with a break before ninety minutes are over."""
    day = _Day()
    day.add("opening", OPENING)
    for section in _in_order(chosen, sections):
        pieces = [piece for piece in section.pieces if piece in chosen[section]]
        whole = sum(piece.minutes for piece in pieces)
        if day.stretch >= WORTH_A_BREAK and day.stretch + whole > MOST_WITHOUT_BREAK:
            day.pause()
        for piece in pieces:
            day.teach(section, piece)
    if day.stretch + CLOSING > MOST_WITHOUT_BREAK:
        day.pause()
    day.add("closing", CLOSING)
    return day.entries


class _Day:
    """The entries so far, and how long ago the last break was."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.stretch = 0
        self.since_long_break = 0

    def add(
        self,
        kind: Literal["opening", "piece", "closing"],
        minutes: int,
        section: Section | None = None,
        piece: Piece | None = None,
    ) -> None:
        self.entries.append(Entry(kind, self._now(), minutes, section, piece))
        self.stretch += minutes
        self.since_long_break += minutes

    def teach(self, section: Section, piece: Piece) -> None:
        """A piece is not interrupted, unless no stretch is long enough for it."""
        left = piece.minutes
        while left:
            room = MOST_WITHOUT_BREAK - self.stretch
            if room == 0 or room < left <= MOST_WITHOUT_BREAK:
                self.pause()
                continue
            self.add("piece", min(left, room), section, piece)
            left -= min(left, room)

    def pause(self) -> None:
        if self.since_long_break >= HALF_DAY:
            self.entries.append(Entry("long break", self._now(), LONG_BREAK))
            self.since_long_break = 0
        else:
            self.entries.append(Entry("break", self._now(), BREAK))
            self.since_long_break += BREAK
        self.stretch = 0

    def _now(self) -> int:
        return self.entries[-1].end if self.entries else 0


def _least(section: Section) -> set[Piece]:
    """The least that is worth teaching: no audits, no tables, one exercise."""
    core = {piece for piece in section.pieces if piece.kind == "core"}
    return core | set([piece for piece in section.pieces if piece.kind == "exercise"][:1])


def _add_if_it_fits(
    chosen: Chosen, section: Section, pieces: set[Piece], sections: Sequence[Section], minutes: int
) -> None:
    before = chosen.get(section, set())
    longer = {**chosen, section: before | pieces}
    if lay_out(longer, sections)[-1].end <= minutes:
        chosen[section] = before | pieces


def _beginning(section: Section, minutes: int) -> Chosen:
    """Where not even one section fits, its first pieces do, as many as there is time for."""
    taught: set[Piece] = set()
    for piece in section.pieces:
        if piece.kind == "core":
            if lay_out({section: taught | {piece}}, [section])[-1].end > minutes:
                break
            taught.add(piece)
    return {section: taught} if taught else {}


def _is_cut(section: Section, taught: set[Piece]) -> bool:
    return any(piece.kind == "core" and piece not in taught for piece in section.pieces)


def _needed(section: Section, among: Sequence[Section]) -> list[Section]:
    return [other for other in among if other.id in section.needs and other is not section]


def _in_order(chosen: Iterable[Section], sections: Sequence[Section]) -> list[Section]:
    wanted = set(chosen)
    return [section for section in sections if section in wanted]


def _left_out(chosen: Chosen, sections: Sequence[Section]) -> Iterable[LeftOut]:
    for section in _in_order(chosen, sections):
        for piece in section.pieces:
            if piece not in chosen[section]:
                yield LeftOut(section, piece)


def _assumed(taught: Sequence[Section]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for place, section in enumerate(taught):
        before = {other.id for other in taught[:place]}
        for need in section.needs:
            if need not in before:
                found[need] = (*found.get(need, ()), section.id)
    return found
