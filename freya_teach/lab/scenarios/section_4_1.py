"""The same question without and with a mask, and the odds of one token. (chapter 4.1)"""

from __future__ import annotations

from freya_teach.lab.scenarios import Scenario, Stage
from freya_teach.llm.messages import Json

WEATHER: dict[str, Json] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "unit": {"enum": ["celsius", "fahrenheit"]},
    },
    "required": ["city", "unit"],
    "additionalProperties": False,
}
ASKED: list[Json] = [
    {"role": "system", "content": "You write the arguments of get_weather as JSON."},
    {"role": "user", "content": "What is the weather in Beijing today?"},
]
HELD = {"type": "json_schema", "json_schema": {"name": "get_weather", "schema": WEATHER}}

READ_FILE = (
    "You call read_file by writing its arguments as JSON: path, and scope, which is workspace, "
    "src or doc."
)
BEGUN = '{"path": "notes.txt", "scope": "'
"""The beginning of the answer; the server is asked for the token that follows it."""


async def free(stage: Stage) -> None:
    """Asked for JSON in words."""
    await stage.ask({"messages": ASKED, "max_tokens": 60})


async def held(stage: Stage) -> None:
    """Asked for JSON by a schema: the server masks what would not fit."""
    await stage.ask({"messages": ASKED, "max_tokens": 60, "response_format": HELD})


async def next_token(stage: Stage) -> None:
    """The twenty likeliest tokens after the beginning of an answer."""
    told = {"role": "system", "content": READ_FILE}
    asked = {"role": "user", "content": "Show me the first 10 lines of notes.txt in the workspace."}
    begun = {"role": "assistant", "content": BEGUN}
    odds = {"logprobs": True, "top_logprobs": 20, "max_tokens": 1}
    await stage.ask({"messages": [told, asked, begun], **odds})


SCENARIOS: dict[str, Scenario] = {"free": free, "held": held, "next-token": next_token}
