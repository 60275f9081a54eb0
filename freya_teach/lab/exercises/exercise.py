"""What an exercise is, what a check may say, and what a learner is told. (start)

    async def check_double(answer: Answer) -> None:
        received = await answer.call(4)
        expect(received == 8, "Look at what happens to 4.", received=received)

    EXERCISES = (
        Exercise(id="1.1-a", title="Double it", name="double", check=check_double, ...),
    )

A check looks at behaviour only. It returns when all is well and raises `NotYet` when it is not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from freya_teach.lab.exercises.wording import short

if TYPE_CHECKING:
    from freya_teach.lab.exercises.answer import Answer

State = Literal["passed", "not done", "wrong", "raised", "stopped"]
NOTHING = object()


class Finding(Exception):
    """Why an answer does not pass; its text is read by the learner."""

    state: ClassVar[State] = "wrong"


class NotYet(Finding):
    """Wrong: says what to look at, with what was received."""


class NotDone(Finding):
    """The stub is still there."""

    state = "not done"


class Raised(Finding):
    """Student code raised; `problem` is what."""

    state = "raised"

    def __init__(self, text: str, problem: BaseException) -> None:
        super().__init__(text)
        self.problem = problem


class Stopped(Finding):
    """Student code did not end in its time."""

    state = "stopped"


@dataclass(frozen=True, slots=True)
class Wrong:
    """A typical wrong answer, and a part of the hint that it must earn."""

    answer: Any
    earns: str


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise, declared once; `name` is what the learner's function or value is called."""

    id: str
    title: str
    """What the learner reads when it is passed: one sentence about what holds now."""
    name: str
    check: Callable[[Answer], Awaitable[None]]
    hints: tuple[str, ...]
    solution: Any
    stub: Any
    wrong: tuple[Wrong, ...]
    seconds: float = 5.0
    """How long one call of the learner's function may take."""
    may_change_arguments: bool = False
    """Whether changing what it is given is part of the task."""
    none_is_an_answer: bool = False
    """Whether a function that gives back None can be right."""

    @property
    def section(self) -> str:
        """`2.3-a` belongs to section `2.3`."""
        return self.id.rpartition("-")[0]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an answer; `text` is the same on every machine and starts with ✓, ✗ or …."""

    passed: bool
    state: State
    text: str

    def __str__(self) -> str:
        return self.text


def expect(holds: object, hint: str, *, received: Any = NOTHING) -> None:
    """Raise `NotYet` with the hint, and with what was received, unless it holds."""
    if not holds:
        raise NotYet(hint if received is NOTHING else f"{hint}\nReceived: {short(received)}")
