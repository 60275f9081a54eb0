"""Every recording, where it comes from, and how old it is. (chapter 8.1)

    entries(course_folder("fixtures"))      # one entry per scenario
    as_markdown(entries(...))               # fixtures/README.md, word for word

A table in the repository holds dates, which stay true; an age is worked out when it is asked for.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from freya_teach.lab.recording import load_recording
from freya_teach.llm.messages import Json
from freya_teach.llm.wirejson import as_list, as_text

TABLE = "README.md"
INTRO = """\
# Where the answers come from

Every exchange that answers a notebook, one line per scenario. **recorded**: that server answered,
on that day, to the command that stands in the file. **authored**: somebody wrote the answer after
the documents named here, on that day, and no model was asked. Each file says more, under
`provenance`. (`4.1/vocabulary.md` says whose vocabulary that is.)

`freya-teach record --table` shows the same with ages, and `freya-teach record 2.1 --compare` what a
server answers differently today. This page is written by `make fix` and compared by `make check`.
"""
COLUMNS = ("scenario", "files", "kind", "model", "from", "date")


@dataclass(frozen=True, slots=True)
class Entry:
    """The exchanges of one scenario that have the same origin."""

    section: str
    scenario: str
    files: tuple[str, ...]
    kind: str
    model: str
    origin: str
    """Which server answered, or after which documents it was written."""
    date: str
    """As in ISO 8601; empty when the file does not say."""

    def age_days(self, today: dt.date) -> int | None:
        """Days since then, or None when the file has no date that can be read."""
        try:
            return (today - dt.date.fromisoformat(self.date)).days
        except ValueError:
            return None


def entries(fixtures: Path) -> list[Entry]:
    """All scenarios in the order of their sections. Raises `ConfigError` for a broken file."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for path in sorted(fixtures.glob("*/*/*.json"), key=_place):
        recording = load_recording(path)
        found = recording.provenance
        origin = (
            as_text(found["kind"]),
            recording.model,
            _origin(found),
            as_text(found.get("date")),
        )
        groups.setdefault((*_place(path)[1:3], *origin), []).append(path.stem)
    return [
        Entry(section, scenario, tuple(files), *origin)
        for (section, scenario, *origin), files in groups.items()
    ]


def _place(path: Path) -> tuple[list[int], str, str, str]:
    """For sorting: section 10.1 comes behind 9.1, and a name behind all numbers."""
    section = path.parent.parent.name
    numbers = section.split(".")
    order = [int(n) for n in numbers] if all(n.isdecimal() for n in numbers) else [10**6]
    return order, section, path.parent.name, path.name


def _origin(provenance: dict[str, Json]) -> str:
    documents = [as_text(document) for document in as_list(provenance.get("written_from"))]
    server = [as_text(provenance.get(name)) for name in ("server", "weights")]
    return "; ".join(part for part in (*server, *documents) if part)


def as_markdown(found: list[Entry]) -> str:
    """The page `fixtures/README.md`."""
    rows = [COLUMNS, tuple("---" for _ in COLUMNS), *map(_row, found)]
    return INTRO + "\n" + "".join(f"| {' | '.join(map(_cell, row))} |\n" for row in rows)


def _row(entry: Entry) -> tuple[str, ...]:
    name = f"{entry.section}/{entry.scenario}"
    return (f"`{name}`", ", ".join(entry.files), entry.kind, entry.model, entry.origin, entry.date)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
