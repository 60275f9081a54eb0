"""A schedule in words: for a terminal, for a page, for a program. (start)"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from freya_teach.lab.workshop.schedule import Entry, LeftOut, Schedule

MOST_NAMES = 6
WORDS = {
    "opening": "Welcome: everybody runs start_here",
    "break": "Break",
    "long break": "Long break (two half days are parted here)",
    "closing": "What we know now; the survey",
}
JUMP = (
    "To jump to a piece: click its heading, then Run > Run All Above Selected Cell. What the piece "
    "builds on is then there: the names behind the arrow."
)


def clock(minutes: int) -> str:
    """Minutes from the beginning: 75 → 1:15."""
    return f"{minutes // 60}:{minutes % 60:02}"


def as_text(schedule: Schedule) -> str:
    """The schedule for a terminal."""
    return "\n".join(_text(schedule))


def _text(schedule: Schedule) -> Iterator[str]:
    yield _summary(schedule)
    section = None
    for entry in schedule.entries:
        if entry.section and entry.section is not section:
            yield f"\n{entry.section.id} {entry.section.name}  ({entry.section.file})"
        section = entry.section or section
        yield f"{clock(entry.start):>6} {entry.minutes:>4}  {_what(entry)}{_state(entry)}"
    if schedule.left_out:
        yield "\nLeft out, with the minutes that each takes:"
        yield from (f"  {_missing(each)}" for each in schedule.left_out)
    yield from (f"\n{line}" for line in _remarks(schedule))


def as_markdown(schedule: Schedule) -> str:
    """The schedule as a page: to print, or to send out."""
    return "\n".join(_markdown(schedule)) + "\n"


def _markdown(schedule: Schedule) -> Iterator[str]:
    yield f"# A workshop of {schedule.minutes} minutes\n\n{_summary(schedule)}\n"
    yield "| from | minutes | section | what | checkpoint | state |\n|---|---|---|---|---|---|"
    for entry in schedule.entries:
        section = entry.section.id if entry.section else ""
        cell = f"`{entry.piece.cell}`" if entry.piece else ""
        names = ", ".join(f"`{name}`" for name in entry.piece.state) if entry.piece else ""
        what = _what(entry).replace("|", "\\|")
        yield f"| {clock(entry.start)} | {entry.minutes} | {section} | {what} | {cell} | {names} |"
    if schedule.left_out:
        yield "\n## Left out\n"
        yield from (f"- {_missing(each)}" for each in schedule.left_out)
    yield from (f"\n{line}" for line in _remarks(schedule))


def as_json(schedule: Schedule) -> dict[str, Any]:
    """The schedule as plain values."""
    return {
        "minutes": schedule.minutes,
        "end": schedule.end,
        "spare": schedule.minutes - schedule.end,
        "sections": [section.id for section in schedule.sections],
        "entries": [_entry_as_json(entry) for entry in schedule.entries],
        "left_out": [_left_out_as_json(each) for each in schedule.left_out],
        "not_taught": [section.id for section in schedule.not_taught],
        "assumed": {need: list(by) for need, by in schedule.assumed.items()},
    }


def _entry_as_json(entry: Entry) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": entry.kind, "start": entry.start, "minutes": entry.minutes}
    if entry.section and entry.piece:
        checkpoint = {"cell": entry.piece.cell, "state": list(entry.piece.state)}
        told |= {"section": entry.section.id, "file": entry.section.file, "checkpoint": checkpoint}
        told |= {"piece": entry.piece.kind, "title": entry.piece.title}
    return told


def _left_out_as_json(each: LeftOut) -> dict[str, Any]:
    told = {"section": each.section.id, "kind": each.piece.kind, "title": each.piece.title}
    return told | {"minutes": each.piece.minutes, "run_anyway": list(each.piece.gives)}


def _summary(schedule: Schedule) -> str:
    taught = ", ".join(section.id for section in schedule.sections) or "too short for any section"
    spare = schedule.minutes - schedule.end
    left = {0: "", 1: "; 1 minute is left over"}.get(spare, f"; {spare} minutes are left over")
    return f"{schedule.minutes} minutes: {taught}. It ends at {clock(schedule.end)}{left}."


def _remarks(schedule: Schedule) -> Iterator[str]:
    yield JUMP
    for need, by in schedule.assumed.items():
        yield f"Assumed: {need}, which is not taught here; {', '.join(by)} builds on it."
    if schedule.not_taught:
        yield f"For another day: {', '.join(section.id for section in schedule.not_taught)}."


def _what(entry: Entry) -> str:
    return entry.piece.title if entry.piece else WORDS[entry.kind]


def _state(entry: Entry) -> str:
    names = entry.piece.state if entry.piece else ()
    if not names:
        return ""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"  <- {', '.join(names[:MOST_NAMES])}{more}"


def _missing(each: LeftOut) -> str:
    needed = ""
    if each.piece.gives and each.piece.kind != "exercise":
        needed = f"; run its cells without a word, {each.piece.gives[0]} is needed later"
    kind = "" if each.piece.kind in ("core", "exercise") else f" ({each.piece.kind})"
    return f"{each.section.id}: {each.piece.title}{kind}, {each.piece.minutes} min{needed}"
