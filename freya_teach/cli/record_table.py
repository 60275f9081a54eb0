"""`freya-teach record --table`: every recording, where it comes from, and its age. (chapter 8.1)"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from freya_teach.cli.words import fail, printable

if TYPE_CHECKING:
    from pathlib import Path

    from freya_teach.lab.provenance import Entry


def show_table(
    folder: Path | None, section: str, scenarios: list[str] | None, *, as_json: bool
) -> None:
    """Print the recordings of one section, or of all."""
    from freya_teach.errors import ConfigError
    from freya_teach.lab.provenance import entries
    from freya_teach.paths import course_folder

    try:
        place = folder or course_folder("fixtures")
        found = [e for e in entries(place) if section in ("", e.section)]
    except ConfigError as problem:
        fail(str(problem))
    chosen = [e for e in found if not scenarios or e.scenario in scenarios]
    if not chosen:
        asked = " ".join(filter(None, [section, *(scenarios or ())]))
        fail(f"There are no recordings{f' of {asked}' if asked else ''} in {place}.")
    today = datetime.now(UTC).date()
    for entry in chosen:
        age = entry.age_days(today)
        print(json.dumps({**asdict(entry), "age_days": age}) if as_json else _line(entry, age))


def _line(entry: Entry, age: int | None) -> str:
    name = f"{entry.section}/{entry.scenario}"
    count = "1 exchange" if len(entry.files) == 1 else f"{len(entry.files)} exchanges"
    how_old = "no date" if age is None else f"{entry.date}, {_days(age)}"
    line = f"{name:<38} {count:<12} {entry.kind:<9} {entry.model:<22} {how_old}"
    return printable(f"{line}\n    {entry.origin}")


def _days(age: int) -> str:
    """An age in words; a clock that is a day behind makes no riddle of it."""
    if age <= 0:
        return "today"
    return "1 day old" if age == 1 else f"{age} days old"
