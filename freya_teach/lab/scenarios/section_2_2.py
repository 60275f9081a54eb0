"""ReAct in plain text and with the wire's own tool calls, with a very small model. (chapter 2.2)"""

from __future__ import annotations

from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.lab.scenarios import Scenario, Stage
from freya_teach.lab.scenarios.section_2_1 import INSTRUCTIONS, QUESTION, examples
from freya_teach.llm.messages import Json

FORMAT = """You answer questions with the help of tools. Think in this format, one line each:

Thought: what you need to find out
Action: tool[input]
Observation: the result of the action, which is given to you

The tools are:
get_current_weather[city]: the weather in a city
calculate[expression]: the result of an arithmetic expression

When you know everything, write:
Final Answer: your answer

Example:
"""
WEATHER_EXAMPLE = """Question: What is the weather in Oslo today?
Thought: I need the weather in Oslo.
Action: get_current_weather[Oslo]
Observation: snow, -3 degrees
Thought: I know everything.
Final Answer: In Oslo it is snow and -3 degrees.

"""
SUM_EXAMPLE = """Question: How much is 12 * 7?
Thought: I need to calculate 12 * 7.
Action: calculate[12 * 7]
Observation: 84
Thought: I know everything.
Final Answer: 12 * 7 = 84.

"""
SUM_PROMPT = FORMAT + WEATHER_EXAMPLE + SUM_EXAMPLE + "Question: How much is 15 * 8?"
WEATHER_PROMPT = FORMAT + WEATHER_EXAMPLE + "Question: What is the weather in {city} today?"
JSON_PROMPT = """Answer the question with the help of tools. The tools are:

get_current_weather: the weather in a city
calculate: the result of an arithmetic expression

Use this format:

Question: the question
Thought: what you need to find out
Action: the name of a tool
Action Input: its arguments as JSON
Observation: the result, which is given to you
Final Answer: the answer

Example:
Question: What is the weather in Oslo today?
Thought: I need the weather in Oslo.
Action: get_current_weather
Action Input: {"city": "Oslo"}
Observation: snow, -3 degrees
Final Answer: In Oslo it is snow and -3 degrees.

Question: What is the weather in Beijing today?"""
OBSERVATION = "Observation:"
STOP = [OBSERVATION, "\n\nQuestion:"]
"""Where the model would begin to write our part: a tool's result, or the next question."""


def text_request(prompt: str, *, stop: bool = True, written: str = "") -> dict[str, Json]:
    """A request in plain text, at most 120 tokens of answer.

    With `stop` it ends where our part begins. `written` is what stands in the answer already: the
    model goes on behind it (and this server repeats it in its answer).
    """
    messages = [{"role": "user", "content": prompt}]
    if written:
        messages.append({"role": "assistant", "content": written})
    body: dict[str, Json] = {"messages": messages, "max_tokens": 120}
    return body | {"stop": STOP} if stop else body


async def text_react(stage: Stage) -> None:
    """The format is followed: an action, we add the observation, and the model answers."""
    answer = await stage.ask(text_request(SUM_PROMPT))
    action = answer["choices"][0]["message"]["content"]
    await stage.ask(
        text_request(SUM_PROMPT, written=f"{action}{OBSERVATION} {calculate('15 * 8')}\n")
    )


async def text_react_no_stop(stage: Stage) -> None:
    """The same prompt without the stop sequence: the model writes the observation itself."""
    await stage.ask(text_request(SUM_PROMPT, stop=False))


async def text_react_prose(stage: Stage) -> None:
    """Prose before the thought, and a city that does not exist."""
    await stage.ask(text_request(WEATHER_PROMPT.format(city="Beijing")))


async def text_react_no_action(stage: Stage) -> None:
    """No action at all: the weather is invented."""
    await stage.ask(text_request(WEATHER_PROMPT.format(city="Shanghai")))


async def text_react_wrong_tool(stage: Stage) -> None:
    """A tool that nobody has, and an input that is no JSON."""
    await stage.ask(text_request(JSON_PROMPT))


async def native_zero_shot(stage: Stage) -> None:
    """Tools on the wire and no example: the model calls none."""
    kernel = stage.kernel()
    await kernel.agent([get_current_weather, calculate], instructions=INSTRUCTIONS).run(QUESTION)


async def agent_stream(stage: Stage) -> None:
    """Tools on the wire, two examples, and the answers in pieces."""
    kernel = stage.kernel(stream=True)
    told = kernel.agent([get_current_weather, calculate], instructions=INSTRUCTIONS)
    await told.run(QUESTION, session=examples())


SCENARIOS: dict[str, Scenario] = {
    "text-react": text_react,
    "text-react-no-stop": text_react_no_stop,
    "text-react-prose": text_react_prose,
    "text-react-no-action": text_react_no_action,
    "text-react-wrong-tool": text_react_wrong_tool,
    "native-zero-shot": native_zero_shot,
    "agent-stream": agent_stream,
}
