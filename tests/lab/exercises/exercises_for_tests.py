"""An exercise about nothing, for tests of the kit around it."""

from typing import Any

from freya_teach.lab.exercises import Answer, Exercise


async def call_it(answer: Answer) -> None:
    """Call the answer once, with something that could be changed; anything passes."""
    await answer.call({"city": "Oslo"})


def exercise(check: Any = call_it, **settings: Any) -> Exercise:
    """Make an exercise whose time is only over on purpose."""
    about: dict[str, Any] = {
        "id": "9.9-a",
        "title": "It works.",
        "name": "answer",
        "hints": ("Look.", "Look again."),
        "solution": str,
        "stub": None,
        "wrong": (),
        "seconds": 60.0,
    }
    return Exercise(check=check, **{**about, **settings})
