"""The table of `freya-teach progress --collect`: a room, exercise by exercise. (start)"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from freya_teach.cli.words import fail

if TYPE_CHECKING:
    from freya_teach.lab.class_progress import ClassProgress

MOST_NAMES = 3


def show_class(folder: Path, *, as_json: bool, as_csv: bool) -> None:
    """Print the progress of every learner whose file lies in the folder."""
    from freya_teach.lab import class_progress

    try:
        room = class_progress.collect(folder.expanduser())
    except OSError as problem:
        fail(str(problem))
    if as_json:
        print(json.dumps(class_progress.as_json(room), indent=2, ensure_ascii=False))
        return
    for line in room.unread:
        print(f"not read: {line}", file=sys.stderr)
    if not room.learners:
        fail(
            f"There is no progress file in {folder}. Put the learners' files there, as ada.json or "
            "ada/progress.json. A learner makes one with `freya-teach progress --save ada.json`."
        )
    if as_csv:
        print(class_progress.as_csv(room), end="")
    else:
        _print(room)


def _print(room: ClassProgress) -> None:
    from rich.console import Console
    from rich.table import Table

    from freya_teach.lab.exercises import every_exercise

    people = len(room.learners)
    table = Table("exercise", "passed", "not yet")
    for exercise in every_exercise():
        if exercise.section in room.begun:
            missing = [one.name for one in room.learners if exercise.id not in one.passed]
            table.add_row(exercise.id, f"{people - len(missing)} of {people}", _names(missing))
    learners = Table("learner", "passed")
    for one in room.learners:
        learners.add_row(one.name, str(len(one.passed)))
    console = Console(highlight=False, markup=False)
    console.print(learners)
    console.print(table)
    for exercise_id in room.stuck:
        console.print(f"Fewer than half have passed {exercise_id}.")


def _names(missing: list[str]) -> str:
    """A few names help; many are a number."""
    if len(missing) > MOST_NAMES:
        return f"{len(missing)} learners"
    return ", ".join(missing)
