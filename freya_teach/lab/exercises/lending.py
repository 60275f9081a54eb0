"""A project goes on while a part of it is not done: the course lends its own. (chapter 9.1)"""

from __future__ import annotations

from typing import Any

from freya_teach.lab.exercises.judge import judge
from freya_teach.lab.exercises.registry import find


async def own_or_lent(exercise_id: str, given: Any) -> Any:
    """What the learner gave if it passes, else the course's solution; prints which of them it is.

    Nothing is noted as passed. Raises `ConfigError` when there is no such exercise.
    """
    exercise = find(exercise_id)
    verdict = await judge(exercise, given)
    if verdict.passed:
        print(f"{exercise.name}: your own")
        return given
    state = "not done yet" if verdict.state == "not done" else "does not pass yet"
    print(f"{exercise.name}: {state}; the course lends its own")
    return exercise.solution
