"""From an answer to a verdict, a hint or the solution: what a notebook calls. (start)"""

from __future__ import annotations

from collections import Counter
from typing import Any

from freya_teach.lab import progress
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, Finding, NotYet, Verdict
from freya_teach.lab.exercises.registry import find
from freya_teach.lab.exercises.revealing import source_of
from freya_teach.lab.exercises.student_code import Printed
from freya_teach.lab.exercises.wording import clean, clipped, error_text, own_line

MAX_PRINTED_LINES = 5
MAX_PRINTED_CHARS = 200

_hints_given: Counter[str] = Counter()
"""How far up the ladder of each exercise this notebook has come."""


async def check(exercise_id: str, answer: Any) -> Verdict:
    """Judge an answer, and note in the learner's file when it passes.

    Raises `ConfigError` when there is no such exercise; nothing that the answer does is raised.
    """
    verdict = await judge(find(exercise_id), answer)
    remark = progress.note_passed(exercise_id) if verdict.passed else ""
    if not remark:
        return verdict
    return Verdict(verdict.passed, verdict.state, f"{verdict.text}\n{remark}")


async def judge(exercise: Exercise, given: Any) -> Verdict:
    """Judge an answer, and note nothing."""
    answer = Answer(exercise, given)
    finding: Finding | None = None
    try:
        await exercise.check(answer)
    except Finding as found:
        finding = found
    except Exception as problem:  # noqa: BLE001 - a learner never sees a trace of ours
        finding = _check_failed(exercise, problem)
    if answer.findings:  # the cause, where something later was only the consequence
        finding = answer.findings[0]
    return _verdict(exercise, finding, answer.code.printed)


def hint(exercise_id: str) -> str:
    """The next hint each time it is asked for; after the last one it says how to go on."""
    exercise = find(exercise_id)
    given, total = _hints_given[exercise_id], len(exercise.hints)
    if given >= total:
        return (
            f'{exercise_id}: those were all {total} hints. lab.reveal("{exercise_id}") solves it.'
        )
    _hints_given[exercise_id] += 1
    return f"{exercise_id}, hint {given + 1} of {total}: {exercise.hints[given]}"


def reveal(exercise_id: str) -> str:
    """One solution: source to paste into a cell, or the value itself where that is the answer."""
    exercise = find(exercise_id)
    if callable(exercise.solution):
        return source_of(exercise.solution)
    return f"{exercise.name} = {exercise.solution!r}"


def _verdict(exercise: Exercise, finding: Finding | None, printed: Printed) -> Verdict:
    said = _quoted(printed)
    if finding is None:
        return Verdict(True, "passed", f"✓ {exercise.id}: passed. {exercise.title}{said}")  # noqa: FBT003
    if finding.state == "not done":
        return Verdict(False, finding.state, f"… {exercise.id}: {finding}{said}")  # noqa: FBT003
    more = f'\nlab.hint("{exercise.id}") gives a hint.'
    return Verdict(False, finding.state, f"✗ {exercise.id}: {finding}{said}{more}")  # noqa: FBT003


def _check_failed(exercise: Exercise, problem: Exception) -> NotYet:
    line = own_line(problem, getattr(exercise.check, "__globals__", None))
    return NotYet(
        f"the check cannot read what {exercise.name} gave back: {error_text(problem)}\n"
        f"    (in the check, {line})\n"
        "If your value has the kind that was asked for, the fault is the check's, not yours."
    )


def _quoted(printed: Printed) -> str:
    lines = printed.text.splitlines()
    if not lines:
        return ""
    shown = [f"    {clipped(clean(line), MAX_PRINTED_CHARS)}" for line in lines[:MAX_PRINTED_LINES]]
    if len(lines) > len(shown):
        shown.append("    … and more")
    return "\nIt printed:\n" + "\n".join(shown)
