"""The lab on Gemini's wire: results that find their calls. (chapter 5.3)"""

from __future__ import annotations

from typing import Any

from freya_teach.lab.exercises.answer import Answer
from freya_teach.lab.exercises.exercise import Exercise, Wrong, expect

Call = dict[str, Any]

CALLS: list[Call] = [
    {"id": "fc_1", "name": "get_current_weather", "args": {"city": "Oslo"}},
    {"id": "fc_2", "name": "calculate", "args": {"expression": "15 * 8"}},
    {"id": "fc_3", "name": "get_current_weather", "args": {"city": "Lima"}},
]
TEXTS = {"fc_1": "snow", "fc_2": "120", "fc_3": "cloudy"}


def matched_results(calls: list[Call], messages: list[dict[str, Any]]) -> dict[str, Any]:
    """One way to write it."""
    texts = {message["tool_call_id"]: message["content"] for message in messages}
    parts = []
    for call in calls:
        matched = {"id": call["id"], "name": call["name"]}
        matched["response"] = {"output": texts[call["id"]]}
        parts.append({"functionResponse": matched})
    return {"role": "user", "parts": parts}


async def check_matched_results(answer: Answer) -> None:
    """The results come in another order, and two calls are for the same tool."""
    messages = [
        {"role": "tool", "tool_call_id": call_id, "content": TEXTS[call_id]}
        for call_id in ("fc_3", "fc_2", "fc_1")
    ]
    content = await answer.call(CALLS, messages)
    expect(
        isinstance(content, dict) and content.get("role") == "user",
        "Gemini wants one content, a dict, and its role is user.",
        received=content,
    )
    parts = [part.get("functionResponse", {}) for part in content.get("parts", [])]
    expect(
        len(parts) == len(CALLS) and all(parts),
        "For each call there is one part, and it holds a `functionResponse`.",
        received=content.get("parts"),
    )
    for call, part in zip(CALLS, parts, strict=True):
        _check_part(call, part)


def _check_part(call: Call, part: dict[str, Any]) -> None:
    expect(
        part.get("name") == call["name"],
        "A part names the function that was called. The tool message does not know it; who does?",
        received=part,
    )
    expect(
        part.get("id") == call["id"],
        "The parts stand in the order of the calls, each with the id of its call.",
        received=part,
    )
    expect(
        part.get("response") == {"output": TEXTS[call["id"]]},
        "A part holds the text of the message with the same id, under `response` → `output`. The "
        "messages come in any order.",
        received=part,
    )


def not_matched(calls: list[Call], messages: list[dict[str, Any]]) -> None:
    """As it stands in the notebook."""
    return None  # your code


def in_the_order_of_the_messages(
    calls: list[Call], messages: list[dict[str, Any]]
) -> dict[str, Any]:
    """Takes it that the first message answers the first call."""
    parts = [
        {
            "functionResponse": {
                "id": call["id"],
                "name": call["name"],
                "response": {"output": message["content"]},
            }
        }
        for call, message in zip(calls, messages, strict=True)
    ]
    return {"role": "user", "parts": parts}


def by_name(calls: list[Call], messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Goes through the messages, and leaves their order as it is."""
    names = {call["id"]: call["name"] for call in calls}
    parts = [
        {
            "functionResponse": {
                "id": message["tool_call_id"],
                "name": names[message["tool_call_id"]],
                "response": {"output": message["content"]},
            }
        }
        for message in messages
    ]
    return {"role": "user", "parts": parts}


def without_a_name(calls: list[Call], messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Takes the name from where it is not."""
    parts = [
        {
            "functionResponse": {
                "id": message["tool_call_id"],
                "name": message.get("name", ""),
                "response": {"output": message["content"]},
            }
        }
        for message in messages
    ]
    return {"role": "user", "parts": parts}


def one_content_each(calls: list[Call], messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Makes a content of every result, as a history has a message for every result."""
    whole = matched_results(calls, messages)
    return [{"role": "user", "parts": [part]} for part in whole["parts"]]


EXERCISES = (
    Exercise(
        id="gemini_over_raw_http-a",
        title="Every result finds its call, whatever order it comes in.",
        name="matched_results",
        check=check_matched_results,
        hints=(
            "A tool message knows its `tool_call_id`, and nothing of a name. A call knows both.",
            (
                "Put the texts into a dict by `tool_call_id` first. Then go through the *calls*, "
                "and take each text from there."
            ),
        ),
        solution=matched_results,
        stub=not_matched,
        wrong=(
            Wrong(in_the_order_of_the_messages, earns="The messages come in any order"),
            Wrong(by_name, earns="The parts stand in the order of the calls"),
            Wrong(without_a_name, earns="The tool message does not know it; who does?"),
            Wrong(one_content_each, earns="Gemini wants one content"),
        ),
    ),
)
