"""The same question to a chat model and to an agent, with a very small model. (chapter 2.1)"""

from __future__ import annotations

from freya_teach.agent.history import InMemoryHistory
from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.lab.scenarios import Scenario, Stage
from freya_teach.llm.messages import Message, ToolCall, ToolMessage, assistant, user

QUESTION = "What is the weather in Beijing today, and how much is 15 * 8?"
INSTRUCTIONS = "You answer with the help of tools."


OSLO = ("Oslo", '{"city":"Oslo","condition":"snow","temperature_celsius":-3}', "12 * 7", "84")
LIMA = ("Lima", '{"city":"Lima","condition":"cloudy","temperature_celsius":19}', "9 * 31", "279")
SHANGHAI = (
    "Shanghai",
    '{"city":"Shanghai","condition":"light rain","temperature_celsius":18}',
    "17 * 23",
    "391",
)
IN_OSLO = "In Oslo it is snow and -3 degrees. 12 * 7 = 84."
IN_LIMA = "In Lima it is cloudy and 19 degrees. 9 * 31 = 279."
IN_SHANGHAI = "In Shanghai it is light rain and 18 degrees. 17 * 23 = 391."


def shown(number: int, example: tuple[str, str, str, str], answer: str) -> list[Message]:
    """One question as it should go: two calls, two results, one answer. All of it is ours."""
    city, weather, term, result = example
    first, second = f"call_{number}a", f"call_{number}b"
    return [
        user(f"What is the weather in {city} today, and how much is {term}?"),
        assistant(
            ToolCall(first, "get_current_weather", f'{{"city": "{city}"}}'),
            ToolCall(second, "calculate", f'{{"expression": "{term}"}}'),
        ),
        ToolMessage(first, weather),
        ToolMessage(second, result),
        assistant(answer),
    ]


def examples() -> InMemoryHistory:
    """A conversation that shows the model twice how it is done: few-shot prompting."""
    return InMemoryHistory([*shown(1, OSLO, IN_OSLO), *shown(2, SHANGHAI, IN_SHANGHAI)])


def unlucky_examples() -> InMemoryHistory:
    """As `examples`, with another second city: enough to make this model misspell Beijing."""
    return InMemoryHistory([*shown(1, OSLO, IN_OSLO), *shown(2, LIMA, IN_LIMA)])


async def chatbot(stage: Stage) -> None:
    """Without tools: the question alone."""
    await stage.ask({"messages": [{"role": "user", "content": QUESTION}]})


async def agent(stage: Stage) -> None:
    """With tools, and two examples of how to use them."""
    kernel = stage.kernel()
    told = kernel.agent([get_current_weather, calculate], instructions=INSTRUCTIONS)
    await told.run(QUESTION, session=examples())


async def agent_wrong_city(stage: Stage) -> None:
    """The model misspells the city, is told so by the tool, and insists."""
    kernel = stage.kernel()
    told = kernel.agent([get_current_weather, calculate], instructions=INSTRUCTIONS)
    await told.run(QUESTION, session=unlucky_examples())


SCENARIOS: dict[str, Scenario] = {
    "chatbot": chatbot,
    "agent": agent,
    "agent-wrong-city": agent_wrong_city,
}
