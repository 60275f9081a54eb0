"""Two tool calls as a whole answer, in pieces, and cut off, by a very small model. (chapter 4.2)"""

from __future__ import annotations

from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.lab.scenarios import Scenario, Stage
from freya_teach.lab.scenarios.section_2_1 import INSTRUCTIONS, QUESTION, examples

TOKENS = 50
"""Where the answer is cut off: in the arguments of the second call."""


async def whole(stage: Stage) -> None:
    """The answer in one piece."""
    told = stage.kernel().agent([get_current_weather, calculate], instructions=INSTRUCTIONS)
    await told.run(QUESTION, session=examples())


async def stream(stage: Stage) -> None:
    """The same request, answered in pieces."""
    kernel = stage.kernel(stream=True)
    told = kernel.agent([get_current_weather, calculate], instructions=INSTRUCTIONS)
    await told.run(QUESTION, session=examples())


async def too_long(stage: Stage) -> None:
    """The same once more, with a limit that ends the answer within a call; and no second turn."""
    kernel = stage.kernel(stream=True, max_output_tokens=TOKENS, max_tokens=1)
    told = kernel.agent([get_current_weather, calculate], instructions=INSTRUCTIONS)
    await told.run(QUESTION, session=examples())


SCENARIOS: dict[str, Scenario] = {"whole": whole, "stream": stream, "too-long": too_long}
