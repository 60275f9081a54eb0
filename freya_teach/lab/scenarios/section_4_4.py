"""One failed call and three texts about it: what a very small model does next. (chapter 4.4)"""

from __future__ import annotations

from functools import partial

from freya_teach.lab.sample_tools import get_current_weather
from freya_teach.lab.scenarios import Scenario, Stage
from freya_teach.lab.scenarios.section_2_1 import INSTRUCTIONS
from freya_teach.llm.messages import Json
from freya_teach.tools.tool import tool

OBSERVATIONS = {
    "error": "error",
    "trace": """\
Traceback (most recent call last):
  File "/srv/agent/tools/runner.py", line 88, in run
    value = tool(**arguments)
  File "/srv/agent/tools/weather.py", line 41, in get_current_weather
    row = TABLE[city]
KeyError: 'Bejing'""",
    "guide": "No weather is known for 'Bejing'. Did you mean 'Beijing'?",
}
"""What the model reads after its call with "Bejing". The first two are what one often sees."""


def asked(city: str) -> dict[str, Json]:
    """A user's question."""
    return {"role": "user", "content": f"What is the weather in {city} today?"}


def called(number: str, city: str) -> dict[str, Json]:
    """The model's call for a city."""
    function: dict[str, Json] = {
        "name": "get_current_weather",
        "arguments": f'{{"city": "{city}"}}',
    }
    call: dict[str, Json] = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def observed(number: str, text: str) -> dict[str, Json]:
    """What came back of it."""
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": text}


def said(text: str) -> dict[str, Json]:
    """The model's answer."""
    return {"role": "assistant", "content": text}


OSLO = '{"city":"Oslo","condition":"snow","temperature_celsius":-3}'
LIMA = '{"city":"Lima","condition":"cloudy","temperature_celsius":19}'
SHANGHAI = '{"city":"Shanghai","condition":"light rain","temperature_celsius":18}'

A_SUCCESS = [
    asked("Oslo"),
    called("1a", "Oslo"),
    observed("1a", OSLO),
    said("In Oslo it is snow and -3 degrees."),
]
ANOTHER_SUCCESS = [
    asked("Lima"),
    called("2a", "Lima"),
    observed("2a", LIMA),
    said("In Lima it is cloudy and 19 degrees."),
]


def a_correction(observation: str) -> list[Json]:
    """A mistake, what was read of it, and the call that put it right."""
    return [
        asked("Shangai"),
        called("2a", "Shangai"),
        observed("2a", observation),
        called("2b", "Shanghai"),
        observed("2b", SHANGHAI),
        said("In Shanghai it is light rain and 18 degrees."),
    ]


EXAMPLES: dict[str, list[Json]] = {
    "a success": [*ANOTHER_SUCCESS],
    "after guidance": a_correction("No weather is known for 'Shangai'. Did you mean 'Shanghai'?"),
    "after error": a_correction("error"),
}
"""What the model was shown before, by what it shows."""


def body(observation: str, example: str = "after guidance") -> dict[str, Json]:
    """The request after the failed call, with an earlier question as one of the `EXAMPLES`.

    All of the conversation is ours, the failed call as well, so that the observation is the only
    thing that differs. What the model says to it is its own.
    """
    weather = tool(get_current_weather)
    described: dict[str, Json] = {
        "name": weather.name,
        "description": weather.description,
        "parameters": dict(weather.parameters),
    }
    return {
        "messages": [
            {"role": "system", "content": INSTRUCTIONS},
            *A_SUCCESS,
            *EXAMPLES[example],
            asked("Bejing"),
            called("3a", "Bejing"),
            observed("3a", observation),
        ],
        "tools": [{"type": "function", "function": described}],
    }


async def after(stage: Stage, name: str, example: str = "after guidance") -> None:
    """The next move after one of the observations."""
    await stage.ask(body(OBSERVATIONS[name], example))


SCENARIOS: dict[str, Scenario] = {
    **{name: partial(after, name=name) for name in OBSERVATIONS},
    "guide-not-shown": partial(after, name="guide", example="a success"),
    "error-shown": partial(after, name="error", example="after error"),
}
