"""The exercises, each kept once: check, hints, solution and typical wrong answers. (start)

    verdict = await check("2.3-a", observe)   # Verdict(passed, state, text)
    hint("2.3-a")                             # the next hint
    reveal("2.3-a")                           # one solution

A section's exercises stand in `section_2_3.py`; `exercise.py` says how one is written.
"""

from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, NotYet, Verdict, Wrong, expect
from freya_teach.lab.exercises.judge import check, hint, judge, reveal
from freya_teach.lab.exercises.registry import every_exercise, find
from freya_teach.lab.exercises.shut import why_shut
from freya_teach.lab.exercises.wording import short

__all__ = [
    "Answer",
    "Exercise",
    "NotYet",
    "Verdict",
    "Wrong",
    "check",
    "every_exercise",
    "expect",
    "find",
    "hint",
    "judge",
    "reveal",
    "short",
    "why_shut",
]
