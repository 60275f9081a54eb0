"""The progress of a whole room: who has passed what, and where it is stuck. (start)"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freya_teach.lab.exercises import every_exercise
from freya_teach.lab.progress import Damaged, Pass, read

FILE = "progress.json"
SET_ASIDE = (".before-reset-", ".damaged-")
PLACES = (
    "*.json",
    f"*/{FILE}",
    f"*/.local/share/freya-teach/{FILE}",
    f"*/Library/Application Support/freya-teach/{FILE}",
)
"""Files handed in, a folder for each learner, or a server's home folders (Linux, macOS)."""


@dataclass(frozen=True, slots=True)
class Learner:
    """One learner's file; `name` comes from its name, or from its folder's."""

    name: str
    passed: Mapping[str, Pass]


@dataclass(frozen=True, slots=True)
class ClassProgress:
    """All files of a folder. `unread` says of each that is none, or is damaged, why."""

    learners: tuple[Learner, ...]
    unread: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many have passed each exercise of the course, in its order."""
        passed = Counter(name for learner in self.learners for name in learner.passed)
        return {exercise.id: passed[exercise.id] for exercise in every_exercise()}

    @property
    def begun(self) -> list[str]:
        """The sections of which somebody has passed an exercise."""
        counts = self.counts
        sections = [exercise.section for exercise in every_exercise() if counts[exercise.id]]
        return list(dict.fromkeys(sections))

    @property
    def stuck(self) -> list[str]:
        """The exercises of begun sections that fewer than half have passed, the fewest first."""
        counts, begun = self.counts, self.begun
        few = [
            exercise.id
            for exercise in every_exercise()
            if exercise.section in begun and 2 * counts[exercise.id] < len(self.learners)
        ]
        return sorted(few, key=lambda exercise_id: counts[exercise_id])


def collect(folder: Path) -> ClassProgress:
    """Read every progress file of a folder. Raises `NotADirectoryError` when it is none."""
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder. Put the learners' files into one.")
    learners: list[Learner] = []
    unread: list[str] = []
    for path in _files(folder):
        try:
            learners.append(Learner(_name(path, folder), read(path)))
        except (Damaged, OSError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else str(problem)
            unread.append(f"{path.relative_to(folder).as_posix()}: {reason}")
    learners.sort(key=lambda learner: learner.name)
    return ClassProgress(tuple(_told_apart(learners)), tuple(unread))


def as_csv(room: ClassProgress) -> str:
    """One line for each learner, one column for each exercise: the date of the pass, or nothing."""
    ids = list(room.counts)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("learner", *ids))
    for learner in room.learners:
        dates = (learner.passed[i].first_passed if i in learner.passed else "" for i in ids)
        table.writerow((_harmless(learner.name), *map(_harmless, dates)))
    return text.getvalue()


def as_json(room: ClassProgress) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "learners": {learner.name: sorted(learner.passed) for learner in room.learners},
        "counts": room.counts,
        "stuck": room.stuck,
        "unread": list(room.unread),
    }


def _files(folder: Path) -> list[Path]:
    found = {path for place in PLACES for path in folder.glob(place) if path.is_file()}
    return sorted(p for p in found if p.name[0] != "." and not any(s in p.name for s in SET_ASIDE))


def _name(path: Path, folder: Path) -> str:
    inside = path.relative_to(folder)
    return inside.parts[0] if len(inside.parts) > 1 else path.stem


def _told_apart(learners: list[Learner]) -> Iterator[Learner]:
    """Two files of one name, such as `ada.json` and `ada/progress.json`, stay two learners."""
    seen: Counter[str] = Counter()
    for learner in learners:
        seen[learner.name] += 1
        again = f" ({seen[learner.name]})" if seen[learner.name] > 1 else ""
        yield Learner(f"{learner.name}{again}", learner.passed)


def _harmless(cell: str) -> str:
    """A spreadsheet takes a text that begins so for a formula, and runs it."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t") else cell
