"""One exercise to try the buttons on: count the requests. (start)"""

from __future__ import annotations

from freya_teach.config import Settings
from freya_teach.kernel import build_kernel
from freya_teach.lab.demo import QUESTION
from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, Wrong, expect
from freya_teach.lab.gateway import gateway
from freya_teach.lab.policy import assistant
from freya_teach.lab.sample_tools import calculate, get_current_weather


async def check_requests(given: Answer) -> None:
    """Ask the question again, and count what arrives at the other end."""
    received = given.value
    fake = gateway(assistant)
    kernel = build_kernel(Settings.model_validate({}), fake.client())
    await kernel.agent([get_current_weather, calculate]).run(QUESTION)
    hint = HINTS.get(str(received), "Count the lines that begin with POST, for one wire.")
    expect(received == len(fake.asked), hint, received=received)


HINTS = {
    "1": "That one asked for the tools. What came back of them had to be sent, too.",
    "4": "That is both wires together. How many is it for one of them?",
}

EXERCISES = (
    Exercise(
        id="start_here-a",
        title="You know how exercises work.",
        name="requests",
        check=check_requests,
        hints=(
            "Look at the output of the first run, above, and count the lines with POST.",
            "The model is asked, it wants two tools, and it is asked again with their results.",
        ),
        solution=2,
        stub=None,
        wrong=(
            Wrong(1, "had to be sent, too"),
            Wrong(4, "both wires together"),
        ),
    ),
)
